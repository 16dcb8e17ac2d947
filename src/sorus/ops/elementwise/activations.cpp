#include "sorus/ops/elementwise/activation.h"
#include "sorus/ops/elementwise/attributes.h"
#include "sorus/ops/elementwise/detail/backward.h"
#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"

// Smooth activations.
namespace sorus {
namespace {

using namespace elementwise;

constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;

const OpDef gelu_op = floating_function(
    "gelu",
    "x times the distribution function of the normal distribution at x, elementwise. Floating dtypes. "
    "Source: "
    "Hendrycks and Gimpel 2016.",
    [](VjpContext& c) { c.set(0, gelu_backward(c.grad(), c.in(0))); }, kFirst);
const OpDef gelu_tanh_op = floating_function(
    "gelu_tanh",
    "x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, elementwise. Floating dtypes. Source: Hendrycks and "
    "Gimpel "
    "2016.",
    [](VjpContext& c) { c.set(0, gelu_tanh_backward(c.grad(), c.in(0))); }, kFirst);
const OpDef silu_op = floating_function(
    "silu", "x * sigmoid(x), elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, silu_backward(c.grad(), c.in(0))); }, kFirst);

void mish_vjp(VjpContext& c) {
  const Tensor& x = c.in(0);
  Tensor t = tanh(softplus(x));
  c.set(0, c.grad() * (t + x * sigmoid(x) * (1.0 - square(t))));
}
const OpDef mish_op = floating_function(
    "mish", "x * tanh(log(1 + exp(x))), elementwise. Floating dtypes. Source: Misra 2019.", mish_vjp, kFirst);

const OpDef log_sigmoid_op = floating_function(
    "log_sigmoid", "log(sigmoid(x)), elementwise, without overflow. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() * sigmoid(neg(c.in(0)))); }, kFirst);

void softplus_vjp(VjpContext& c) {
  const auto& a = c.attrs<SoftplusAttrs>();
  Tensor scaled = c.in(0) * a.beta;
  Tensor is_linear = greater(scaled, scalar_beside(a.threshold, scaled.dtype()));
  c.set(0, where(is_linear, c.grad(), c.grad() * sigmoid(scaled)));
}
const OpDef softplus_op = floating_function<SoftplusAttrs>(
    "softplus",
    "log(1 + exp(beta * x)) / beta, elementwise, and x itself where beta * x > threshold. Floating dtypes.",
    softplus_vjp, kFirst);

void elu_vjp(VjpContext& c) {
  const double alpha = c.attrs<AlphaAttrs>().alpha;
  Tensor is_positive = greater(c.in(0), zero_of(c.in(0).dtype()));
  c.set(0, where(is_positive, c.grad(), c.grad() * (c.out() + alpha)));
}
const OpDef elu_op = floating_function<AlphaAttrs>(
    "elu",
    "x, and alpha * (exp(x) - 1) where x <= 0, elementwise. Floating dtypes. Source: Clevert et al. 2015.",
    elu_vjp, kFirst, kFirst);

void celu_vjp(VjpContext& c) {
  const double alpha = c.attrs<AlphaAttrs>().alpha;
  Tensor zero = zero_of(c.in(0).dtype());
  c.set(0, c.grad() * exp(minimum(c.in(0), zero) / alpha));
}
const OpDef celu_op = floating_function<AlphaAttrs>(
    "celu",
    "x, and alpha * (exp(x / alpha) - 1) where x <= 0, elementwise. Floating dtypes. Source: Barron 2017.",
    celu_vjp, kFirst);

void selu_vjp(VjpContext& c) {
  Tensor is_positive = greater(c.in(0), zero_of(c.in(0).dtype()));
  c.set(0, where(is_positive, c.grad() * kSeluScale, c.grad() * (c.out() + kSeluScale * kSeluAlpha)));
}
const OpDef selu_op = floating_function("selu",
                                        "scale * (x, and alpha * (exp(x) - 1) where x <= 0) with scale and "
                                        "alpha of Klambauer et al. 2017, elementwise. "
                                        "Floating dtypes.",
                                        selu_vjp, kFirst, kFirst);

const OpDef tanhshrink_op = floating_function(
    "tanhshrink", "x - tanh(x), elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() * square(tanh(c.in(0)))); }, kFirst);

const OpRegistrar registered[] = {
    OpRegistrar(gelu_op),        OpRegistrar(gelu_tanh_op), OpRegistrar(silu_op), OpRegistrar(mish_op),
    OpRegistrar(log_sigmoid_op), OpRegistrar(softplus_op),  OpRegistrar(elu_op),  OpRegistrar(celu_op),
    OpRegistrar(selu_op),        OpRegistrar(tanhshrink_op)};

}  // namespace

Tensor gelu(const Tensor& x) { return apply_floating(gelu_op, x); }
Tensor gelu_tanh(const Tensor& x) { return apply_floating(gelu_tanh_op, x); }
Tensor silu(const Tensor& x) { return apply_floating(silu_op, x); }
Tensor mish(const Tensor& x) { return apply_floating(mish_op, x); }
Tensor log_sigmoid(const Tensor& x) { return apply_floating(log_sigmoid_op, x); }
Tensor softplus(const Tensor& x, double beta, double threshold) {
  SORUS_CHECK(beta != 0, ValueError, "softplus: beta is zero: got 0, need another number");
  return apply_floating(softplus_op, x, SoftplusAttrs{beta, threshold});
}
Tensor elu(const Tensor& x, double alpha) { return apply_floating(elu_op, x, AlphaAttrs{alpha}); }
Tensor celu(const Tensor& x, double alpha) {
  SORUS_CHECK(alpha != 0, ValueError, "celu: alpha is zero: got 0, need another number");
  return apply_floating(celu_op, x, AlphaAttrs{alpha});
}
Tensor selu(const Tensor& x) { return apply_floating(selu_op, x); }
Tensor tanhshrink(const Tensor& x) { return apply_floating(tanhshrink_op, x); }

}  // namespace sorus
