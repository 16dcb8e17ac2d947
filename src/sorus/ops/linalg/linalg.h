#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sorus/core/scalar.h"
#include "sorus/core/tensor.h"

/// Products of vectors, matrices and stacks of them. Operands are converted to their common dtype (bool has
/// no product). Sums of products accumulate in float32 for 16-bit floats; bits do not depend on strides.
namespace sorus {

/// Matrix product with NumPy's rules: vectors, batches and broadcasting of batch axes. Accumulates in float32
/// or wider. Throws ShapeError, DTypeError.
[[nodiscard]] SORUS_API Tensor matmul(const Tensor& a, const Tensor& b);
/// The same with `bias` (n,) added to every row before 16-bit floats are rounded; floating dtypes.
[[nodiscard]] SORUS_API Tensor matmul_bias(const Tensor& a, const Tensor& b, const Tensor& bias);

/// Sum of products of two vectors: a scalar.
[[nodiscard]] SORUS_API Tensor dot(const Tensor& a, const Tensor& b);
/// Matrix (m, n) times vector (n).
[[nodiscard]] SORUS_API Tensor mv(const Tensor& a, const Tensor& x);
/// Matrix (m, k) times matrix (k, n).
[[nodiscard]] SORUS_API Tensor mm(const Tensor& a, const Tensor& b);
/// (b, m, k) times (b, k, n), batch by batch.
[[nodiscard]] SORUS_API Tensor bmm(const Tensor& a, const Tensor& b);
/// out[i, j] = a[i] * b[j] of two vectors.
[[nodiscard]] SORUS_API Tensor outer(const Tensor& a, const Tensor& b);
/// Sum of products over the last axes of both: out[a..., b...] (NumPy's inner).
[[nodiscard]] SORUS_API Tensor inner(const Tensor& a, const Tensor& b);

/// beta * input + alpha * (a times b); the input broadcasts to the product.
[[nodiscard]] SORUS_API Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, Scalar beta = 1,
                                     Scalar alpha = 1);
[[nodiscard]] SORUS_API Tensor addmv(const Tensor& input, const Tensor& a, const Tensor& x, Scalar beta = 1,
                                     Scalar alpha = 1);
[[nodiscard]] SORUS_API Tensor addr(const Tensor& input, const Tensor& a, const Tensor& b, Scalar beta = 1,
                                    Scalar alpha = 1);
[[nodiscard]] SORUS_API Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, Scalar beta = 1,
                                       Scalar alpha = 1);
/// As baddbmm, the products summed over the batch.
[[nodiscard]] SORUS_API Tensor addbmm(const Tensor& input, const Tensor& a, const Tensor& b, Scalar beta = 1,
                                      Scalar alpha = 1);

/// Sum of products over the axes axes_a of a and axes_b of b, pairwise; the others stay, a's first.
[[nodiscard]] SORUS_API Tensor tensordot(const Tensor& a, const Tensor& b, const Ints& axes_a,
                                         const Ints& axes_b);
/// Over the last `count` axes of a and the first of b.
[[nodiscard]] SORUS_API Tensor tensordot(const Tensor& a, const Tensor& b, int64_t count);
/// Einstein's summation, "ij,jk->ik": letters name axes, ... the others (broadcast); a letter twice in one
/// operand means its diagonal, one that the result lacks is summed. Without -> the result has the letters
/// that occur once, in alphabetical order. Operands are contracted from left to right. Throws ValueError for
/// an equation that does not parse, ShapeError for extents that differ.
[[nodiscard]] SORUS_API Tensor einsum(std::string_view equation, std::span<const Tensor> operands);
/// Kronecker's product: blocks a[i...] * b. Ranks may differ; at most 4 each.
[[nodiscard]] SORUS_API Tensor kron(const Tensor& a, const Tensor& b);
/// Sum of the diagonal of axes 0 and 1.
[[nodiscard]] SORUS_API Tensor trace(const Tensor& x, int64_t offset = 0);
/// Norms of the matrices in two axes.
enum class MatrixNorm : uint8_t {
  kFrobenius,       ///< root of the sum of squares
  kLargestColumn,   ///< largest sum of magnitudes of a column (order 1)
  kSmallestColumn,  ///< order -1
  kLargestRow,      ///< order infinity
  kSmallestRow,     ///< order -infinity
  kSpectral,        ///< greatest singular value (order 2)
  kLeastSpectral,   ///< least singular value (order -2)
  kNuclear          ///< sum of the singular values
};
[[nodiscard]] SORUS_API Tensor matrix_norm(const Tensor& x, MatrixNorm kind = MatrixNorm::kFrobenius,
                                           int64_t row_axis = -2, int64_t column_axis = -1,
                                           bool keepdims = false);
/// Singular values (..., k), k = min(m, n), from the greatest down, and orthonormal columns, x = left
/// diag(values) right^T.
struct Svd {
  Tensor values, left, right;
};
/// Decomposition of matrices x (..., m, n): left (..., m, k) and right (..., n, k), or square ones
/// (`full_matrices`), of whose further columns there is no gradient. The element of the greatest size of each
/// column on the left is positive. Floating dtypes, computed in float64. Gradients of columns are taken as 0
/// between equal values and for values of 0, where the columns are not unique: right for functions that do
/// not depend on their choice. NaN where a matrix is not finite.
[[nodiscard]] SORUS_API Svd svd(const Tensor& x, bool full_matrices = false);
/// The values alone: (..., k).
[[nodiscard]] SORUS_API Tensor singular_values(const Tensor& x);
/// Pseudo-inverse (..., n, m). Singular values count as zero up to the greater of `absolute` and `relative`
/// times the greatest one; if neither is given, up to max(m, n) times the dtype's epsilon times that.
[[nodiscard]] SORUS_API Tensor pinv(const Tensor& x, std::optional<double> absolute = {},
                                    std::optional<double> relative = {});
/// a times itself, n >= 0 times; n = 0 gives the identity. a: (..., m, m).
[[nodiscard]] SORUS_API Tensor matrix_power(const Tensor& a, int64_t n);
/// Cross product of vectors of length 3 along an axis; the others broadcast.
[[nodiscard]] SORUS_API Tensor cross(const Tensor& a, const Tensor& b, int64_t axis = -1);

}  // namespace sorus
