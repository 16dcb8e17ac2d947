#pragma once

#include <span>

#include "sorus/core/tensor.h"
#include "sorus/dispatch/op_def.h"

/// Compositions of the ops of index_ops.h: they place, sum by segment, and count positions. None has a kernel
/// of its own, and all are differentiable where their parts are.
namespace sorus {

/// x with the slices that `indices` (rank 1) names on the axis replaced by one number.
[[nodiscard]] SORUS_API Tensor index_fill(const Tensor& x, int64_t axis, const Tensor& indices,
                                          const Tensor& value);
/// x with the elements where the mask is true replaced by the first elements of `source`, in order. The mask
/// broadcasts to x. Throws ValueError when the source has too few.
[[nodiscard]] SORUS_API Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source);
/// x with slice number `index` of the axis replaced by `source`.
[[nodiscard]] SORUS_API Tensor select_scatter(const Tensor& x, const Tensor& source, int64_t axis,
                                              int64_t index);
/// x with x[start:stop:step] of the axis replaced by `source`.
[[nodiscard]] SORUS_API Tensor slice_scatter(const Tensor& x, const Tensor& source, int64_t axis,
                                             int64_t start, int64_t stop, int64_t step = 1);
/// x with a diagonal replaced by `source`, of the shape that diagonal() gives.
[[nodiscard]] SORUS_API Tensor diagonal_scatter(const Tensor& x, const Tensor& source, int64_t offset = 0,
                                                int64_t axis1 = 0, int64_t axis2 = 1);

/// out[s, b...] = sum (product, largest, smallest) of x[i..., b...] over the i with segments[i...] == s <
/// count. Elements of negative segments are left out; numbers of count or more throw IndexError. Segments
/// without elements hold 0 (1, the least number, the greatest).
[[nodiscard]] SORUS_API Tensor unsorted_segment_sum(const Tensor& x, const Tensor& segments, int64_t count);
[[nodiscard]] SORUS_API Tensor unsorted_segment_prod(const Tensor& x, const Tensor& segments, int64_t count);
[[nodiscard]] SORUS_API Tensor unsorted_segment_max(const Tensor& x, const Tensor& segments, int64_t count);
[[nodiscard]] SORUS_API Tensor unsorted_segment_min(const Tensor& x, const Tensor& segments, int64_t count);

/// The first lengths[b] elements of `sequence_axis` reversed, for each b of the batch axis.
[[nodiscard]] SORUS_API Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, int64_t sequence_axis,
                                                int64_t batch_axis = 0);
/// out[i..., j] = j < lengths[i...], for `length` values of j.
[[nodiscard]] SORUS_API Tensor sequence_mask(const Tensor& lengths, int64_t length);
/// Per axis, the index of each row-major position in a tensor of that shape: positions.shape + (rank).
[[nodiscard]] SORUS_API Tensor unravel_index(const Tensor& positions, const Shape& shape);

}  // namespace sorus
