#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/reduce/attributes.h"
#include "sorus/ops/reduce/detail/rules.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

using namespace reduce;

TypeList infer_sum(const InferContext& c) {
  SORUS_CHECK(c.dtype(0) != DType::kBool, DTypeError, "{}: dtype is not supported: got bool, need a number",
              c.name());
  const auto& a = c.attrs<ReduceAttrs>();
  return {{c.dtype(0), c.in(0).device, reduced_shape(c.name(), c.shape(0), a.axes, a.keepdims)}};
}

void sum_vjp(VjpContext& c) {
  c.set(0, expand_reduced("sum", c.grad(), c.in_type(0).shape, c.attrs<ReduceAttrs>().axes));
}

const OpDef sum_op{
    .name = "sum",
    .doc =
        "Sum over the given axes; of nothing it is 0. Any number; integers wrap, 16-bit floats accumulate in "
        "float32. The order of additions is a tree over logical indices that the shape alone decides.",
    .inputs = {{"x"}},
    .attrs = attrs_def<ReduceAttrs>(),
    .infer = infer_sum,
    .vjp = sum_vjp,
    .cost = reduce_cost};
const OpRegistrar registered{sum_op};

}  // namespace

Tensor sum(const Tensor& x, const Ints& axes, bool keepdims) {
  if (x.dtype() == DType::kBool) return sum(cast(x, DType::kInt64), axes, keepdims);
  return apply(sum_op, {&x}, ReduceAttrs{axes, keepdims});
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  const int lead = x.rank() - shape.rank();
  SORUS_CHECK(lead >= 0 && broadcast_shapes("sum_to", x.shape(), shape) == x.shape(), ShapeError,
              "sum_to: shape does not broadcast to that of x: got {} for x of {}, need one that does", shape,
              x.shape());
  Ints axes;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis < lead || (shape[axis - lead] == Dim(1) && !(x.shape()[axis] == Dim(1)))) axes.push_back(axis);
  Tensor total = axes.empty() ? x : sum(x, axes, true);
  return lead == 0 ? total : reshape(total, shape.sizes());
}

}  // namespace sorus
