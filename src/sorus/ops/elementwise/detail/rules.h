#pragma once

#include <string_view>
#include <utility>

#include "sorus/core/scalar.h"
#include "sorus/dispatch/op_def.h"

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

/// Names of the operands of ops with one, two or three of them.
[[nodiscard]] std::vector<InputSpec> unary_inputs();
[[nodiscard]] std::vector<InputSpec> binary_inputs();

/// `x` itself if floating, else its cast to float32.
[[nodiscard]] Tensor as_floating(const Tensor& x);
/// Both operands in their common dtype.
[[nodiscard]] std::pair<Tensor, Tensor> promoted(const Tensor& a, const Tensor& b);

/// Applies a unary op after as_floating.
[[nodiscard]] Tensor apply_floating(const OpDef& op, const Tensor& x);
/// Applies a binary op after promotion.
[[nodiscard]] Tensor apply_promoted(const OpDef& op, const Tensor& a, const Tensor& b);

/// Sets the gradient of operand i, summed over the axes along which the operand was broadcast.
void set_summed(VjpContext& c, size_t i, const Tensor& gradient);

/// A zero of the dtype, rank 0.
[[nodiscard]] Tensor zero_of(DType dtype);

}  // namespace sorus::elementwise
