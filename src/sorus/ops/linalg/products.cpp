#include <algorithm>

#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

/// Products with fixed ranks, and those that reduce to a matmul.
namespace sorus {
namespace {

void check_ranks(std::string_view op, const Tensor& a, int rank_a, const Tensor& b, int rank_b) {
  SORUS_CHECK(a.rank() == rank_a && b.rank() == rank_b, ShapeError,
              "{}: wrong ranks: got shapes {} and {}, need ranks {} and {}", op, a.shape(), b.shape(), rank_a,
              rank_b);
}

void check_extents(std::string_view op, const Tensor& a, int64_t axis_a, const Tensor& b, int64_t axis_b) {
  SORUS_CHECK(
      a.size(axis_a) == b.size(axis_b), ShapeError,
      "{}: extents differ: got shapes {} and {}, need axis {} of the first equal to axis {} of the second",
      op, a.shape(), b.shape(), normalize_axis(op, axis_a, a.rank()), normalize_axis(op, axis_b, b.rank()));
}

bool is_one(Scalar s) { return s.kind() != Scalar::Kind::kFloat ? s.as_int() == 1 : s.as_double() == 1; }

/// beta * input + alpha * product; a factor of 1 changes no bit and is left out.
Tensor combine(const Tensor& input, const Tensor& product, Scalar beta, Scalar alpha) {
  return add(is_one(beta) ? input : input * beta, is_one(alpha) ? product : product * alpha);
}

/// x with the listed axes moved behind (or before) all others, each group folded into one axis.
struct Folded {
  Tensor matrix;
  Ints kept;  ///< extents of the other axes
};
Folded fold(const Tensor& x, const Ints& axes, bool behind) {
  Ints order;
  Folded f;
  int64_t rows = 1;
  int64_t summed = 1;
  auto others = [&] {
    for (int i = 0; i < x.rank(); ++i) {
      if (std::find(axes.begin(), axes.end(), i) != axes.end()) continue;
      order.push_back(i);
      f.kept.push_back(x.size(i));
      rows *= x.size(i);
    }
  };
  if (behind) others();
  for (int64_t axis : axes) {
    order.push_back(axis);
    summed *= x.size(axis);
  }
  if (!behind) others();
  f.matrix = reshape(transpose(x, order), behind ? Ints{rows, summed} : Ints{summed, rows});
  return f;
}

}  // namespace

Tensor dot(const Tensor& a, const Tensor& b) {
  check_ranks("dot", a, 1, b, 1);
  check_extents("dot", a, 0, b, 0);
  return matmul(a, b);
}

Tensor mv(const Tensor& a, const Tensor& x) {
  check_ranks("mv", a, 2, x, 1);
  check_extents("mv", a, 1, x, 0);
  return matmul(a, x);
}

Tensor mm(const Tensor& a, const Tensor& b) {
  check_ranks("mm", a, 2, b, 2);
  check_extents("mm", a, 1, b, 0);
  return matmul(a, b);
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  check_ranks("bmm", a, 3, b, 3);
  check_extents("bmm", a, 0, b, 0);
  check_extents("bmm", a, 2, b, 1);
  return matmul(a, b);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  check_ranks("outer", a, 1, b, 1);
  return mul(expand_dims(a, 1), expand_dims(b, 0));
}

Tensor inner(const Tensor& a, const Tensor& b) {
  const ToldAs told("inner");
  if (a.rank() == 0 || b.rank() == 0) return mul(a, b);
  return tensordot(a, b, Ints{a.rank() - 1}, Ints{b.rank() - 1});
}

Tensor addmm(const Tensor& input, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  const ToldAs told("addmm");
  check_ranks("addmm", a, 2, b, 2);
  check_extents("addmm", a, 1, b, 0);
  return combine(input, matmul(a, b), beta, alpha);
}

Tensor addmv(const Tensor& input, const Tensor& a, const Tensor& x, Scalar beta, Scalar alpha) {
  const ToldAs told("addmv");
  check_ranks("addmv", a, 2, x, 1);
  check_extents("addmv", a, 1, x, 0);
  return combine(input, matmul(a, x), beta, alpha);
}

Tensor addr(const Tensor& input, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  const ToldAs told("addr");
  check_ranks("addr", a, 1, b, 1);
  return combine(input, outer(a, b), beta, alpha);
}

Tensor baddbmm(const Tensor& input, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  check_ranks("baddbmm", a, 3, b, 3);
  check_extents("baddbmm", a, 0, b, 0);
  check_extents("baddbmm", a, 2, b, 1);
  return combine(input, matmul(a, b), beta, alpha);
}

Tensor addbmm(const Tensor& input, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  check_ranks("addbmm", a, 3, b, 3);
  check_extents("addbmm", a, 0, b, 0);
  check_extents("addbmm", a, 2, b, 1);
  // The sum over the batch is one long inner product.
  return combine(input, tensordot(a, b, {0, 2}, {0, 1}), beta, alpha);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Ints& axes_a, const Ints& axes_b) {
  const ToldAs told("tensordot");
  SORUS_CHECK(axes_a.size() == axes_b.size(), ValueError,
              "tensordot: numbers of axes differ: got {} and {}, need as many of both", axes_a, axes_b);
  Ints left;
  Ints right;
  for (int i = 0; i < axes_a.size(); ++i) {
    check_extents("tensordot", a, axes_a[i], b, axes_b[i]);
    left.push_back(normalize_axis("tensordot", axes_a[i], a.rank()));
    right.push_back(normalize_axis("tensordot", axes_b[i], b.rank()));
  }
  if (!left.empty()) {
    (void)normalize_axes("tensordot", left, a.rank());
    (void)normalize_axes("tensordot", right, b.rank());
  }
  Folded x = fold(a, left, true);
  Folded y = fold(b, right, false);
  Ints shape = x.kept;
  for (int64_t extent : y.kept) shape.push_back(extent);
  return reshape(matmul(x.matrix, y.matrix), shape);
}

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t count) {
  const ToldAs told("tensordot");
  SORUS_CHECK(count >= 0 && count <= a.rank() && count <= b.rank(), ValueError,
              "tensordot: number of axes does not fit: got {} for shapes {} and {}, need 0 to {}", count,
              a.shape(), b.shape(), std::min(a.rank(), b.rank()));
  Ints left;
  Ints right;
  for (int64_t i = 0; i < count; ++i) {
    left.push_back(a.rank() - count + i);
    right.push_back(i);
  }
  return tensordot(a, b, left, right);
}

