#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"

namespace sorus {
namespace {

using namespace elementwise;

/// A function of one floating operand.
struct Saved {
  SaveMask in = kSaveNone;
  SaveMask out = kSaveNone;
};
constexpr Saved kOperand{.in = saves({0})};
constexpr Saved kResult{.out = saves({0})};

OpDef function(std::string_view name, std::string_view doc, void (*vjp)(VjpContext&), Saved saved) {
  return {.name = name,
          .doc = doc,
          .inputs = unary_inputs(),
          .infer = infer<Domain::kFloating>,
          .vjp = vjp,
          .saves_in = saved.in,
          .saves_out = saved.out,
          .cost = elementwise_cost,
          .traits = {.elementwise = true}};
}

const OpDef exp_op = function(
    "exp", "e to the power x, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, mul(c.grad(), c.out())); }, kResult);
const OpDef log_op = function(
    "log", "Natural logarithm, elementwise. Floating dtypes; log(0) is -inf, of a negative number NaN.",
    [](VjpContext& c) { c.set(0, div(c.grad(), c.in(0))); }, kOperand);
const OpDef sqrt_op = function(
    "sqrt", "Square root, elementwise and correctly rounded. Floating dtypes; NaN for negative numbers.",
    [](VjpContext& c) { c.set(0, div(mul(c.grad(), scalar_beside(0.5, c.grad().dtype())), c.out())); },
    kResult);
const OpDef tanh_op = function(
    "tanh", "Hyperbolic tangent, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, mul(c.grad(), 1.0 - mul(c.out(), c.out()))); }, kResult);
const OpDef sigmoid_op = function(
    "sigmoid", "1 / (1 + exp(-x)), elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, mul(c.grad(), mul(c.out(), 1.0 - c.out()))); }, kResult);

const OpRegistrar registered[] = {OpRegistrar(exp_op), OpRegistrar(log_op), OpRegistrar(sqrt_op),
                                  OpRegistrar(tanh_op), OpRegistrar(sigmoid_op)};

}  // namespace

Tensor exp(const Tensor& x) { return apply_floating(exp_op, x); }
Tensor log(const Tensor& x) { return apply_floating(log_op, x); }
Tensor sqrt(const Tensor& x) { return apply_floating(sqrt_op, x); }
Tensor tanh(const Tensor& x) { return apply_floating(tanh_op, x); }
Tensor sigmoid(const Tensor& x) { return apply_floating(sigmoid_op, x); }

}  // namespace sorus
