#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>

#include "sorus/core/tensor.h"
#include "sorus/dispatch/apply.h"
#include "sorus/engine/choice.h"
#include "sorus/engine/engine.h"

namespace sorus::testing {

/// An engine of the tests. With memory of its own its values lie apart and scrambled, so that a value that
/// came or went without passing a border gives other bits.
class TestEngine : public Engine {
 public:
  struct Options {
    EngineFacts facts = {.name = "test", .revision = "1", .numerics = "cpu", .own_memory = true};
    double ns = 1;                                              ///< of each call
    std::function<bool(const Graph&, const Node&)> takes = {};  ///< empty: everything
    std::function<void()> on_compile = {}, on_run = {};         ///< to fail, or to look
    std::vector<EnginePass> passes = {};
  };
  explicit TestEngine(Options options) : Engine(options.facts), options_(std::move(options)) {}
  [[nodiscard]] std::optional<double> cost(const Graph& graph, const Node& call) const override;
  [[nodiscard]] std::vector<EnginePass> passes() const override { return options_.passes; }
  [[nodiscard]] std::unique_ptr<EngineProgram> compile(std::shared_ptr<const Graph> part) override;

  std::atomic<int> compiled{0}, runs{0};

 private:
  friend class TestProgram;
  Options options_;
};

/// An engine that is known while this lives.
class Registered {
 public:
  explicit Registered(TestEngine::Options options = {})
      : engine_(std::make_shared<TestEngine>(std::move(options))) {
    register_engine(engine_);
  }
  ~Registered() { remove_engine(engine_->name()); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  TestEngine* operator->() const { return engine_.get(); }
  [[nodiscard]] const std::shared_ptr<TestEngine>& get() const { return engine_; }

 private:
  std::shared_ptr<TestEngine> engine_;
};

inline constexpr std::byte kScramble{0x5a};

inline Tensor tensor_over(const std::byte* data, const TensorType& type) {
  Ref<Value> v = make_dense(type);
  std::copy_n(data, v->storage->bytes(), v->storage->data());
  return Tensor(std::move(v));
}

inline std::vector<std::byte> scrambled(std::vector<std::byte> bytes) {
  for (std::byte& b : bytes) b ^= kScramble;
  return bytes;
}

/// All bytes of a tensor, row-major.
[[nodiscard]] inline std::vector<std::byte> bits_of(const Tensor& t) {
  std::vector<std::byte> bytes(static_cast<size_t>(t.numel()) * dtype_size(t.dtype()));
  t.copy_to(bytes.data(), t.dtype());
  return bytes;
}

/// Computes call by call. What it holds of each value are scrambled bytes where memory is its own.
class TestProgram final : public EngineProgram {
 public:
  TestProgram(TestEngine& engine, std::shared_ptr<const Graph> part)
      : engine_(engine), part_(std::move(part)) {}

  void run(std::span<const Array> in, std::span<const Array> out) override {
    ++engine_.runs;
    if (engine_.options_.on_run) engine_.options_.on_run();
    std::map<ValueId, std::vector<std::byte>> held;
    for (size_t i = 0; i < in.size(); ++i) {
      SORUS_INTERNAL(is_contiguous(*in[i].shape, in[i].strides), "an operand is not row-major");
      const size_t bytes = static_cast<size_t>(in[i].numel()) * dtype_size(in[i].dtype);
      held[part_->inputs[i]].assign(in[i].data, in[i].data + bytes);
    }
    for (size_t v = 0; v < part_->value_count(); ++v)
      if (part_->is_constant(static_cast<ValueId>(v)))
        held[static_cast<ValueId>(v)] = mine(bits_of(part_->constant(static_cast<ValueId>(v))));
    for (const Node& n : part_->nodes) compute(n, held);
    for (size_t i = 0; i < out.size(); ++i)
      std::copy(held.at(part_->outputs[i]).begin(), held.at(part_->outputs[i]).end(), out[i].data);
  }

 private:
  [[nodiscard]] std::vector<std::byte> mine(std::vector<std::byte> bytes) const {
    return engine_.facts().own_memory ? scrambled(std::move(bytes)) : bytes;
  }
  void compute(const Node& n, std::map<ValueId, std::vector<std::byte>>& held) const {
    if (n.op == &to_engine_op() || n.op == &from_engine_op()) {
      held[n.out[0]] = scrambled(held.at(n.in[0]));
      return;
    }
    TensorList operands;
    for (ValueId v : n.in)
      operands.push_back(v == kNoValue ? Tensor() : tensor_over(mine(held.at(v)).data(), part_->type(v)));
    SmallVector<const Tensor*, 8> pointers;
    for (const Tensor& t : operands) pointers.push_back(t.defined() ? &t : nullptr);
    TypeList types;
    for (ValueId v : n.out) types.push_back(part_->type(v));
    TensorList made;
    execute(*n.op, pointers, n.attrs.ref(), types, made);
    for (size_t k = 0; k < made.size(); ++k) held[n.out[k]] = mine(bits_of(made[k]));
  }

  TestEngine& engine_;
  std::shared_ptr<const Graph> part_;
};

inline std::optional<double> TestEngine::cost(const Graph& graph, const Node& call) const {
  if (options_.takes && !options_.takes(graph, call)) return std::nullopt;
  return options_.ns;
}

inline std::unique_ptr<EngineProgram> TestEngine::compile(std::shared_ptr<const Graph> part) {
  ++compiled;
  if (options_.on_compile) options_.on_compile();
  return std::make_unique<TestProgram>(*this, std::move(part));
}

/// A rule for TestEngine::Options::takes.
[[nodiscard]] inline std::function<bool(const Graph&, const Node&)> only(std::vector<std::string> ops) {
  return [ops = std::move(ops)](const Graph&, const Node& n) {
    return std::find(ops.begin(), ops.end(), n.op->name) != ops.end();
  };
}

/// Parts of a graph by engine name: "test: add, mul; cpu_reference: tanh".
[[nodiscard]] inline std::string parts_of(const Graph& graph) {
  std::string text;
  for (const Node& n : graph.nodes) {
    if (!n.body || n.body->engine.empty()) continue;
    std::string calls;
    for (const Node& inner : n.body->nodes)
      calls += (calls.empty() ? "" : ", ") + std::string(inner.op->name);
    text += (text.empty() ? "" : "; ") + n.body->engine + ": " + calls;
  }
  return text;
}

}  // namespace sorus::testing
