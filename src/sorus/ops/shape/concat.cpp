#include "sorus/core/promotion.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/attributes.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

TypeList infer_concat(const InferContext& c) {
  SORUS_CHECK(c.count() > 0, ValueError, "concat: no tensors: got an empty list, need at least one");
  int axis = normalize_axis("concat", c.attrs<AxisAttrs>().axis, c.shape(0).rank());
  Shape out = c.shape(0);
  for (size_t i = 1; i < c.count(); ++i) {
    const Shape& s = c.shape(i);
    SORUS_CHECK(c.dtype(i) == c.dtype(0), DTypeError,
                "concat: element types differ: got {} and {} (tensor {}), need equal ones", c.dtype(0),
                c.dtype(i), i);
    bool fits = s.rank() == out.rank();
    for (int j = 0; fits && j < s.rank(); ++j) fits = j == axis || s[j] == out[j];
    SORUS_CHECK(fits, ShapeError,
                "concat: shapes do not fit: got {} and {} (tensor {}), need equal extents but on axis {}",
                c.shape(0), s, i, axis);
    out[axis] = out[axis] + s[axis];
  }
  return {{c.dtype(0), c.in(0).device, out}};
}

void vjp_concat(VjpContext& c) {
  int64_t axis = c.attrs<AxisAttrs>().axis;
  int64_t at = 0;
  for (size_t i = 0; i < c.input_count(); ++i) {
    int64_t extent = c.in_type(i).shape.size(static_cast<int>(axis));
    if (c.needs(i)) c.set(i, narrow(c.grad(), axis, at, extent));
    at += extent;
  }
}

const OpDef concat_op{
    .name = "concat",
    .doc =
        "Tensors one after the other along an axis. tensors: one dtype, equal shapes but on the "
        "axis. Throws ShapeError, DTypeError.",
    .inputs = {{"tensors", InputKind::kList}},
    .attrs = attrs_def<AxisAttrs>(),
    .infer = infer_concat,
    .vjp = vjp_concat};
const OpRegistrar registered{concat_op};

}  // namespace

Tensor concat(std::span<const Tensor> tensors, int64_t axis) {
  SORUS_CHECK(!tensors.empty(), ValueError, "concat: no tensors: got an empty list, need at least one");
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors.subspan(1)) dtype = promote(dtype, t.dtype());
  TensorList parts;
  SmallVector<const Tensor*, 8> operands;
  for (const Tensor& t : tensors) parts.push_back(cast(t, dtype));
  for (const Tensor& t : parts) operands.push_back(&t);
  return apply(concat_op, OperandSpan(operands.data(), operands.size()),
               AxisAttrs{normalize_axis("concat", axis, tensors[0].rank())});
}

Tensor stack(std::span<const Tensor> tensors, int64_t axis) {
  SORUS_CHECK(!tensors.empty(), ValueError, "stack: no tensors: got an empty list, need at least one");
  int at = normalize_axis("stack", axis, tensors[0].rank() + 1);
  TensorList parts;
  for (const Tensor& t : tensors) {
    SORUS_CHECK(t.shape() == tensors[0].shape(), ShapeError,
                "stack: shapes differ: got {} and {}, need equal ones", tensors[0].shape(), t.shape());
    parts.push_back(expand_dims(t, at));
  }
  return concat({parts.data(), parts.size()}, at);
}

}  // namespace sorus
