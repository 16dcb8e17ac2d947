#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"

namespace sorus {
namespace {

using namespace elementwise;

constexpr Traits kElementwise{.elementwise = true};

void add_vjp(VjpContext& c) {
  for (size_t i = 0; i < 2; ++i)
    if (c.needs(i)) set_summed(c, i, c.grad());
}

void sub_vjp(VjpContext& c) {
  if (c.needs(0)) set_summed(c, 0, c.grad());
  if (c.needs(1)) set_summed(c, 1, neg(c.grad()));
}

void mul_vjp(VjpContext& c) {
  for (size_t i = 0; i < 2; ++i)
    if (c.needs(i)) set_summed(c, i, mul(c.grad(), c.in(1 - i)));
}

void div_vjp(VjpContext& c) {
  Tensor quotient = div(c.grad(), c.in(1));
  if (c.needs(0)) set_summed(c, 0, quotient);
  if (c.needs(1)) set_summed(c, 1, neg(mul(quotient, c.out())));
}

const OpDef add_op{.name = "add",
                   .doc = "a + b, elementwise with broadcasting. Any dtype; integers wrap, bools are or-ed.",
                   .inputs = binary_inputs(),
                   .infer = infer<Domain::kAny>,
                   .vjp = add_vjp,
                   .cost = elementwise_cost,
                   .traits = kElementwise};
const OpDef sub_op{
    .name = "sub",
    .doc = "a - b, elementwise with broadcasting. Any dtype; integers wrap, bools give a != b.",
    .inputs = binary_inputs(),
    .infer = infer<Domain::kAny>,
    .vjp = sub_vjp,
    .cost = elementwise_cost,
    .traits = kElementwise};
const OpDef mul_op{.name = "mul",
                   .doc = "a * b, elementwise with broadcasting. Any dtype; integers wrap, bools are and-ed.",
                   .inputs = binary_inputs(),
                   .infer = infer<Domain::kAny>,
                   .vjp = mul_vjp,
                   .saves_in = saves({0, 1}),
                   .cost = elementwise_cost,
                   .traits = kElementwise};
const OpDef div_op{
    .name = "div",
    .doc = "a / b, elementwise with broadcasting. Floating dtypes; x / 0 is an infinity or NaN.",
    .inputs = binary_inputs(),
    .infer = infer<Domain::kFloating>,
    .vjp = div_vjp,
    .saves_in = saves({1}),
    .saves_out = saves({0}),
    .cost = elementwise_cost,
    .traits = kElementwise};
const OpDef neg_op{.name = "neg",
                   .doc = "-x, elementwise. Any number; integers wrap.",
                   .inputs = unary_inputs(),
                   .infer = infer<Domain::kNumber>,
                   .vjp = [](VjpContext& c) { c.set(0, neg(c.grad())); },
                   .cost = elementwise_cost,
                   .traits = kElementwise};

const OpRegistrar registered[] = {OpRegistrar(add_op), OpRegistrar(sub_op), OpRegistrar(mul_op),
                                  OpRegistrar(div_op), OpRegistrar(neg_op)};

}  // namespace

Tensor scalar_beside(Scalar s, DType beside) {
  DType dtype = promote_scalar(beside, s.kind());
  return visit_dtype(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, bool>)
      return Tensor(s.as_double() != 0);
    else if constexpr (std::is_integral_v<T>)
      return Tensor(static_cast<T>(s.as_int()));
    else
      return Tensor(T(static_cast<ComputeType<T>>(s.as_double())));
  });
}

Tensor add(const Tensor& a, const Tensor& b) { return apply_promoted(add_op, a, b); }
Tensor sub(const Tensor& a, const Tensor& b) { return apply_promoted(sub_op, a, b); }
Tensor mul(const Tensor& a, const Tensor& b) { return apply_promoted(mul_op, a, b); }
Tensor div(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype() && is_floating(a.dtype())) return apply(div_op, {&a, &b});
  auto [x, y] = promoted(a, b);
  return apply_promoted(div_op, as_floating(x), as_floating(y));
}
Tensor neg(const Tensor& x) { return apply(neg_op, {&x}); }

}  // namespace sorus
