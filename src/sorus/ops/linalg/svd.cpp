#include <algorithm>
#include <limits>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/elementwise/logic.h"
#include "sorus/ops/linalg/attributes.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/shape/shape_ops.h"

// Singular values and what follows from them.
namespace sorus {
namespace {

int64_t rows_of(const Shape& x) { return x.size(x.rank() - 2); }
int64_t columns_of(const Shape& x) { return x.size(x.rank() - 1); }

void check_matrices(const InferContext& c) {
  SORUS_CHECK(c.dtype(0) == DType::kFloat32 || c.dtype(0) == DType::kFloat64, DTypeError,
              "{}: dtype is not supported: got {}, need float32 or float64", c.name(), c.dtype(0));
  SORUS_CHECK(c.shape(0).rank() >= 2, ShapeError, "{}: not a matrix: got shape {}, need rank 2 or more",
              c.name(), c.shape(0));
}

TensorType with_last(const TensorType& x, int64_t rows, int64_t columns) {
  TensorType t = x;
  t.shape[x.shape.rank() - 2] = rows;
  t.shape[x.shape.rank() - 1] = columns;
  return t;
}

TensorType values_type(const TensorType& x) {
  Shape values;
  for (int i = 0; i < x.shape.rank() - 2; ++i) values.push_back(x.shape[i]);
  values.push_back(std::min(rows_of(x.shape), columns_of(x.shape)));
  return {x.dtype, x.device, values};
}

TypeList infer_svd(const InferContext& c) {
  check_matrices(c);
  const int64_t m = rows_of(c.shape(0));
  const int64_t n = columns_of(c.shape(0));
  const bool full = c.attrs<SvdAttrs>().full_matrices;
  const int64_t k = std::min(m, n);
  return {values_type(c.in(0)), with_last(c.in(0), m, full ? m : k), with_last(c.in(0), n, full ? n : k)};
}

TypeList infer_singular_values(const InferContext& c) {
  check_matrices(c);
  return {values_type(c.in(0))};
}

TypeList infer_pinv(const InferContext& c) {
  check_matrices(c);
  return {with_last(c.in(0), columns_of(c.shape(0)), rows_of(c.shape(0)))};
}

Tensor as_columns(const Tensor& s) { return expand_dims(s, -2); }
Tensor as_rows(const Tensor& s) { return expand_dims(s, -1); }
Tensor symmetric_sum(const Tensor& x) { return x + swap_last(x); }
/// 1 / x, and 0 where x is 0.
Tensor inverse_or_zero(const Tensor& x) {
  const Tensor zero = scalar_beside(0.0, x.dtype());
  const Tensor absent = equal(x, zero);
  return where(absent, zero, 1.0 / where(absent, scalar_beside(1.0, x.dtype()), x));
}
/// What of g lies outside the span of the orthonormal columns of q.
Tensor outside(const Tensor& q, const Tensor& g) { return g - matmul(q, matmul(swap_last(q), g)); }

/// The columns that belong to singular values, and their gradient, undefined when there is none.
struct Columns {
  Tensor vectors;
  Tensor gradient;
};
Columns vectors_of(VjpContext& c, size_t result, int64_t count) {
  const bool wider = columns_of(c.out_type(result).shape) > count;
  SORUS_CHECK(!c.grad(result).defined() || !wider, NotSupportedError,
              "svd: vectors beyond the singular values have no gradient: got a gradient for full matrices, "
              "need full_matrices = false");
  const Tensor& all = c.out(result);
  return {wider ? narrow(all, -1, 0, count) : all, c.grad(result)};
}

/// Townsend, "Differentiating the singular value decomposition", 2016.
void svd_vjp(VjpContext& c) {
  if (!c.needs(0)) return;
  const int64_t k = columns_of(c.out_type(0).shape);
  const Columns u = vectors_of(c, 1, k);
  const Columns v = vectors_of(c, 2, k);
  const Tensor vt = swap_last(v.vectors);
  Tensor middle = c.grad(0).defined() ? diag_embed(c.grad(0)) : Tensor();
  Tensor beside;
  auto more = [](Tensor& total, const Tensor& x) { total = total.defined() ? total + x : x; };
  if (u.gradient.defined() || v.gradient.defined()) {
    const Tensor& s = c.out(0);
    const Tensor f = inverse_or_zero((as_columns(s) - as_rows(s)) * (as_columns(s) + as_rows(s)));
    const Tensor inverse = inverse_or_zero(s);
    if (u.gradient.defined()) {
      more(middle, symmetric_sum(f * matmul(swap_last(u.vectors), u.gradient)) * as_columns(s));
      if (u.vectors.size(-2) > k)
        more(beside, matmul(outside(u.vectors, u.gradient) * as_columns(inverse), vt));
    }
    if (v.gradient.defined()) {
      more(middle, symmetric_sum(f * matmul(vt, v.gradient)) * as_rows(s));
      if (v.vectors.size(-2) > k)
        more(beside, matmul(u.vectors, swap_last(outside(v.vectors, v.gradient) * as_columns(inverse))));
    }
  }
  Tensor g = matmul(u.vectors, matmul(middle, vt));
  if (beside.defined()) more(g, beside);
  c.set(0, g);
}

void singular_values_vjp(VjpContext& c) {
  if (!c.needs(0)) return;
  const Svd r = svd(c.in(0));
  c.set(0, matmul(r.left * as_columns(c.grad()), swap_last(r.right)));
}

/// Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems", 1973.
void pinv_vjp(VjpContext& c) {
  if (!c.needs(0)) return;
  const Tensor& a = c.in(0);
  const Tensor& p = c.out();
  const Tensor g = swap_last(c.grad());
  const Tensor pt = swap_last(p);
  const Tensor lost_rows = g - matmul(a, matmul(p, g));     // (I - A P) g
  const Tensor lost_columns = g - matmul(matmul(g, p), a);  // g (I - P A)
  Tensor total = matmul(lost_rows, matmul(p, pt)) + matmul(matmul(pt, p), lost_columns);
  c.set(0, total - matmul(pt, matmul(c.grad(), pt)));
}

Cost decomposition_cost(const InferContext& c) {
  const Shape& x = c.shape(0);
  const auto n = static_cast<double>(x.numel());
  return {.flops = 20 * n * static_cast<double>(std::min(rows_of(x), columns_of(x))),
          .bytes = 3 * n * static_cast<double>(dtype_size(c.dtype(0)))};
}

const OpDef svd_op{
    .name = "svd",
    .doc =
        "Singular value decomposition of matrices (..., m, n): values from the greatest down, U and V with "
        "x = U diag(values) V^T; the greatest element of each column of U is positive. float32 and float64; "
        "NaN where x is not finite. Between equal values, and for a value of 0, the gradient of the vectors "
        "is taken as 0: right for functions that do not depend on their choice. "
        "Source of the gradient: Townsend 2016.",
    .inputs = {{"x"}},
    .attrs = attrs_def<SvdAttrs>(),
    .infer = infer_svd,
    .vjp = svd_vjp,
    .saves_out = saves({0, 1, 2}),
    .cost = decomposition_cost};
const OpDef singular_values_op{
    .name = "singular_values",
    .doc = "Singular values of matrices (..., m, n), the greatest first. float32 and float64.",
    .inputs = {{"x"}},
    .infer = infer_singular_values,
    .vjp = singular_values_vjp,
    .saves_in = saves({0}),
    .cost = decomposition_cost};
const OpDef pinv_op{
    .name = "pinv",
    .doc =
        "Pseudo-inverses (..., n, m) of matrices (..., m, n); small singular values count as zero. float32 "
        "and float64. Source of the gradient: Golub and Pereyra 1973.",
    .inputs = {{"x"}},
    .attrs = attrs_def<PinvAttrs>(),
    .infer = infer_pinv,
    .vjp = pinv_vjp,
    .saves_in = saves({0}),
    .saves_out = saves({0}),
    .cost = decomposition_cost};
const OpRegistrar registered[] = {OpRegistrar(svd_op), OpRegistrar(singular_values_op), OpRegistrar(pinv_op)};

/// 16-bit floats go through float32 and are rounded once.
Tensor widened(const Tensor& x) { return dtype_size(x.dtype()) == 2 ? cast(x, DType::kFloat32) : x; }

}  // namespace

Svd svd(const Tensor& x, bool full_matrices) {
  const Tensor wide = is_floating(x.dtype()) ? widened(x) : x;
  TensorList r = apply_all(svd_op, {&wide}, SvdAttrs{full_matrices});
  return {cast(r[0], x.dtype()), cast(r[1], x.dtype()), cast(r[2], x.dtype())};
}

Tensor singular_values(const Tensor& x) {
  const Tensor wide = is_floating(x.dtype()) ? widened(x) : x;
  return cast(apply(singular_values_op, {&wide}), x.dtype());
}

Tensor pinv(const Tensor& x, std::optional<double> absolute, std::optional<double> relative) {
  SORUS_CHECK(absolute.value_or(0) >= 0 && relative.value_or(0) >= 0, ValueError,
              "pinv: tolerance is negative: got absolute {}, relative {}, need 0 or more",
              absolute.value_or(0), relative.value_or(0));
  const Tensor wide = is_floating(x.dtype()) ? widened(x) : x;
  if (!relative && !absolute && x.rank() >= 2) {
    const double epsilon = x.dtype() == DType::kFloat64 ? std::numeric_limits<double>::epsilon()
                                                        : std::numeric_limits<float>::epsilon();
    relative = epsilon * static_cast<double>(std::max(x.size(-2), x.size(-1)));
  }
  return cast(apply(pinv_op, {&wide}, PinvAttrs{absolute.value_or(0), relative.value_or(0)}), x.dtype());
}

}  // namespace sorus
