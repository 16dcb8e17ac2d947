#include "sorus/compiler/reference_kernels.h"
#include "sorus/core/tensor.h"
#include "sorus/dispatch/apply.h"
#include "sorus/engine/engine.h"

/// The engine "cpu_reference": the plain kernels alone, call by call, for finding out whose mistake it is.
namespace sorus {
namespace {

constexpr double kSlower = 20;  // than the kernels of the host, about

/// A value over bytes that belong to the caller.
Tensor borrow(const Array& a) {
  Ref<Value> v = Value::make({a.dtype, {}, *a.shape});
  v->strides = a.strides;
  v->storage = Storage::external(a.data, static_cast<size_t>(a.numel()) * dtype_size(a.dtype), {}, nullptr,
                                 [](void*) {});
  return Tensor(std::move(v));
}

class ReferenceProgram final : public EngineProgram {
 public:
  explicit ReferenceProgram(std::shared_ptr<const Graph> part)
      : part_(std::move(part)), last_use_(part_->value_count(), 0) {
    for (size_t i = 0; i < part_->nodes.size(); ++i)
      for (ValueId v : part_->nodes[i].in)
        if (v != kNoValue) last_use_[static_cast<size_t>(v)] = i;
    for (ValueId v : part_->outputs) last_use_[static_cast<size_t>(v)] = part_->nodes.size();
  }

  void run(std::span<const Array> in, std::span<const Array> out) override {
    const ReferenceKernels scope(true);
    std::vector<Tensor> values(part_->value_count());
    for (size_t v = 0; v < values.size(); ++v) values[v] = part_->constant(static_cast<ValueId>(v));
    for (size_t i = 0; i < in.size(); ++i) values[static_cast<size_t>(part_->inputs[i])] = borrow(in[i]);
    for (size_t i = 0; i < part_->nodes.size(); ++i) compute(i, values);
    for (size_t i = 0; i < out.size(); ++i) {
      const Value& v = *values[static_cast<size_t>(part_->outputs[i])].value();
      copy_strided(v.bytes(), v.strides, out[i].data, out[i].strides, *out[i].shape,
                   dtype_size(out[i].dtype));
    }
  }

 private:
  void compute(size_t i, std::vector<Tensor>& values) const {
    const Node& n = part_->nodes[i];
    SmallVector<const Tensor*, 8> operands;
    for (ValueId v : n.in) operands.push_back(v == kNoValue ? nullptr : &values[static_cast<size_t>(v)]);
    TypeList types;
    for (ValueId v : n.out) types.push_back(part_->type(v));
    TensorList made;
    execute(*n.op, operands, n.attrs.ref(), types, made);
    for (ValueId v : n.in)
      if (v != kNoValue && last_use_[static_cast<size_t>(v)] == i) values[static_cast<size_t>(v)] = Tensor();
    for (size_t k = 0; k < made.size(); ++k) values[static_cast<size_t>(n.out[k])] = std::move(made[k]);
  }

  std::shared_ptr<const Graph> part_;
  std::vector<size_t> last_use_;  ///< by value: the node after which nobody reads it
};

class ReferenceEngine final : public Engine {
 public:
  ReferenceEngine()
      : Engine({.name = std::string(kReferenceEngine),
                .revision = "1",
                .numerics = std::string(kReferenceEngine)}) {}
  /// Every op has a reference kernel.
  [[nodiscard]] std::optional<double> cost(const Graph& graph, const Node& call) const override {
    return kSlower * host_cost(graph, call);
  }
  [[nodiscard]] std::unique_ptr<EngineProgram> compile(std::shared_ptr<const Graph> part) override {
    return std::make_unique<ReferenceProgram>(std::move(part));
  }
};

const EngineRegistrar registered{std::make_shared<ReferenceEngine>()};

}  // namespace
}  // namespace sorus
