#pragma once

#include "sorus/core/tensor.h"

/// Reductions. No axes given means all. Sums run as a tree over logical indices that depends on the shape
/// alone, so their bits depend neither on strides nor on threads; 16-bit floats accumulate in float32.
namespace sorus {

[[nodiscard]] SORUS_API Tensor sum(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
[[nodiscard]] SORUS_API Tensor mean(const Tensor& x, const Ints& axes = {}, bool keepdims = false);
/// Sums `x` over the axes along which `shape` was broadcast to x.shape: the gradient of broadcasting. Returns
/// `x` itself when the shapes are equal.
[[nodiscard]] SORUS_API Tensor sum_to(const Tensor& x, const Shape& shape);

}  // namespace sorus
