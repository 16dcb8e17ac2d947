#include "sorus/dispatch/apply.h"
#include "sorus/dispatch/builtin.h"
#include "sorus/ops/elementwise/attributes.h"
#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"

namespace sorus {
namespace {

using namespace elementwise;

TypeList infer_where(const InferContext& c) {
  SORUS_CHECK(c.dtype(0) == DType::kBool, DTypeError, "where: dtype of condition: got {}, need bool",
              c.dtype(0));
  SORUS_CHECK(c.dtype(1) == c.dtype(2), DTypeError,
              "where: dtypes of operands differ: got {} and {}, need one", c.dtype(1), c.dtype(2));
  TensorType type = c.in(1);
  type.shape = broadcast_shapes("where", c.shape(0), broadcast_shapes("where", c.shape(1), c.shape(2)));
  return {type};
}

void where_vjp(VjpContext& c) {
  Tensor zero = zero_of(c.grad().dtype());
  if (c.needs(1)) set_summed(c, 1, where(c.in(0), c.grad(), zero));
  if (c.needs(2)) set_summed(c, 2, where(c.in(0), zero, c.grad()));
}

const OpDef where_op{.name = "where",
                     .doc = "condition ? a : b, elementwise with broadcasting. Any dtype; condition is bool.",
                     .inputs = {{"condition"}, {"a"}, {"b"}},
                     .infer = infer_where,
                     .vjp = where_vjp,
                     .saves_in = saves({0}),
                     .cost = elementwise_cost,
                     .traits = {.elementwise = true}};

TypeList infer_cast(const InferContext& c) {
  TensorType type = c.in(0);
  type.dtype = c.attrs<CastAttrs>().dtype;
  return {type};
}

const OpDef cast_op{
    .name = "cast",
    .doc =
        "Converts the element type. Floating to integer truncates towards zero, then wraps (NaN and what "
        "lies beyond 64 bits give the least int64); to bool gives x != 0; to a narrower floating dtype "
        "rounds once to nearest even.",
    .inputs = unary_inputs(),
    .attrs = attrs_def<CastAttrs>(),
    .infer = infer_cast,
    .vjp = [](VjpContext& c) { c.set(0, cast(c.grad(), c.in_type(0).dtype)); },
    .cost = elementwise_cost,
    .traits = {.elementwise = true}};

const OpDef stop_gradient_op{
    .name = "stop_gradient",
    .doc = "The same value, through which no gradient flows. A view.",
    .inputs = unary_inputs(),
    .infer = infer<Domain::kAny>,
    .view = [](const InferContext&, const Strides& strides, int64_t offset) -> Views {
      return {{strides, offset}};
    },
    .cost = elementwise_cost,
    .traits = {.elementwise = true, .differentiable = false}};

const OpRegistrar registered[] = {OpRegistrar(where_op), OpRegistrar(cast_op), OpRegistrar(stop_gradient_op)};

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return apply(where_op, {&condition, &a, &b});
  auto [x, y] = promoted(a, b);
  return apply(where_op, {&condition, &x, &y});
}

Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return apply(cast_op, {&x}, CastAttrs{dtype});
}

Tensor stop_gradient(const Tensor& x) { return apply(stop_gradient_op, {&x}); }

}  // namespace sorus
