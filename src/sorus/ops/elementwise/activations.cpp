#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"

namespace sorus {
namespace {

using namespace elementwise;

void relu_vjp(VjpContext& c) {
  Tensor zero = zero_of(c.grad().dtype());
  c.set(0, where(greater(c.out(), zero), c.grad(), zero));
}

const OpDef relu_op{.name = "relu",
                    .doc = "x where x > 0, else 0; NaN stays NaN. Any number. The gradient at 0 is 0.",
                    .inputs = unary_inputs(),
                    .infer = infer<Domain::kNumber>,
                    .vjp = relu_vjp,
                    .saves_out = saves({0}),
                    .cost = elementwise_cost,
                    .traits = {.elementwise = true}};

const OpRegistrar registered[] = {OpRegistrar(relu_op)};

}  // namespace

Tensor relu(const Tensor& x) { return apply(relu_op, {&x}); }

}  // namespace sorus