Tensor kron(const Tensor& a, const Tensor& b) {
  int rank = std::max(a.rank(), b.rank());
  SORUS_CHECK(2 * rank <= kMaxRank, ShapeError,
              "kron: too many dimensions: got shapes {} and {}, need at most {}", a.shape(), b.shape(),
              kMaxRank / 2);
  Ints left;
  Ints right;
  Ints shape;
  for (int i = 0; i < rank; ++i) {
    int64_t m = i < rank - a.rank() ? 1 : a.size(i - rank + a.rank());
    int64_t n = i < rank - b.rank() ? 1 : b.size(i - rank + b.rank());
    for (int64_t extent : {m, int64_t{1}}) left.push_back(extent);
    for (int64_t extent : {int64_t{1}, n}) right.push_back(extent);
    shape.push_back(m * n);
  }
  return reshape(mul(reshape(a, left), reshape(b, right)), shape);
}

Tensor trace(const Tensor& x, int64_t offset) {
  SORUS_CHECK(x.rank() >= 2, ShapeError, "trace: too few dimensions: got shape {}, need rank 2 or more",
              x.shape());
  return sum(diagonal(x, offset), {-1});
}

Tensor matrix_norm(const Tensor& x, MatrixNorm kind, int64_t row_axis, int64_t column_axis, bool keepdims) {
  int row = normalize_axis("matrix_norm", row_axis, x.rank());
  int column = normalize_axis("matrix_norm", column_axis, x.rank());
  SORUS_CHECK(row != column, ValueError, "matrix_norm: the axes are the same: got {} twice, need two axes",
              row);
  if (kind == MatrixNorm::kFrobenius) return norm(x, 2, {row, column}, keepdims);
  if (kind == MatrixNorm::kSpectral || kind == MatrixNorm::kLeastSpectral || kind == MatrixNorm::kNuclear) {
    Tensor values = singular_values(movedim(x, {row, column}, {-2, -1}));
    Tensor out = kind == MatrixNorm::kSpectral        ? amax(values, {-1})
                 : kind == MatrixNorm::kLeastSpectral ? amin(values, {-1})
                                                      : sum(values, {-1});
    return keepdims ? expand_dims(out, {row, column}) : out;
  }
  bool columns = kind == MatrixNorm::kLargestColumn || kind == MatrixNorm::kSmallestColumn;
  bool largest = kind == MatrixNorm::kLargestColumn || kind == MatrixNorm::kLargestRow;
  Tensor sums = sum(abs(x), {columns ? row : column}, true);
  Ints other{columns ? column : row};
  Tensor out = largest ? amax(sums, other, true) : amin(sums, other, true);
  return keepdims ? out : squeeze(out, {row, column});
}

Tensor matrix_power(const Tensor& a, int64_t n) {
  const ToldAs told("matrix_power");
  SORUS_CHECK(n >= 0, ValueError, "matrix_power: exponent is negative: got {}, need 0 or more", n);
  SORUS_CHECK(a.rank() >= 2 && a.size(-1) == a.size(-2), ShapeError,
              "matrix_power: matrix is not square: got shape {}, need equal last extents", a.shape());
  if (n == 0) return broadcast_to(eye(a.size(-1), a.size(-1), a.dtype()), a.shape());
  Tensor square = a;
  Tensor result;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = result.defined() ? matmul(result, square) : square;
    if (n > 1) square = matmul(square, square);
  }
  return result;
}

Tensor cross(const Tensor& a, const Tensor& b, int64_t axis) {
  Shape shape = broadcast_shapes("cross", a.shape(), b.shape());
  int at = normalize_axis("cross", axis, shape.rank());
  SORUS_CHECK(shape.size(at) == 3, ShapeError,
              "cross: vectors are not of length 3: got {} on axis {} of shape {}, need 3", shape.size(at), at,
              shape);
  Tensor x = broadcast_to(a, shape);
  Tensor y = broadcast_to(b, shape);
  // x[i + 1] * y[i + 2] - x[i + 2] * y[i + 1], indices modulo 3.
  return sub(mul(roll(x, {-1}, {at}), roll(y, {-2}, {at})), mul(roll(x, {-2}, {at}), roll(y, {-1}, {at})));
}

}  // namespace sorus
