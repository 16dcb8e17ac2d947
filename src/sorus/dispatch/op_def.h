#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "sorus/core/tensor.h"
#include "sorus/dispatch/attributes.h"

namespace sorus {

struct OpDef;
struct KernelCall;
using TypeList = SmallVector<TensorType, 2>;  ///< of operands or results
using TensorList = SmallVector<Tensor, 4>;    ///< what functions of several tensors take and give
/// Operands of a call, borrowed from the caller: pointers, so that a call copies no reference. Null stands
/// for an absent optional operand.
using OperandSpan = std::span<const Tensor* const>;
using TensorFunction = std::function<TensorList(const TensorList&)>;  ///< what graph mode compiles

/// What inference sees: the types of the operands (absent optional operands have none) and the attributes. It
/// must not look at values, so that it says the same in every mode.
class InferContext {
 public:
  InferContext(const OpDef& op, std::span<const TensorType* const> in, const void* attrs)
      : op_(op), in_(in), attrs_(attrs) {}
  [[nodiscard]] const OpDef& op() const { return op_; }
  [[nodiscard]] std::string_view name() const;
  [[nodiscard]] size_t count() const { return in_.size(); }
  [[nodiscard]] bool has(size_t i) const { return i < in_.size() && in_[i]; }
  [[nodiscard]] const TensorType& in(size_t i) const { return *in_[i]; }
  [[nodiscard]] const Shape& shape(size_t i) const { return in_[i]->shape; }
  [[nodiscard]] DType dtype(size_t i) const { return in_[i]->dtype; }
  template <class A>
  [[nodiscard]] const A& attrs() const {
    return *static_cast<const A*>(attrs_);
  }

 private:
  const OpDef& op_;
  std::span<const TensorType* const> in_;
  const void* attrs_;
};

/// What a gradient rule sees and gives. Rules are written with public ops, so that they record, compile and
/// can be differentiated again. The gradient of an operand is set only when needs(i); it must have
/// in_type(i).
class SORUS_API VjpContext {
 public:
  virtual ~VjpContext() = default;
  /// Gradient of output i, undefined when nothing flowed back through it.
  [[nodiscard]] virtual const Tensor& grad(size_t i = 0) const = 0;
  /// Operand or output, only those that the op says it saves.
  [[nodiscard]] virtual const Tensor& in(size_t i) const = 0;
  [[nodiscard]] virtual const Tensor& out(size_t i = 0) const = 0;
  [[nodiscard]] virtual const TensorType& in_type(size_t i) const = 0;
  [[nodiscard]] virtual const TensorType& out_type(size_t i = 0) const = 0;
  [[nodiscard]] virtual size_t input_count() const = 0;
  [[nodiscard]] virtual size_t output_count() const = 0;
  [[nodiscard]] virtual bool has(size_t i) const = 0;  ///< false for an absent optional operand
  [[nodiscard]] virtual bool needs(size_t i) const = 0;
  virtual void set(size_t i, Tensor gradient) = 0;
  [[nodiscard]] virtual AttrsRef attrs_ref() const = 0;
  template <class A>
  [[nodiscard]] const A& attrs() const {
    return *static_cast<const A*>(attrs_ref().data);
  }
};

/// A result that shares its operand's bytes.
struct View {
  Strides strides;
  int64_t offset = 0;
};
/// The places of all results in the operand's bytes; none when a copy is needed.
using Views = SmallVector<View, 1>;

/// Work of one call, for planning and for reports.
struct Cost {
  double flops = 0;
  double bytes = 0;
};

/// Which operands or outputs the gradient rule reads, as bits; the tape holds nothing else.
using SaveMask = uint32_t;
inline constexpr SaveMask kSaveNone = 0;
inline constexpr SaveMask kSaveAll = ~SaveMask{0};
constexpr SaveMask saves(std::initializer_list<int> indices) {
  SaveMask m = 0;
  for (int i : indices) m |= SaveMask{1} << i;
  return m;
}

/// How one operand may be given.
enum class InputKind : uint8_t { kTensor, kOptional, kList };
struct InputSpec {
  std::string_view name;
  InputKind kind = InputKind::kTensor;  ///< kList: all remaining operands; must be the last
};

struct Traits {
  bool elementwise = false;    ///< out[i] depends on the operands at i alone (after broadcasting)
  bool differentiable = true;  ///< false: no gradient exists, as for comparisons; vjp is absent then
  bool dynamic_attrs = false;  ///< attributes decide neither type nor structure: they may be run-time slots
  bool ordered = false;        ///< has effects: never removed, merged or reordered
  bool backward = false;       ///< exists only for another op's gradient
};

/// Everything there is to know about one op but its kernels. Immutable; lives for the whole process.
struct OpDef {
  std::string_view name;
  std::string_view doc;  ///< first sentence, shapes, dtypes, errors, source
  std::vector<InputSpec> inputs = {};
  const AttrsDef& attrs = attrs_def<NoAttrs>();
  TypeList (*infer)(const InferContext&) = nullptr;
  void (*vjp)(VjpContext&) = nullptr;
  SaveMask saves_in = kSaveNone;
  SaveMask saves_out = kSaveNone;
  /// For results that can share the first operand's bytes: their places.
  Views (*view)(const InferContext&, const Strides& strides, int64_t offset) = nullptr;
  Cost (*cost)(const InferContext&) = nullptr;
  /// What the values of a call must satisfy beyond their types: an index its range, say. Throws otherwise.
  /// The dispatcher calls it after inference and before the call is run, recorded or followed, so that the
  /// error comes at the call in every mode; programs that run without their host code call it before the
  /// kernel, which relies on it. Only operands of `check_reads` have bytes then, with any strides. Anything
  /// else about a kernel that can fail is a failure of ours.
  void (*check_values)(const KernelCall& call) = nullptr;
  SaveMask check_reads = kSaveNone;
  /// The same call as other calls: of control flow those of its bodies, one by one. apply() makes these where
  /// the tape wants a gradient through it, or where a call inside checks values (`checks_inside`) in a
  /// boundary that is followed: its error comes between the updates before and after it, in every mode.
  TensorList (*by_steps)(OperandSpan in, AttrsRef attrs) = nullptr;
  bool (*checks_inside)(AttrsRef attrs) = nullptr;
  Traits traits = {};
};

inline std::string_view InferContext::name() const { return op_.name; }

/// Registers an op while the library loads: `static const OpRegistrar registered{softmax_op};` beside its
/// definition.
class SORUS_API OpRegistrar {
 public:
  explicit OpRegistrar(const OpDef& op);
};

/// The op of that name, null when there is none.
[[nodiscard]] SORUS_API const OpDef* find_op(std::string_view name);
/// All ops by name.
[[nodiscard]] SORUS_API std::vector<const OpDef*> all_ops();

}  // namespace sorus
