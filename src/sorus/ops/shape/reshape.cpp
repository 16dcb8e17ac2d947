#include "sorus/dispatch/apply.h"
#include "sorus/ops/shape/attributes.h"
#include "sorus/ops/shape/detail/view_strides.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

/// The shape wanted of an operand with symbols: -1 becomes an expression of them, and whether the element
/// counts agree is seen when they are known.
Shape resolve_symbols(const Shape& x, const Ints& wanted) {
  int64_t count = 1;
  Dim symbols = 1;
  for (Dim d : x.dims()) {
    if (d.is_symbol())
      symbols = symbols * d;
    else
      count *= d.value();
  }
  int64_t known = 1;
  for (int64_t extent : wanted) known *= extent == -1 ? 1 : extent;
  bool whole = known > 0 && count % known == 0;
  Dim unknown = whole ? symbols * Dim(count / known) : floor_divide(symbols * Dim(count), Dim(known));
  Shape out;
  for (int64_t extent : wanted) out.push_back(extent == -1 ? unknown : Dim(extent));
  return out;
}

/// The shape wanted, with -1 found from the element count.
Shape resolve_shape(const InferContext& c) {
  const Shape& x = c.shape(0);
  Ints wanted = c.attrs<ShapeAttrs>().shape;
  int unknown = -1;
  int64_t known = 1;
  for (int i = 0; i < wanted.size(); ++i) {
    SORUS_CHECK(wanted[i] >= -1, ShapeError,
                "reshape: an extent is negative: got {}, need 0 or more, or one -1", wanted);
    if (wanted[i] == -1) {
      SORUS_CHECK(unknown < 0, ShapeError, "reshape: -1 is given twice: got {}, need at most one -1", wanted);
      unknown = i;
      continue;
    }
    SORUS_CHECK(!__builtin_mul_overflow(known, wanted[i], &known), ShapeError,
                "reshape: too many elements: got {}, need fewer than 2^63", wanted);
  }
  if (!x.is_concrete()) return resolve_symbols(x, wanted);
  int64_t numel = x.numel();
  if (unknown >= 0) {
    SORUS_CHECK(known > 0 && numel % known == 0, ShapeError,
                "reshape: -1 cannot be found: got {} for {} elements of shape {}, need a divisor", wanted,
                numel, x);
    wanted[unknown] = numel / known;
    known = numel;
  }
  SORUS_CHECK(known == numel, ShapeError,
              "reshape: element counts differ: got {} for shape {} with {} elements, need as many", wanted, x,
              numel);
  return Shape(wanted);
}

TypeList infer_reshape(const InferContext& c) { return {{c.dtype(0), c.in(0).device, resolve_shape(c)}}; }

Views view_reshape(const InferContext& c, const Strides& strides, int64_t offset) {
  std::optional<Strides> s = detail::reshape_strides(c.shape(0), strides, resolve_shape(c));
  if (!s) return {};
  return {{*s, offset}};
}

void vjp_reshape(VjpContext& c) {
  if (c.needs(0)) c.set(0, reshape(c.grad(), c.in_type(0).shape.sizes()));
}

TypeList infer_same(const InferContext& c) { return {c.in(0)}; }

Views view_contiguous(const InferContext& c, const Strides& strides, int64_t offset) {
  if (!is_contiguous(c.shape(0), strides)) return {};
  return {{strides, offset}};
}

void vjp_contiguous(VjpContext& c) {
  if (c.needs(0)) c.set(0, c.grad());
}

const OpDef reshape_op{
    .name = "reshape",
    .doc =
        "Same elements, row-major, in another shape. x: any type; shape: extents, one may be "
        "-1. Throws ShapeError when the element counts differ. A view when strides allow it.",
    .inputs = {{"x"}},
    .attrs = attrs_def<ShapeAttrs>(),
    .infer = infer_reshape,
    .vjp = vjp_reshape,
    .view = view_reshape};
const OpRegistrar registered_reshape{reshape_op};

const OpDef contiguous_op{.name = "contiguous",
                          .doc = "The same elements lying row-major in memory. x: any type and shape.",
                          .inputs = {{"x"}},
                          .infer = infer_same,
                          .vjp = vjp_contiguous,
                          .view = view_contiguous};
const OpRegistrar registered_contiguous{contiguous_op};

}  // namespace

Tensor reshape(const Tensor& x, const Ints& shape) { return apply(reshape_op, {&x}, ShapeAttrs{shape}); }

Tensor contiguous(const Tensor& x) { return apply(contiguous_op, {&x}); }

}  // namespace sorus
