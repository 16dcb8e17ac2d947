#include "binding/functions.h"
#include "sorus/ops/elementwise/activation.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/elementwise/logic.h"

namespace sorus::python {
namespace {

/// clip with bounds that may be absent.
Tensor clip_optional(const Tensor& x, const Tensor& low, const Tensor& high) {
  SORUS_CHECK(low.defined() || high.defined(), ValueError,
              "clip: no bound: got neither a low nor a high one, need one");
  if (!high.defined()) return maximum(x, low);
  if (!low.defined()) return minimum(x, high);
  return clip(x, low, high);
}

}  // namespace

std::vector<Function> elementwise_functions() {
  return {
      function("abs", &sorus::abs, "x"),
      function("neg", &sorus::neg, "x"),
      function("exp", &sorus::exp, "x"),
      function("log", &sorus::log, "x"),
      function("sqrt", &sorus::sqrt, "x"),
      function("square", &sorus::square, "x"),
      function("exp2", &sorus::exp2, "x"),
      function("expm1", &sorus::expm1, "x"),
      function("log2", &sorus::log2, "x"),
      function("log10", &sorus::log10, "x"),
      function("log1p", &sorus::log1p, "x"),
      function("rsqrt", &sorus::rsqrt, "x"),
      function("cbrt", &sorus::cbrt, "x"),
      function("reciprocal", &sorus::reciprocal, "x"),
      function("sin", &sorus::sin, "x"),
      function("cos", &sorus::cos, "x"),
      function("tan", &sorus::tan, "x"),
      function("asin", &sorus::asin, "x"),
      function("acos", &sorus::acos, "x"),
      function("atan", &sorus::atan, "x"),
      function("sinh", &sorus::sinh, "x"),
      function("cosh", &sorus::cosh, "x"),
      function("asinh", &sorus::asinh, "x"),
      function("acosh", &sorus::acosh, "x"),
      function("atanh", &sorus::atanh, "x"),
      function("erf", &sorus::erf, "x"),
      function("erfc", &sorus::erfc, "x"),
      function("erfinv", &sorus::erfinv, "x"),
      function("floor", &sorus::floor, "x"),
      function("ceil", &sorus::ceil, "x"),
      function("trunc", &sorus::trunc, "x"),
      function("round", &sorus::round, "x"),
      function("sign", &sorus::sign, "x"),
      function("isnan", &sorus::isnan, "x"),
      function("isinf", &sorus::isinf, "x"),
      function("isfinite", &sorus::isfinite, "x"),
      function("logical_not", &sorus::logical_not, "x"),
      function("bitwise_not", &sorus::bitwise_not, "x"),
      function("stop_gradient", &sorus::stop_gradient, "x"),
      function("where", &where, "condition, a, b", kBoth << 1),
      function("cast", &cast, "x, dtype"),
      function("lerp", &lerp, "start, end, weight", 7),
      function("addcmul", &addcmul, "x, a, b, value=1"),
      function("addcdiv", &addcdiv, "x, a, b, value=1"),
      function("clip", &clip_optional, "x, low=None, high=None", 7),
  };
}

std::vector<Function> two_operand_functions() {
  return {
      function("add", &sorus::add, "a, b", kBoth),
      function("sub", &sorus::sub, "a, b", kBoth),
      function("mul", &sorus::mul, "a, b", kBoth),
      function("div", &sorus::div, "a, b", kBoth),
      function("floor_div", &sorus::floor_div, "a, b", kBoth),
      function("mod", &sorus::mod, "a, b", kBoth),
      function("pow", &sorus::pow, "a, b", kBoth),
      function("maximum", &sorus::maximum, "a, b", kBoth),
      function("minimum", &sorus::minimum, "a, b", kBoth),
      function("equal", &sorus::equal, "a, b", kBoth),
      function("not_equal", &sorus::not_equal, "a, b", kBoth),
      function("less", &sorus::less, "a, b", kBoth),
      function("less_equal", &sorus::less_equal, "a, b", kBoth),
      function("greater", &sorus::greater, "a, b", kBoth),
      function("greater_equal", &sorus::greater_equal, "a, b", kBoth),
      function("fmod", &sorus::fmod, "a, b", kBoth),
      function("fmax", &sorus::fmax, "a, b", kBoth),
      function("fmin", &sorus::fmin, "a, b", kBoth),
      function("atan2", &sorus::atan2, "a, b", kBoth),
      function("hypot", &sorus::hypot, "a, b", kBoth),
      function("nextafter", &sorus::nextafter, "a, b"),
      function("logaddexp", &sorus::logaddexp, "a, b", kBoth),
      function("logaddexp2", &sorus::logaddexp2, "a, b", kBoth),
      function("xlogy", &sorus::xlogy, "a, b", kBoth),
      function("logical_and", &sorus::logical_and, "a, b", kBoth),
      function("logical_or", &sorus::logical_or, "a, b", kBoth),
      function("logical_xor", &sorus::logical_xor, "a, b", kBoth),
      function("bitwise_and", &sorus::bitwise_and, "a, b", kBoth),
      function("bitwise_or", &sorus::bitwise_or, "a, b", kBoth),
      function("bitwise_xor", &sorus::bitwise_xor, "a, b", kBoth),
      function("shift_left", &sorus::shift_left, "a, b", kBoth),
      function("shift_right", &sorus::shift_right, "a, b", kBoth),
  };
}

std::vector<Function> activation_functions() {
  return {
      function("tanh", &sorus::tanh, "x"),
      function("sigmoid", &sorus::sigmoid, "x"),
      function("relu", &sorus::relu, "x"),
      function("gelu", &sorus::gelu, "x"),
      function("gelu_tanh", &sorus::gelu_tanh, "x"),
      function("silu", &sorus::silu, "x"),
      function("mish", &sorus::mish, "x"),
      function("log_sigmoid", &sorus::log_sigmoid, "x"),
      function("selu", &sorus::selu, "x"),
      function("tanhshrink", &sorus::tanhshrink, "x"),
      function("relu6", &sorus::relu6, "x"),
      function("hardsigmoid", &sorus::hardsigmoid, "x"),
      function("hardswish", &sorus::hardswish, "x"),
      function("softsign", &sorus::softsign, "x"),
      function("softplus", &softplus, "x, beta=1, threshold=20"),
      function("elu", &elu, "x, alpha=1"),
      function("celu", &celu, "x, alpha=1"),
      function("leaky_relu", &leaky_relu, "x, slope=0.01"),
      function("prelu", &prelu, "x, slope"),
      function("hardtanh", &hardtanh, "x, low=-1, high=1"),
      function("softshrink", &softshrink, "x, width=0.5"),
      function("hardshrink", &hardshrink, "x, width=0.5"),
      function("threshold", &threshold, "x, threshold, value"),
  };
}

}  // namespace sorus::python
