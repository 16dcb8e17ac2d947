#include "sorus/ops/elementwise/activation.h"

#include <cmath>
#include <numbers>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/attributes.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "tests/ops/elementwise/families.h"

namespace sorus::samples {
namespace {

Real logistic(Real x) { return 1 / (1 + std::exp(-x)); }
Real normal_cdf(Real x) { return std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2; }
Real linear(Real x, Real y) { return std::isnan(x) ? x : y; }

constexpr Real kThreeTenths = 0.3;  // as doubles, which attributes are
constexpr Real kSevenTenths = 0.7;

/// Infinities are left out: a formula with inf - inf says nothing about them.
const Family kFinite{.special = false};
const Family kExact{.ulp = 0};

OP_SAMPLES(relu) {
  SampleList list = unary_family(
      relu, [](Real x) { return x < 0 ? 0 : x; }, kExact);
  for (Sample& s :
       unary_family(relu, [](Real x) { return x < 0 ? 0 : x; },
                    {.dtypes = integer_types(), .low = 0, .high = 9, .gradient = false, .integral = true}))
    list.push_back(std::move(s));
  return list;
}
OP_SAMPLES(relu6) {
  return unary_family(relu6, [](Real x) { return linear(x, std::min(std::max(x, 0.0L), 6.0L)); },
                      {.low = -4, .high = 9, .ulp = 0});
}
OP_SAMPLES(leaky_relu) {
  return unary_family([](const Tensor& x) { return leaky_relu(x, 0.2); },
                      [](Real x) { return x > 0 ? x : x * 0.2L; }, {.ulp = 1.6});
}
OP_SAMPLES(prelu) {
  return binary_family(prelu, [](Real x, Real slope) { return x > 0 ? x : x * slope; }, {.ulp = 0.51});
}
OP_SAMPLES(hardtanh) {
  return unary_family([](const Tensor& x) { return hardtanh(x); },
                      [](Real x) { return linear(x, std::min(std::max(x, -1.0L), 1.0L)); }, kExact);
}
OP_SAMPLES(hardsigmoid) {
  return unary_family(hardsigmoid,
                      [](Real x) { return linear(x, std::min(std::max(x + 3, 0.0L), 6.0L) / 6); },
                      {.low = -5, .high = 5});
}
OP_SAMPLES(hardswish) {
  return unary_family(hardswish, [](Real x) { return x * std::min(std::max(x + 3, 0.0L), 6.0L) / 6; },
                      {.low = -5, .high = 5, .special = false});
}
OP_SAMPLES(softsign) {
  return unary_family(
      softsign, [](Real x) { return x / (1 + std::fabs(x)); }, kFinite);
}
OP_SAMPLES(softshrink) {
  return unary_family([](const Tensor& x) { return softshrink(x, 0.5); },
                      [](Real x) {
                        return linear(x, x > 0.5L ? x - 0.5L : x < -0.5L ? x + 0.5L : 0);
                      });
}
OP_SAMPLES(hardshrink) {
  return unary_family([](const Tensor& x) { return hardshrink(x, 0.5); },
                      [](Real x) { return linear(x, std::fabs(x) > 0.5L ? x : 0); }, kExact);
}
OP_SAMPLES(threshold) {
  return unary_family([](const Tensor& x) { return threshold(x, 0.5, -2); },
                      [](Real x) { return linear(x, x > 0.5L ? x : -2); }, kExact);
}

OP_SAMPLES(gelu) {
  return unary_family(
      gelu, [](Real x) { return x * normal_cdf(x); }, kFinite);
}
OP_SAMPLES(gelu_tanh) {
  return unary_family(
      gelu_tanh,
      [](Real x) {
        const Real u = std::sqrt(2 / std::numbers::pi_v<Real>) * (x + 0.044715L * x * x * x);
        return x * logistic(2 * u);
      },
      kFinite);
}
OP_SAMPLES(silu) {
  return unary_family(
      silu, [](Real x) { return x * logistic(x); }, kFinite);
}
OP_SAMPLES(mish) {
  return unary_family(
      mish, [](Real x) { return x * std::tanh(std::log1p(std::exp(x))); }, kFinite);
}
OP_SAMPLES(log_sigmoid) {
  return unary_family(
      log_sigmoid, [](Real x) { return -std::log1p(std::exp(-x)); }, kFinite);
}
/// Samples of an activation from far below zero to far above it; attributes are no floats.
void add_wide(SampleList& list, Tensor (*f)(const Tensor&), const std::function<Real(Real)>& exact) {
  const Family family{.low = -110, .high = 30, .gradient = false, .special = false};
  for (Sample& s : unary_family(f, exact, family)) list.push_back(std::move(s));
}
Real log_one_and_exp(Real x) { return std::max(x, 0.0L) + std::log1p(std::exp(-std::fabs(x))); }
OP_SAMPLES(softplus) {
  SampleList list = unary_family([](const Tensor& x) { return softplus(x); }, log_one_and_exp, kFinite);
  const auto exact = [](Real x) { return 2 * x > 1.5L ? x : log_one_and_exp(2 * x) / 2; };
  for (Sample& s : unary_family([](const Tensor& x) { return softplus(x, 2, 1.5); }, exact, kFinite))
    list.push_back(std::move(s));
  add_wide(
      list, [](const Tensor& x) { return softplus(x, 0.3); },
      [](Real x) { return kThreeTenths * x > 20 ? x : log_one_and_exp(kThreeTenths * x) / kThreeTenths; });
  add_wide(
      list, [](const Tensor& x) { return softplus(x, 0.7, 3); },
      [](Real x) { return kSevenTenths * x > 3 ? x : log_one_and_exp(kSevenTenths * x) / kSevenTenths; });
  return list;
}
OP_ERRORS(softplus) {
  return {{"beta", [] { (void)softplus(Tensor(1.0F), 0); }, ErrorKind::kValue, "beta"}};
}
OP_SAMPLES(elu) {
  const auto f = [](const Tensor& x) { return elu(x, 0.7); };
  const auto exact = [](Real x) { return x > 0 ? x : kSevenTenths * std::expm1(x); };
  SampleList list = unary_family(f, exact, {.ulp = 0.9});
  add_wide(list, f, exact);
  return list;
}
OP_SAMPLES(celu) {
  const auto f = [](const Tensor& x) { return celu(x, 0.7); };
  const auto exact = [](Real x) { return x > 0 ? x : kSevenTenths * std::expm1(x / kSevenTenths); };
  SampleList list = unary_family(f, exact, {.ulp = 0.9});
  add_wide(list, f, exact);
  return list;
}
OP_ERRORS(celu) {
  return {{"alpha", [] { (void)celu(Tensor(1.0F), 0); }, ErrorKind::kValue, "alpha"}};
}
OP_SAMPLES(selu) {
  return unary_family(selu, [](Real x) {
    return 1.0507009873554804934193349852946L *
           (x > 0 ? x : 1.6732632423543772848170429916717L * std::expm1(x));
  });
}
/// x - tanh(x), near zero by Lambert's continued fraction of tanh, so that nothing cancels.
Real tanhshrink_reference(Real x) {
  if (!(std::fabs(x) < 2)) return x - std::tanh(x);
  const Real square = x * x;
  Real bottom = 61;
  for (int k = 59; k >= 3; k -= 2) bottom = k + square / bottom;
  const Real t = square / bottom;
  return x * t / (1 + t);
}
OP_SAMPLES(tanhshrink) { return unary_family(tanhshrink, tanhshrink_reference, kFinite); }

/// Ops that exist for gradients, called by name. `absolute`: the slope of an activation has zeros, near which
/// the error is that of its terms, at most 1.6 epsilons of the gradient, which here is below 4.
SampleList backward_family(const char* name, std::function<Real(Real, Real)> exact, double absolute,
                           std::function<Tensor(const OpDef&, const Tensor&, const Tensor&)> call = nullptr) {
  const OpDef& op = *find_op(name);
  SampleList list;
  auto add = [&](std::string title, const Shape& shape) {
    list.push_back({.name = std::move(title),
                    .inputs = {randn(shape, 1), uniform(shape, -3, 3, 2)},
                    .call =
                        [&op, call](const TensorList& in) {
                          if (call) return TensorList{call(op, in[0], in[1])};
                          const NoAttrs none;
                          return TensorList{apply(op, {&in[0], &in[1]}, AttrsRef(op.attrs, &none))};
                        },
                    .reference = map_real(exact),
                    .absolute = absolute});
  };
  add("matrix", {3, 7});
  add("large", {90, 401});
  list.back().gradient = false;
  return list;
}
OP_SAMPLES(tanh_backward) {
  return backward_family(
      "tanh_backward", [](Real g, Real y) { return g * (1 - y) * (1 + y); }, 0);
}
OP_SAMPLES(sigmoid_backward) {
  return backward_family(
      "sigmoid_backward", [](Real g, Real y) { return g * y * (1 - y); }, 0);
}
OP_SAMPLES(relu_backward) {
  return backward_family(
      "relu_backward", [](Real g, Real y) { return y > 0 ? g : 0; }, 0);
}
OP_SAMPLES(leaky_relu_backward) {
  return backward_family(
      "leaky_relu_backward", [](Real g, Real x) { return x > 0 ? g : g * 0.2L; }, 0,
      [](const OpDef& op, const Tensor& g, const Tensor& x) {
        const SlopeAttrs attrs{0.2};
        return apply(op, {&g, &x}, AttrsRef(op.attrs, &attrs));
      });
}
OP_SAMPLES(silu_backward) {
  return backward_family(
      "silu_backward", [](Real g, Real x) { return g * (logistic(x) + x * logistic(x) * logistic(-x)); }, 6);
}
OP_SAMPLES(gelu_backward) {
  return backward_family(
      "gelu_backward",
      [](Real g, Real x) {
        return g * (normal_cdf(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi_v<Real>));
      },
      6);
}
OP_SAMPLES(gelu_tanh_backward) {
  return backward_family(
      "gelu_tanh_backward",
      [](Real g, Real x) {
        const Real k = std::sqrt(2 / std::numbers::pi_v<Real>);
        const Real t = std::tanh(k * (x + 0.044715L * x * x * x));
        return g * ((1 + t) / 2 + x * (1 - t * t) * k * (1 + 3 * 0.044715L * x * x) / 2);
      },
      6);
}

}  // namespace
}  // namespace sorus::samples
