#pragma once

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
[[nodiscard]] SORUS_API Tensor concat(std::span<const Tensor> tensors, int64_t axis);
/// Row-major copy, or `x` itself when it is row-major already.
[[nodiscard]] SORUS_API Tensor contiguous(const Tensor& x);

/// A tensor of that type filled with one number.
[[nodiscard]] SORUS_API Tensor full(const TensorType& type, double value);

}  // namespace sorus
