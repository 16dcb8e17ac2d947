#pragma once

#include <span>

#include "sorus/core/tensor.h"
#include "sorus/dispatch/op_def.h"

/// Compositions of the ops of shape_ops.h, named and behaving as in NumPy: none has a kernel of its own, and
/// all are differentiable where their parts are.
namespace sorus {

/// `x` with axes of extent 1 added until it has 1, 2 or 3: (n) becomes (1, n) and (1, n, 1); (m, n) becomes
/// (m, n, 1).
[[nodiscard]] SORUS_API Tensor atleast_1d(const Tensor& x);
[[nodiscard]] SORUS_API Tensor atleast_2d(const Tensor& x);
[[nodiscard]] SORUS_API Tensor atleast_3d(const Tensor& x);

/// Side by side: along axis 1, or axis 0 for vectors.
[[nodiscard]] SORUS_API Tensor hstack(std::span<const Tensor> tensors);
/// On top of each other: along axis 0, vectors being rows.
[[nodiscard]] SORUS_API Tensor vstack(std::span<const Tensor> tensors);
/// Behind each other: along axis 2.
[[nodiscard]] SORUS_API Tensor dstack(std::span<const Tensor> tensors);
/// Along axis 1, vectors being columns.
[[nodiscard]] SORUS_API Tensor column_stack(std::span<const Tensor> tensors);
/// Matrices along the diagonal of a larger one, zeros elsewhere; vectors are rows.
[[nodiscard]] SORUS_API Tensor block_diag(std::span<const Tensor> tensors);

/// `sections` pieces whose extents differ by at most one, the larger first; more pieces than elements give
/// empty ones. Throws ValueError unless 0 < sections <= max(extent, 65536).
[[nodiscard]] SORUS_API TensorList tensor_split(const Tensor& x, int64_t sections, int64_t axis = 0);
/// Pieces that end at the given positions, and the rest; positions behave as bounds of a Python slice.
[[nodiscard]] SORUS_API TensorList tensor_split_at(const Tensor& x, std::span<const int64_t> positions,
                                                   int64_t axis = 0);

/// Turned `times` quarters in the plane of two axes, from the first towards the second.
[[nodiscard]] SORUS_API Tensor rot90(const Tensor& x, int64_t times = 1, int64_t axis0 = 0,
                                     int64_t axis1 = 1);
/// Windows of `size` elements, `step` apart, along an axis: the axis counts windows, a new last axis their
/// elements. Throws ValueError unless 0 < size <= extent and step > 0.
[[nodiscard]] SORUS_API Tensor unfold_axis(const Tensor& x, int64_t axis, int64_t size, int64_t step);

/// Row and column numbers, (2, count), of the elements of a lower (upper) triangle, row-major.
[[nodiscard]] SORUS_API Tensor tril_indices(int64_t rows, int64_t columns, int64_t diagonal = 0,
                                            DType dtype = DType::kInt64);
[[nodiscard]] SORUS_API Tensor triu_indices(int64_t rows, int64_t columns, int64_t diagonal = 0,
                                            DType dtype = DType::kInt64);
/// All choices of one element of each vector: (product of their lengths, number of vectors).
[[nodiscard]] SORUS_API Tensor cartesian_prod(std::span<const Tensor> vectors);
/// All choices of `count` elements of a vector, in order of position: (choices, count).
[[nodiscard]] SORUS_API Tensor combinations(const Tensor& vector, int64_t count = 2,
                                            bool replacement = false);

}  // namespace sorus
