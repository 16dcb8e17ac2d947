#pragma once

#include <string_view>
#include <utility>

#include "sorus/core/scalar.h"
#include "sorus/dispatch/apply.h"

/// What the definitions of elementwise ops share: inference over a class of dtypes, promotion of operands,
/// cost. Pure; any thread.
namespace sorus::elementwise {

/// The dtypes that an op takes.
enum class Domain : uint8_t { kAny, kNumber, kFloating, kInteger, kIntegerOrBool, kBool };
/// The dtype that it gives: that of its first operand, or bool.
enum class Result : uint8_t { kSame, kBool };

/// Broadcasts all operands. Throws DTypeError when dtypes differ or lie outside the domain, ShapeError when
/// shapes do not broadcast.
[[nodiscard]] TypeList infer_broadcast(const InferContext& c, Domain domain, Result result);

template <Domain kDomain, Result kResult = Result::kSame>
TypeList infer(const InferContext& c) {
  return infer_broadcast(c, kDomain, kResult);
}

/// One operation an element, every operand read once. Inference must have passed.
[[nodiscard]] Cost elementwise_cost(const InferContext& c);

/// An op of one floating operand whose gradient reads what `saved_in` and `saved_out` say.
[[nodiscard]] OpDef floating_function(std::string_view name, std::string_view doc, void (*vjp)(VjpContext&),
                                      SaveMask saved_in, SaveMask saved_out = kSaveNone);
inline constexpr SaveMask kFirst = 1;  ///< the first operand or result

/// An op of one floating operand with numbers as attributes.
template <class A>
[[nodiscard]] OpDef floating_function(std::string_view name, std::string_view doc, void (*vjp)(VjpContext&),
                                      SaveMask saved_in, SaveMask saved_out = kSaveNone) {
  static_assert(sizeof(A) % sizeof(double) == 0 && std::is_standard_layout_v<A>, "kernels read doubles");
  OpDef plain = floating_function(name, doc, vjp, saved_in, saved_out);
  return {.name = plain.name,
          .doc = plain.doc,
          .inputs = plain.inputs,
          .attrs = attrs_def<A>(),
          .infer = plain.infer,
          .vjp = plain.vjp,
          .saves_in = plain.saves_in,
          .saves_out = plain.saves_out,
          .cost = plain.cost,
          .traits = plain.traits};
}

/// An op of two operands that reads both for its gradient.
[[nodiscard]] OpDef binary_function(std::string_view name, std::string_view doc,
                                    TypeList (*infer)(const InferContext&), void (*vjp)(VjpContext&),
                                    SaveMask saved_in, SaveMask saved_out = kSaveNone);

/// The same op as a helper of another op's gradient.
[[nodiscard]] OpDef backward(OpDef op);

/// Names of the operands of ops with one, two or three of them.
[[nodiscard]] std::vector<InputSpec> unary_inputs();
[[nodiscard]] std::vector<InputSpec> binary_inputs();

/// `x` itself if floating, else its cast to float32.
[[nodiscard]] Tensor as_floating(const Tensor& x);
/// Both operands in their common dtype.
[[nodiscard]] std::pair<Tensor, Tensor> promoted(const Tensor& a, const Tensor& b);

/// Applies a unary op after as_floating.
[[nodiscard]] Tensor apply_floating(const OpDef& op, const Tensor& x, AttrsRef attrs = NoAttrs{});
/// Applies a binary op after promotion.
[[nodiscard]] Tensor apply_promoted(const OpDef& op, const Tensor& a, const Tensor& b);
/// Applies a binary op after promotion to a floating dtype: integers and bools become float32.
[[nodiscard]] Tensor apply_floating(const OpDef& op, const Tensor& a, const Tensor& b);
/// The same with three operands.
[[nodiscard]] Tensor apply_floating(const OpDef& op, const Tensor& a, const Tensor& b, const Tensor& c,
                                    AttrsRef attrs = NoAttrs{});

/// `gradient` where the mask holds, 0 elsewhere.
[[nodiscard]] Tensor masked(const Tensor& mask, const Tensor& gradient);
/// Zeros of the type of operand i.
void set_zeros(VjpContext& c, size_t i);

/// Sets the gradient of operand i, summed over the axes along which the operand was broadcast.
void set_summed(VjpContext& c, size_t i, const Tensor& gradient);

/// A zero of the dtype, rank 0.
[[nodiscard]] Tensor zero_of(DType dtype);

}  // namespace sorus::elementwise
