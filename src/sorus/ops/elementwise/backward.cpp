#include "sorus/ops/elementwise/detail/backward.h"

#include "sorus/ops/elementwise/attributes.h"
#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"

namespace sorus::elementwise {
namespace {

/// An op g * slope(x): of g it is linear, of x the second derivative is needed.
OpDef backward_of(std::string_view name, std::string_view doc, void (*vjp)(VjpContext&), SaveMask saved) {
  return backward(binary_function(name, doc, infer<Domain::kFloating>, vjp, saved));
}

void tanh_backward_vjp(VjpContext& c) {
  if (c.needs(0)) c.set(0, tanh_backward(c.grad(), c.in(1)));
  if (c.needs(1)) c.set(1, c.grad() * c.in(0) * (c.in(1) * -2.0));
}
const OpDef tanh_backward_op = backward_of(
    "tanh_backward", "a * (1 - b^2): the gradient of tanh with result b.", tanh_backward_vjp, saves({0, 1}));

void sigmoid_backward_vjp(VjpContext& c) {
  if (c.needs(0)) c.set(0, sigmoid_backward(c.grad(), c.in(1)));
  if (c.needs(1)) c.set(1, c.grad() * c.in(0) * (1.0 - c.in(1) * 2.0));
}
const OpDef sigmoid_backward_op =
    backward_of("sigmoid_backward", "a * b * (1 - b): the gradient of sigmoid with result b.",
                sigmoid_backward_vjp, saves({0, 1}));

void relu_backward_vjp(VjpContext& c) {
  if (c.needs(0)) c.set(0, relu_backward(c.grad(), c.in(1)));
  if (c.needs(1)) set_zeros(c, 1);
}
const OpDef relu_backward_op =
    backward_of("relu_backward", "a, and 0 where b <= 0: the gradient of relu with result b.",
                relu_backward_vjp, saves({1}));

void leaky_relu_backward_vjp(VjpContext& c) {
  if (c.needs(0)) c.set(0, leaky_relu_backward(c.grad(), c.in(1), c.attrs<SlopeAttrs>().slope));
  if (c.needs(1)) set_zeros(c, 1);
}
const OpDef leaky_relu_backward_op{.name = "leaky_relu_backward",
                                   .doc = "a, and slope * a where b <= 0: the gradient of leaky_relu at b.",
                                   .inputs = binary_inputs(),
                                   .attrs = attrs_def<SlopeAttrs>(),
                                   .infer = infer<Domain::kFloating>,
                                   .vjp = leaky_relu_backward_vjp,
                                   .saves_in = saves({1}),
                                   .cost = elementwise_cost,
                                   .traits = {.elementwise = true, .backward = true}};

void silu_backward_vjp(VjpContext& c) {
  const Tensor& x = c.in(1);
  if (c.needs(0)) c.set(0, silu_backward(c.grad(), x));
  if (!c.needs(1)) return;
  Tensor s = sigmoid(x);
  Tensor slope = s * (1.0 - s);
  c.set(1, c.grad() * c.in(0) * (slope * 2.0 + x * slope * (1.0 - s * 2.0)));
}
const OpDef silu_backward_op =
    backward_of("silu_backward", "The gradient of silu at b times a.", silu_backward_vjp, saves({0, 1}));

void gelu_backward_vjp(VjpContext& c) {
  const Tensor& x = c.in(1);
  if (c.needs(0)) c.set(0, gelu_backward(c.grad(), x));
  if (!c.needs(1)) return;
  constexpr double kDensity = 0.39894228040143267794;  // of the normal distribution at 0
  Tensor density = exp(square(x) * -0.5) * kDensity;
  c.set(1, c.grad() * c.in(0) * (density * (2.0 - square(x))));
}
const OpDef gelu_backward_op =
    backward_of("gelu_backward", "The gradient of gelu at b times a.", gelu_backward_vjp, saves({0, 1}));

void gelu_tanh_backward_vjp(VjpContext& c) {
  const Tensor& x = c.in(1);
  if (c.needs(0)) c.set(0, gelu_tanh_backward(c.grad(), x));
  if (!c.needs(1)) return;
  // With u = k (x + a x^3) and t = tanh(u): gelu' = (1 + t) / 2 + x (1 - t^2) u' / 2.
  constexpr double kScale = 0.79788456080286535588;
  constexpr double kCubic = 0.044715;
  Tensor squared = square(x);
  Tensor t = tanh(x * (squared * kCubic + 1.0) * kScale);
  Tensor first = (squared * (3 * kCubic) + 1.0) * kScale;
  Tensor second = x * (6 * kCubic * kScale);
  Tensor slope = 1.0 - square(t);
  Tensor curvature = slope * first + x * 0.5 * slope * (second - t * square(first) * 2.0);
  c.set(1, c.grad() * c.in(0) * curvature);
}
const OpDef gelu_tanh_backward_op = backward_of(
    "gelu_tanh_backward", "The gradient of gelu_tanh at b times a.", gelu_tanh_backward_vjp, saves({0, 1}));

const OpRegistrar registered[] = {OpRegistrar(tanh_backward_op),     OpRegistrar(sigmoid_backward_op),
                                  OpRegistrar(relu_backward_op),     OpRegistrar(leaky_relu_backward_op),
                                  OpRegistrar(silu_backward_op),     OpRegistrar(gelu_backward_op),
                                  OpRegistrar(gelu_tanh_backward_op)};

}  // namespace

Tensor tanh_backward(const Tensor& g, const Tensor& y) { return apply(tanh_backward_op, {&g, &y}); }
Tensor sigmoid_backward(const Tensor& g, const Tensor& y) { return apply(sigmoid_backward_op, {&g, &y}); }
Tensor relu_backward(const Tensor& g, const Tensor& y) { return apply(relu_backward_op, {&g, &y}); }
Tensor silu_backward(const Tensor& g, const Tensor& x) { return apply(silu_backward_op, {&g, &x}); }
Tensor gelu_backward(const Tensor& g, const Tensor& x) { return apply(gelu_backward_op, {&g, &x}); }
Tensor gelu_tanh_backward(const Tensor& g, const Tensor& x) { return apply(gelu_tanh_backward_op, {&g, &x}); }
Tensor leaky_relu_backward(const Tensor& g, const Tensor& x, double slope) {
  return apply(leaky_relu_backward_op, {&g, &x}, SlopeAttrs{slope});
}

}  // namespace sorus::elementwise
