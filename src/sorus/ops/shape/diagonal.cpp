#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/attributes.h"
#include "sorus/ops/shape/shape_ops.h"

/// Diagonals and triangles of matrices.
namespace sorus {
namespace {

/// The shape of a diagonal: the other axes in order, then its length.
Shape diagonal_shape(const Shape& x, const DiagonalAttrs& a) {
  for (int64_t axis : {a.axis1, a.axis2})
    SORUS_CHECK(axis >= 0 && axis < x.rank(), ValueError,
                "diagonal: axis is out of range: got {} for shape {}, need 0 to {}", axis, x, x.rank() - 1);
  SORUS_CHECK(a.axis1 != a.axis2, ValueError, "diagonal: the axes are the same: got {} twice, need two axes",
              a.axis1);
  Shape out;
  for (int i = 0; i < x.rank(); ++i)
    if (i != a.axis1 && i != a.axis2) out.push_back(x[i]);
  int64_t rows = x.size(static_cast<int>(a.axis1)) + std::min<int64_t>(a.offset, 0);
  int64_t columns = x.size(static_cast<int>(a.axis2)) - std::max<int64_t>(a.offset, 0);
  out.push_back(std::max<int64_t>(std::min(rows, columns), 0));
  return out;
}

TypeList infer_diagonal(const InferContext& c) {
  return {{c.dtype(0), c.in(0).device, diagonal_shape(c.shape(0), c.attrs<DiagonalAttrs>())}};
}

Views view_diagonal(const InferContext& c, const Strides& strides, int64_t offset) {
  const auto& a = c.attrs<DiagonalAttrs>();
  View v = diagonal_view(strides, c.shape(0).rank(), a);
  v.offset = diagonal_shape(c.shape(0), a).numel() == 0 ? offset : v.offset + offset;
  return {v};
}

Tensor diagonal_backward(const Tensor& grad, const DiagonalAttrs& a, const Ints& shape);

void vjp_diagonal(VjpContext& c) {
  if (c.needs(0)) c.set(0, diagonal_backward(c.grad(), c.attrs<DiagonalAttrs>(), c.in_type(0).shape.sizes()));
}

TypeList infer_diagonal_backward(const InferContext& c) {
  const auto& a = c.attrs<DiagonalBackwardAttrs>();
  Shape out(a.shape);
  Shape need = diagonal_shape(out, {a.offset, a.axis1, a.axis2});
  SORUS_CHECK(need == c.shape(0), ShapeError, "diagonal_backward: shape does not fit: got {}, need {}",
              c.shape(0), need);
  return {{c.dtype(0), c.in(0).device, out}};
}

void vjp_diagonal_backward(VjpContext& c) {
  const auto& a = c.attrs<DiagonalBackwardAttrs>();
  if (c.needs(0)) c.set(0, diagonal(c.grad(), a.offset, a.axis1, a.axis2));
}

TypeList infer_triangle(const InferContext& c) {
  SORUS_CHECK(c.shape(0).rank() >= 2, ShapeError, "{}: too few dimensions: got shape {}, need rank 2 or more",
              c.attrs<TriangleAttrs>().lower ? "tril" : "triu", c.shape(0));
  return {c.in(0)};
}

Tensor triangle(const Tensor& x, bool lower, int64_t diagonal);

void vjp_triangle(VjpContext& c) {
  const auto& a = c.attrs<TriangleAttrs>();
  if (c.needs(0)) c.set(0, triangle(c.grad(), a.lower, a.diagonal));
}

const OpDef diagonal_op{.name = "diagonal",
                        .doc = "The elements x[..., i, i + offset] of two axes, as the last axis. A view.",
                        .inputs = {{"x"}},
                        .attrs = attrs_def<DiagonalAttrs>(),
                        .infer = infer_diagonal,
                        .vjp = vjp_diagonal,
                        .view = view_diagonal};
const OpRegistrar registered_diagonal{diagonal_op};

const OpDef diagonal_backward_op{.name = "diagonal_backward",
                                 .doc = "Zeros of a shape but for a diagonal, which holds the operand.",
                                 .inputs = {{"grad"}},
                                 .attrs = attrs_def<DiagonalBackwardAttrs>(),
                                 .infer = infer_diagonal_backward,
                                 .vjp = vjp_diagonal_backward,
                                 .traits = {.backward = true}};
const OpRegistrar registered_diagonal_backward{diagonal_backward_op};

const OpDef triangle_op{
    .name = "triangle",
    .doc =
        "Matrices with the elements above (lower) or below (upper) a diagonal set to zero. x: "
        "(..., m, n).",
    .inputs = {{"x"}},
    .attrs = attrs_def<TriangleAttrs>(),
    .infer = infer_triangle,
    .vjp = vjp_triangle};
const OpRegistrar registered_triangle{triangle_op};

Tensor diagonal_backward(const Tensor& grad, const DiagonalAttrs& a, const Ints& shape) {
  return apply(diagonal_backward_op, {&grad}, DiagonalBackwardAttrs{a.offset, a.axis1, a.axis2, shape});
}

Tensor triangle(const Tensor& x, bool lower, int64_t diagonal) {
  return apply(triangle_op, {&x}, TriangleAttrs{lower, diagonal});
}

}  // namespace

Tensor diagonal(const Tensor& x, int64_t offset, int64_t axis1, int64_t axis2) {
  SORUS_CHECK(x.rank() >= 2, ShapeError, "diagonal: too few dimensions: got shape {}, need rank 2 or more",
              x.shape());
  return apply(diagonal_op, {&x},
               DiagonalAttrs{offset, normalize_axis("diagonal", axis1, x.rank()),
                             normalize_axis("diagonal", axis2, x.rank())});
}

Tensor diag_embed(const Tensor& x, int64_t offset, int64_t axis1, int64_t axis2) {
  SORUS_CHECK(x.rank() >= 1, ShapeError, "diag_embed: tensor is a scalar: got shape {}, need rank 1 or more",
              x.shape());
  int rank = x.rank() + 1;
  int row = normalize_axis("diag_embed", axis1, rank);
  int column = normalize_axis("diag_embed", axis2, rank);
  SORUS_CHECK(row != column, ValueError, "diag_embed: the axes are the same: got {} twice, need two axes",
              row);
  int64_t edge = x.size(-1) + std::abs(offset);
  Ints shape;
  int next = 0;
  for (int i = 0; i < rank; ++i) shape.push_back(i == row || i == column ? edge : x.size(next++));
  return diagonal_backward(x, {offset, row, column}, shape);
}

Tensor diag(const Tensor& x, int64_t offset) {
  SORUS_CHECK(x.rank() == 1 || x.rank() == 2, ShapeError, "diag: wrong rank: got shape {}, need rank 1 or 2",
              x.shape());
  return x.rank() == 1 ? diag_embed(x, offset) : diagonal(x, offset);
}

Tensor eye(int64_t rows, int64_t columns, DType dtype) {
  Shape shape{rows, columns};
  Tensor one = broadcast_to(full({dtype, {}, {}}, 1), Shape{std::min(rows, columns)});
  return diagonal_backward(one, {0, 0, 1}, shape.sizes());
}

Tensor tril(const Tensor& x, int64_t diagonal) { return triangle(x, true, diagonal); }
Tensor triu(const Tensor& x, int64_t diagonal) { return triangle(x, false, diagonal); }

}  // namespace sorus
