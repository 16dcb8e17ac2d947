#pragma once

#include "sorus/dispatch/op_def.h"

/// What the definitions of reductions share.
namespace sorus::reduce {

/// The shape of x reduced over `axes` (normalized by op's name; empty means all).
[[nodiscard]] Shape reduced_shape(std::string_view op, const Shape& x, const Ints& axes, bool keepdims);

/// `y`, reduced over `axes` of x, with those axes put back with extent 1, and broadcast to x's shape.
[[nodiscard]] Tensor expand_reduced(std::string_view op, const Tensor& y, const Shape& x, const Ints& axes);

/// One operation for each element read.
[[nodiscard]] Cost reduce_cost(const InferContext& c);

}  // namespace sorus::reduce
