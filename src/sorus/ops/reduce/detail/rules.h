#pragma once

#include "sorus/dispatch/op_def.h"

/// What the definitions of reductions share.
namespace sorus::reduce {

/// The shape of x reduced over `axes` (normalized by op's name; empty means all).
[[nodiscard]] Shape reduced_shape(std::string_view op, const Shape& x, const Ints& axes, bool keepdims);

/// `y`, reduced over `axes` of x, with those axes put back with extent 1.
[[nodiscard]] Tensor keep_reduced(std::string_view op, const Tensor& y, const Shape& x, const Ints& axes);
/// The same, broadcast to x's shape.
[[nodiscard]] Tensor expand_reduced(std::string_view op, const Tensor& y, const Shape& x, const Ints& axes);

/// Number of elements that go into one result.
[[nodiscard]] int64_t reduced_count(std::string_view op, const Shape& x, const Ints& axes);

/// Inference of a reduction that keeps the dtype, which is no bool.
[[nodiscard]] TypeList infer_reduce(const InferContext& c);

/// One operation for each element read.
[[nodiscard]] Cost reduce_cost(const InferContext& c);

/// Bools as int64, the rest as it is.
[[nodiscard]] Tensor as_number(const Tensor& x);

}  // namespace sorus::reduce
