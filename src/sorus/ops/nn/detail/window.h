#pragma once

#include <string_view>

#include "sorus/core/dtype.h"
#include "sorus/core/shape.h"

/// Geometry that convolution and pooling share. Throws ValueError or ShapeError in the name of `op`.
namespace sorus::detail {

/// `list` with one number for each of n axes: itself, its only number repeated, or `fallback` when empty.
/// Every number must be at least `least`.
[[nodiscard]] Ints per_axis(std::string_view op, std::string_view what, const Ints& list, int n,
                            int64_t fallback, int64_t least);
/// Paddings as (low, high) of each of n axes, from one number, one per axis, or two per axis.
[[nodiscard]] Ints low_high(std::string_view op, const Ints& padding, int n);
/// Sum and product of extents. Throw ValueError where 64 bits do not hold them.
[[nodiscard]] int64_t checked_sum(std::string_view op, int64_t a, int64_t b);
[[nodiscard]] int64_t checked_product(std::string_view op, int64_t a, int64_t b);
/// From the first to the last place of a window: dilation * (kernel - 1) + 1.
[[nodiscard]] int64_t window_span(std::string_view op, int64_t kernel, int64_t dilation);
/// Number of windows along an axis: floor((in + low + high - dilation * (kernel - 1) - 1) / stride) + 1.
/// Throws ShapeError when a window is longer than the padded axis.
[[nodiscard]] Dim window_count(std::string_view op, Dim in, int64_t low, int64_t high, int64_t kernel,
                               int64_t stride, int64_t dilation, int axis);
/// Throws ValueError unless there is a stride and dilation of at least 1 and two paddings for each of n axes.
void need_window_attributes(std::string_view op, const Ints& stride, const Ints& dilation,
                            const Ints& padding, int n);
/// Throws DTypeError unless the dtype is a floating one.
void need_floating(std::string_view op, std::string_view what, DType dtype);
/// Throws DTypeError unless both are the same.
void need_same_dtype(std::string_view op, std::string_view what, DType got, DType need);

}  // namespace sorus::detail
