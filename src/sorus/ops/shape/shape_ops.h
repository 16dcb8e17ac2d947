#pragma once

#include <optional>
#include <span>

#include "sorus/core/tensor.h"
#include "sorus/dispatch/op_def.h"

/// Ops that move elements and compute none. Those whose result can share the operand's bytes are free views.
namespace sorus {

/// Same elements, row-major, in another shape; one extent may be -1 and is found from the rest. A view when
/// the strides allow it. Throws ShapeError when the element counts differ.
[[nodiscard]] SORUS_API Tensor reshape(const Tensor& x, const Ints& shape);
/// Axes in the given order: out.shape[i] = x.shape[axes[i]]. A view.
[[nodiscard]] SORUS_API Tensor transpose(const Tensor& x, const Ints& axes);
/// The last two axes swapped. A view.
[[nodiscard]] SORUS_API Tensor swap_last(const Tensor& x);
/// Axes `axis0` and `axis1` exchanged. A view.
[[nodiscard]] SORUS_API Tensor swapaxes(const Tensor& x, int64_t axis0, int64_t axis1);
/// Axis from[i] becomes axis to[i]; the others keep their order. A view.
[[nodiscard]] SORUS_API Tensor movedim(const Tensor& x, const Ints& from, const Ints& to);
/// Repeated along axes of extent 1 and along new leading axes. A view. Throws ShapeError when an extent is
/// neither equal nor 1.
[[nodiscard]] SORUS_API Tensor broadcast_to(const Tensor& x, const Shape& shape);
/// A new axis of extent 1 that is axis `axis` of the result. A view.
[[nodiscard]] SORUS_API Tensor expand_dims(const Tensor& x, int64_t axis);
[[nodiscard]] SORUS_API Tensor expand_dims(const Tensor& x, const Ints& axes);
/// Removes axes of extent 1; no axes given: all of them.
[[nodiscard]] SORUS_API Tensor squeeze(const Tensor& x, const Ints& axes = {});
/// Axes start_axis to end_axis folded into one; a scalar becomes (1,). A view when the strides allow it.
[[nodiscard]] SORUS_API Tensor flatten(const Tensor& x, int64_t start_axis = 0, int64_t end_axis = -1);
/// Row-major copy, or `x` itself when it is row-major already.
[[nodiscard]] SORUS_API Tensor contiguous(const Tensor& x);

/// Tensors one after the other along an axis, converted to their common dtype. Throws ShapeError unless the
/// other extents are equal, ValueError without tensors.
[[nodiscard]] SORUS_API Tensor concat(std::span<const Tensor> tensors, int64_t axis);
/// Tensors of one shape along a new axis.
[[nodiscard]] SORUS_API Tensor stack(std::span<const Tensor> tensors, int64_t axis = 0);
/// Pieces of extent `piece` along an axis, the last one maybe shorter. An empty axis gives one empty piece.
[[nodiscard]] SORUS_API TensorList split(const Tensor& x, int64_t piece, int64_t axis = 0);
/// Pieces of the given extents. Throws ShapeError unless they add up to the axis.
[[nodiscard]] SORUS_API TensorList split_sizes(const Tensor& x, std::span<const int64_t> sizes,
                                               int64_t axis = 0);
/// At most `chunks` pieces of equal extent, rounded up.
[[nodiscard]] SORUS_API TensorList chunk(const Tensor& x, int64_t chunks, int64_t axis = 0);
/// The x[i] along an axis, without it.
[[nodiscard]] SORUS_API TensorList unstack(const Tensor& x, int64_t axis = 0);

/// An axis' part of a slice: element i is element begin + i * step.
struct SliceRange {
  int64_t begin;
  int64_t size;
  int64_t step;
};
/// Python's start:stop:step for an axis: negative positions count from the end, all are clamped. Throws
/// ValueError for step 0.
[[nodiscard]] SORUS_API SliceRange resolve_slice(std::optional<int64_t> start, std::optional<int64_t> stop,
                                                 int64_t step, int64_t extent);
/// Per axis, `size` elements from `begin` on in steps that may be negative. A view. Throws ValueError when
/// one lies outside.
[[nodiscard]] SORUS_API Tensor slice(const Tensor& x, const Ints& begins, const Ints& sizes,
                                     const Ints& steps);
/// Python's x[start:stop:step] on the axes given (the leading ones if none). A view.
[[nodiscard]] SORUS_API Tensor strided_slice(const Tensor& x, const Ints& starts, const Ints& stops,
                                             const Ints& steps = {}, const Ints& axes = {});
/// `length` elements of an axis from `start` (which may be negative) on. A view. Throws IndexError.
[[nodiscard]] SORUS_API Tensor narrow(const Tensor& x, int64_t axis, int64_t start, int64_t length);
/// x but for the slice with these begins and steps and the shape of `value`, which holds `value` (same
/// dtype).
[[nodiscard]] SORUS_API Tensor slice_update(const Tensor& x, const Tensor& value, const Ints& begins,
                                            const Ints& steps);
/// Reverse order along the axes; none given: all. A view.
[[nodiscard]] SORUS_API Tensor flip(const Tensor& x, const Ints& axes);
/// Elements moved by shifts[i] along axes[i], those that leave entering at the other end; without axes the
/// flattened tensor is moved.
[[nodiscard]] SORUS_API Tensor roll(const Tensor& x, const Ints& shifts, const Ints& axes = {});

/// The whole tensor repeated times[i] along axis i; more times than axes add leading axes, fewer mean the
/// last axes.
[[nodiscard]] SORUS_API Tensor tile(const Tensor& x, const Ints& times);
/// Each element repeated along an axis, the same number of times or each its own.
[[nodiscard]] SORUS_API Tensor repeat_interleave(const Tensor& x, int64_t repeats, int64_t axis);
[[nodiscard]] SORUS_API Tensor repeat_interleave(const Tensor& x, std::span<const int64_t> repeats,
                                                 int64_t axis);

/// What a border continues: a number, the mirror image without or with the edge, the edge, or the other end.
enum class PadMode : uint8_t { kConstant, kReflect, kSymmetric, kReplicate, kCircular };
/// `before[i]` elements added before and `after[i]` after axis i; a negative width removes elements.
[[nodiscard]] SORUS_API Tensor pad(const Tensor& x, const Ints& before, const Ints& after, double value = 0);
/// The same in any mode. Throws ShapeError when a border is wider than the mode allows (extent - 1 for
/// reflect, extent for symmetric and circular).
[[nodiscard]] SORUS_API Tensor pad(const Tensor& x, const Ints& before, const Ints& after, PadMode mode,
                                   double value = 0);

/// The elements x[i, i + offset] of two axes as the last axis. A view.
[[nodiscard]] SORUS_API Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t axis1 = 0,
                                        int64_t axis2 = 1);
