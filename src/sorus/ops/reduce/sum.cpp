#include <algorithm>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/reduce/attributes.h"
#include "sorus/ops/reduce/detail/rules.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

// Sums, means and products.
namespace sorus {
namespace {

using namespace reduce;

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
    .infer = infer_reduce,
    .vjp = sum_vjp,
    .cost = reduce_cost};

TypeList infer_mean(const InferContext& c) {
  SORUS_CHECK(is_floating(c.dtype(0)), DTypeError,
              "mean: dtype is not supported: got {}, need a floating dtype", c.dtype(0));
  return infer_reduce(c);
}
void mean_vjp(VjpContext& c) {
  const auto& axes = c.attrs<ReduceAttrs>().axes;
  const Shape& shape = c.in_type(0).shape;
  const auto count = static_cast<double>(reduced_count("mean", shape, axes));
  c.set(0, expand_reduced("mean", c.grad() / count, shape, axes));
}
const OpDef mean_op{
    .name = "mean",
    .doc = "Sum over the given axes divided by their number; of nothing NaN. Floating dtypes; see sum.",
    .inputs = {{"x"}},
    .attrs = attrs_def<ReduceAttrs>(),
    .infer = infer_mean,
    .vjp = mean_vjp,
    .cost = reduce_cost};

/// The derivative by an element is the product of all others: of those before and of those after it, which
/// holds also where elements are 0.
void prod_vjp(VjpContext& c) {
  const Tensor& x = c.in(0);
  const Ints reduced = normalize_axes("prod", c.attrs<ReduceAttrs>().axes, x.rank());
  Ints order;  // kept axes, then the reduced ones
  Ints flat;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (std::find(reduced.begin(), reduced.end(), axis) != reduced.end()) continue;
    order.push_back(axis);
    flat.push_back(x.size(axis));
  }
  for (int64_t axis : reduced) order.push_back(axis);
  flat.push_back(reduced_count("prod", x.shape(), reduced));
  Ints back = Ints::filled(x.rank(), 0);
  for (int i = 0; i < order.size(); ++i) back[static_cast<int>(order[i])] = i;

  Tensor moved = transpose(x, order);
  Tensor rows = reshape(moved, flat);
  Tensor others = cumprod(rows, -1, true, false) * cumprod(rows, -1, true, true);
  Tensor spread = transpose(reshape(others, moved.shape().sizes()), back);
  c.set(0, expand_reduced("prod", c.grad(), x.shape(), reduced) * spread);
}
const OpDef prod_op{.name = "prod",
                    .doc =
                        "Product over the given axes; of nothing it is 1. Any number; integers wrap, 16-bit "
                        "floats accumulate in "
                        "float32. The order is that of sum.",
                    .inputs = {{"x"}},
                    .attrs = attrs_def<ReduceAttrs>(),
                    .infer = infer_reduce,
                    .vjp = prod_vjp,
                    .saves_in = saves({0}),
                    .cost = reduce_cost};

const OpRegistrar registered[] = {OpRegistrar(sum_op), OpRegistrar(mean_op), OpRegistrar(prod_op)};

}  // namespace

Tensor sum(const Tensor& x, const Ints& axes, bool keepdims) {
  Tensor numbers = as_number(x);
  return apply(sum_op, {&numbers}, ReduceAttrs{axes, keepdims});
}

Tensor mean(const Tensor& x, const Ints& axes, bool keepdims) {
  Tensor floats = is_floating(x.dtype()) ? x : cast(x, DType::kFloat32);
  return apply(mean_op, {&floats}, ReduceAttrs{axes, keepdims});
}

Tensor prod(const Tensor& x, const Ints& axes, bool keepdims) {
  Tensor numbers = as_number(x);
  return apply(prod_op, {&numbers}, ReduceAttrs{axes, keepdims});
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
