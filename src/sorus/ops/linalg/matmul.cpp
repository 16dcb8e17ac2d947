#include <algorithm>

#include "sorus/core/promotion.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

/// The batch axes of a stack of matrices.
Shape batch_of(const Shape& s) { return Shape(s.dims().first(static_cast<size_t>(s.rank() - 2))); }

TypeList infer_matmul(const InferContext& c) {
  const Shape& a = c.shape(0);
  const Shape& b = c.shape(1);
  SORUS_CHECK(c.dtype(0) == c.dtype(1), DTypeError,
              "matmul: element types differ: got {} and {}, need equal ones", c.dtype(0), c.dtype(1));
  SORUS_CHECK(c.dtype(0) != DType::kBool, DTypeError,
              "matmul: element type has no product: got {}, need a number", c.dtype(0));
  SORUS_CHECK(a.rank() >= 2 && b.rank() >= 2, ShapeError,
              "matmul: too few dimensions: got shapes {} and {}, need rank 2 or more", a, b);
  SORUS_CHECK(
      a[a.rank() - 1] == b[b.rank() - 2], ShapeError,
      "matmul: inner extents differ: got shapes {} and {}, need the last of the first equal to the last "
      "but one of the second",
      a, b);
  Shape out = broadcast_shapes("matmul", batch_of(a), batch_of(b));
  out.push_back(a[a.rank() - 2]);
  out.push_back(b[b.rank() - 1]);
  return {{c.dtype(0), c.in(0).device, out}};
}

void vjp_matmul(VjpContext& c) {
  if (c.needs(0)) c.set(0, sum_to(matmul(c.grad(), swap_last(c.in(1))), c.in_type(0).shape));
  if (!c.needs(1)) return;
  const Shape& b = c.in_type(1).shape;
  if (b.rank() > 2) return c.set(1, sum_to(matmul(swap_last(c.in(0)), c.grad()), b));
  // One matrix is most often the weight of a linear layer turned round: its gradient then lies as it does.
  c.set(1, swap_last(sum_to(matmul(swap_last(c.grad()), c.in(0)), {b[1], b[0]})));
}

Cost cost_matmul(const InferContext& c) {
  const Shape& a = c.shape(0);
  const Shape& b = c.shape(1);
  double m = static_cast<double>(a.size(a.rank() - 2));
  double k = static_cast<double>(a.size(a.rank() - 1));
  double n = static_cast<double>(b.size(b.rank() - 1));
  double batch = static_cast<double>(broadcast_shapes("matmul", batch_of(a), batch_of(b)).numel());
  auto size = static_cast<double>(dtype_size(c.dtype(0)));
  return {.flops = 2 * batch * m * n * k,
          .bytes = size * (static_cast<double>(a.numel() + b.numel()) + batch * m * n)};
}

const OpDef matmul_op{
    .name = "matmul",
    .doc =
        "Product of stacks of matrices: out[..., i, j] = sum over p of a[..., i, p] * b[..., p, j]. a: (..., "
        "m, k), "
        "b: (..., k, n) of one number type; batch axes broadcast. Sums are in float32 for 16-bit floats. "
        "Throws ShapeError, DTypeError.",
    .inputs = {{"a"}, {"b"}},
    .infer = infer_matmul,
    .vjp = vjp_matmul,
    .saves_in = kSaveAll,
    .cost = cost_matmul};

TypeList infer_matmul_bias(const InferContext& c) {
  TypeList out = infer_matmul(c);
  SORUS_CHECK(is_floating(c.dtype(0)) && c.dtype(2) == c.dtype(0), DTypeError,
              "matmul_bias: bias does not fit: got {} beside {}, need one floating type", c.dtype(2),
              c.dtype(0));
  const Shape& b = c.shape(1);
  const Shape columns{b[b.rank() - 1]};
  SORUS_CHECK(c.shape(2) == columns, ShapeError, "matmul_bias: bias does not fit: got shape {}, need {}",
              c.shape(2), columns);
  return out;
}

void vjp_matmul_bias(VjpContext& c) {
  vjp_matmul(c);
  if (c.needs(2)) c.set(2, sum_to(c.grad(), c.in_type(2).shape));
}

const OpDef matmul_bias_op{
    .name = "matmul_bias",
    .doc =
        "matmul with bias (n,) added to every row before the one rounding of 16-bit floats. a, b and bias of "
        "one floating type. Throws ShapeError, DTypeError.",
    .inputs = {{"a"}, {"b"}, {"bias"}},
    .infer = infer_matmul_bias,
    .vjp = vjp_matmul_bias,
    .saves_in = saves({0, 1}),
    .cost = cost_matmul};
const OpRegistrar registered[] = {OpRegistrar(matmul_op), OpRegistrar(matmul_bias_op)};

Tensor multiply(const Tensor& x, const Tensor& y, const Tensor* bias) {
  return bias ? apply(matmul_bias_op, {&x, &y, bias}) : apply(matmul_op, {&x, &y});
}

/// True when the rows of a stack of matrices can be folded: one extent at most is not known yet.
bool may_fold(const Shape& x) {
  auto dims = x.dims().first(static_cast<size_t>(x.rank() - 1));
  return std::count_if(dims.begin(), dims.end(), [](Dim d) { return d.is_symbol(); }) <= 1;
}

/// (..., m, k) times (k, n) as one product of (rows, k), which has one gradient with respect to the matrix.
/// `bias` may be null.
Tensor multiply_folded(const Tensor& x, const Tensor& y, const Tensor* bias) {
  Ints shape;
  int64_t rows = 1;
  for (Dim d : x.shape().dims().first(static_cast<size_t>(x.rank() - 1))) {
    shape.push_back(d.is_symbol() ? -1 : d.value());
    rows = d.is_symbol() || rows == -1 ? -1 : rows * d.value();
  }
  shape.push_back(y.size(1));
  Tensor flat = reshape(x, {rows, x.size(-1)});
  return reshape(multiply(flat, y, bias), shape);
}

Tensor matmul_of(const Tensor& a, const Tensor& b, const Tensor* bias) {
  SORUS_CHECK(a.rank() > 0 && b.rank() > 0, ShapeError,
              "matmul: an operand is a scalar: got shapes {} and {}, need rank 1 or more", a.shape(),
              b.shape());
  DType dtype = promote(a.dtype(), b.dtype());
  Tensor x = cast(a.rank() == 1 ? expand_dims(a, 0) : a, dtype);
  Tensor y = cast(b.rank() == 1 ? expand_dims(b, 1) : b, dtype);
  Tensor out;
  bool inner_agree = x.shape()[x.rank() - 1] == y.shape()[y.rank() - 2];
  if (x.rank() > 2 && y.rank() == 2 && inner_agree && y.shape().is_concrete() && may_fold(x.shape())) {
    out = multiply_folded(x, y, bias);
  } else {
    out = multiply(x, y, bias);
  }
  Ints dropped;
  if (a.rank() == 1) dropped.push_back(-2);
  if (b.rank() == 1) dropped.push_back(-1);
  return dropped.empty() ? out : squeeze(out, dropped);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) { return matmul_of(a, b, nullptr); }
Tensor matmul_bias(const Tensor& a, const Tensor& b, const Tensor& bias) { return matmul_of(a, b, &bias); }

}  // namespace sorus
