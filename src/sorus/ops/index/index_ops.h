#pragma once

#include <optional>
#include <span>
#include <variant>

#include "sorus/core/scalar.h"
#include "sorus/core/tensor.h"
#include "sorus/dispatch/op_def.h"
#include "sorus/ops/index/attributes.h"

/// Ops that pick and place elements by index tensors. Indices are int32 or int64 (other integers are
/// converted); negative ones count from the end; one out of range throws IndexError naming op, axis, index
/// and extent. Duplicate indices are taken in row-major order of the indices, whatever the thread count, so
/// sums have equal bits; 16-bit floats are summed in float32.
namespace sorus {

// ---- gathering

/// out[a..., i..., b...] = x[a..., indices[i...], b...]: the axis is replaced by the axes of `indices`. An
/// embedding lookup is axis 0. With batch_dims the leading axes of x and `indices` are the same ones and run
/// together.
[[nodiscard]] SORUS_API Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis,
                                      int64_t batch_dims = 0);
/// gather from the flattened tensor, or along an axis.
[[nodiscard]] SORUS_API Tensor take(const Tensor& x, const Tensor& indices, std::optional<int64_t> axis = {});
/// gather with indices of rank 0 or 1 (torch.index_select).
[[nodiscard]] SORUS_API Tensor index_select(const Tensor& x, int64_t axis, const Tensor& indices);
/// out[.., i, ..] = x[.., indices[.., i, ..], ..] on one axis; indices has x's rank and no larger extents on
/// the other axes (torch.gather).
[[nodiscard]] SORUS_API Tensor gather_elements(const Tensor& x, const Tensor& indices, int64_t axis);
/// out[i..., b...] = x[indices[i..., :], b...]: the last axis of `indices` indexes the leading axes of x.
[[nodiscard]] SORUS_API Tensor gather_nd(const Tensor& x, const Tensor& indices);

// ---- scattering: results are new tensors

/// x with updates[.., i, ..] taken into element indices[.., i, ..] of the axis (torch.scatter).
[[nodiscard]] SORUS_API Tensor scatter_elements(const Tensor& x, const Tensor& indices, const Tensor& updates,
                                                int64_t axis, ScatterMode mode = ScatterMode::kUpdate);
/// x with updates[i..., b...] taken into x[indices[i..., :], b...] (tensor_scatter_update, _add, _max, ...).
[[nodiscard]] SORUS_API Tensor tensor_scatter(const Tensor& x, const Tensor& indices, const Tensor& updates,
                                              ScatterMode mode = ScatterMode::kUpdate);
/// Zeros of `shape` with the updates added.
[[nodiscard]] SORUS_API Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape);
/// x with updates[i..., b...] taken into x[indices[i...], b...]: indices of axis 0.
[[nodiscard]] SORUS_API Tensor scatter(const Tensor& x, const Tensor& indices, const Tensor& updates,
                                       ScatterMode mode);
/// x with the slices of `source` added to those that `indices` (rank 1) names on the axis.
[[nodiscard]] SORUS_API Tensor index_add(const Tensor& x, int64_t axis, const Tensor& indices,
                                         const Tensor& source);
/// x with `value` where the mask is true; the mask broadcasts to x.
[[nodiscard]] SORUS_API Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value);

// ---- results whose shape depends on values: their count is read, which ends a recorded segment

/// Indices of the elements that are not zero, row-major: int64 (count, rank).
[[nodiscard]] SORUS_API Tensor nonzero(const Tensor& x);
/// The same, one tensor per axis; a scalar counts as (1,).
[[nodiscard]] SORUS_API TensorList nonzero_tuple(const Tensor& x);
/// The elements where the mask is true, flat; mask and x broadcast to each other.
[[nodiscard]] SORUS_API Tensor masked_select(const Tensor& x, const Tensor& mask);

/// What unique() finds. Several NaN count as one; they sort last.
struct UniqueResult {
  Tensor values;   ///< in the order asked for
  Tensor inverse;  ///< int64, x's shape: the place in values
  Tensor counts;   ///< int64: how often each occurs
};
[[nodiscard]] SORUS_API UniqueResult unique(const Tensor& x, UniqueOrder order = UniqueOrder::kSorted);
/// How often each number of a rank-1 integer tensor occurs, from 0 to the largest, at least `minimum_length`
/// of them; with weights (same shape), their sums. Throws ValueError for a negative number.
[[nodiscard]] SORUS_API Tensor bincount(const Tensor& x, const Tensor& weights = {},
                                        int64_t minimum_length = 0);

// ---- others

/// `on` where the new axis' position is the index, `off` elsewhere (and for indices outside 0 to depth - 1).
[[nodiscard]] SORUS_API Tensor one_hot(const Tensor& indices, int64_t depth, const Tensor& on,
                                       const Tensor& off, int64_t axis = -1);
/// Place at which each value would go into the sorted last axis: int64. `sorted` is rank 1, or of the shape
/// of `values` but on the last axis.
[[nodiscard]] SORUS_API Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false);

// ---- indexing as NumPy does

struct SliceItem {
  std::optional<int64_t> start;
  std::optional<int64_t> stop;
  std::optional<int64_t> step;
};
struct EllipsisItem {};
struct NewAxisItem {};
/// One item between the brackets: an integer, a slice, ..., a new axis, an integer tensor or a mask.
using IndexItem = std::variant<int64_t, SliceItem, EllipsisItem, NewAxisItem, Tensor>;
using IndexSpan = std::span<const IndexItem>;

/// x[items] with NumPy's rules: integer tensors broadcast to each other, a mask stands for its nonzero
/// indices, and the axes of the index tensors come where they stood when all stood together (integers
/// counting as such), else first. Without tensors a view. Throws IndexError for too many items, an index out
/// of range or a mask that does not fit.
[[nodiscard]] SORUS_API Tensor index(const Tensor& x, IndexSpan items);
/// x with x[items] replaced by `value`, which is converted to x's dtype and broadcast.
[[nodiscard]] SORUS_API Tensor index_update(const Tensor& x, IndexSpan items, const Tensor& value);
/// x with the elements that the index tensors name replaced by `values`, or those added (torch.index_put).
[[nodiscard]] SORUS_API Tensor index_put(const Tensor& x, std::span<const Tensor> indices,
                                         const Tensor& values, bool accumulate = false);

}  // namespace sorus