/// Zeros with the last axis of `x` on the diagonal of two new axes.
[[nodiscard]] SORUS_API Tensor diag_embed(const Tensor& x, int64_t offset = 0, int64_t axis1 = -2,
                                          int64_t axis2 = -1);
/// Rank 1: the square matrix with that diagonal; rank 2: the diagonal.
[[nodiscard]] SORUS_API Tensor diag(const Tensor& x, int64_t offset = 0);
/// Matrices with zeros above (tril) or below (triu) the diagonal of that number. x: (..., m, n).
[[nodiscard]] SORUS_API Tensor tril(const Tensor& x, int64_t diagonal = 0);
[[nodiscard]] SORUS_API Tensor triu(const Tensor& x, int64_t diagonal = 0);
/// The coordinates of a grid: tensor i varies along axis i (matrix indexing), or the first two exchanged.
[[nodiscard]] SORUS_API TensorList meshgrid(std::span<const Tensor> tensors, bool matrix_indexing = true);

/// A tensor of that type filled with one number.
[[nodiscard]] SORUS_API Tensor full(const TensorType& type, double value);
/// Zeros of that type: one element, seen everywhere. Costs no memory.
[[nodiscard]] SORUS_API Tensor zeros_view(const TensorType& type);
/// start, start + step, ... up to but without stop. Throws ValueError for step 0.
[[nodiscard]] SORUS_API Tensor arange(double start, double stop, double step, DType dtype = DType::kInt64);
/// `count` numbers from start to stop, evenly; without `endpoint` stop would be the next one. start and stop
/// broadcast, and the result has the new axis 0. Computed in float64, where the last number is stop itself,
/// and rounded once. Throws ValueError for a negative count, DTypeError unless the dtype is floating or an
/// integer.
[[nodiscard]] SORUS_API Tensor linspace(const Tensor& start, const Tensor& stop, int64_t count,
                                        DType dtype = DType::kFloat32, bool endpoint = true);
/// base to the power linspace(start, stop, count).
[[nodiscard]] SORUS_API Tensor logspace(const Tensor& start, const Tensor& stop, int64_t count,
                                        double base = 10, DType dtype = DType::kFloat32,
                                        bool endpoint = true);
/// Ones on the main diagonal.
[[nodiscard]] SORUS_API Tensor eye(int64_t rows, int64_t columns, DType dtype);

}  // namespace sorus
