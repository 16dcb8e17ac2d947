#include <algorithm>

#include "tests/math/accuracy.h"

namespace sorus::math::test {
namespace {

/// x erfc(-x / sqrt(2)) / 2, with the rounding of the argument made good.
long double gelu_reference(long double x) {
  constexpr long double kRoot = 0.70710678118654752440084436210484903928L;
  constexpr long double kRootLow = 1.895032559e-20L;
  if (std::isinf(x)) return x > 0 ? x : std::numeric_limits<long double>::quiet_NaN();
  const long double a = -x * kRoot;
  const long double low = std::fma(-x, kRoot, -a) - x * kRootLow;
  return x * 0.5L * (std::erfc(a) - low * 1.12837916709551257390L * std::exp(-a * a));
}

long double gelu_tanh_reference(long double x) {
  if (std::isinf(x)) return x > 0 ? x : std::numeric_limits<long double>::quiet_NaN();
  const long double w = 1.59576912160573071175978423973752747390L * (x + 0.044715L * x * x * x);
  return x / (1 + std::exp(-w));
}

long double mish_reference(long double x) {
  if (std::isinf(x)) return x > 0 ? x : std::numeric_limits<long double>::quiet_NaN();
  if (x < -11000) return -0.0L;
  const long double e = std::exp(-std::fabs(x));
  return x < 0 ? x * e * (e + 2) / (e * e + 2 * e + 2) : x * (1 + 2 * e) / (1 + 2 * e + 2 * e * e);
}

long double selu_reference(long double x) {
  return 1.0507009873554804934193349852946L *
         (x > 0 ? x : 1.6732632423543772848170429916717L * std::expm1(x));
}

/// Near zero x t / (1 + t) with Lambert's continued fraction t = x^2 / (3 + x^2 / (5 + ...)), so that nothing
/// cancels.
long double tanhshrink_reference(long double x) {
  if (!(std::fabs(x) < 2)) return x - std::tanh(x);
  const long double square = x * x;
  long double bottom = 61;
  for (int k = 59; k >= 3; k -= 2) bottom = k + square / bottom;
  const long double t = square / bottom;
  return x * t / (1 + t);
}

/// Newton's method in long double from a rough start, on erfc where erf is near one.
long double erf_inverse_reference(long double x) {
  const long double a = std::fabs(x);
  if (!(a < 1))
    return a == 1 ? std::copysign(std::numeric_limits<long double>::infinity(), x) : std::nanl("");
  constexpr long double kHalfRootPi = 0.88622692545275801364908374167057259L;
  long double y = a < 0.8L ? a * kHalfRootPi : std::sqrt(-std::log(1 - a));
  for (int step = 0; step < 40; ++step) {
    const long double rest = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const long double u = rest * kHalfRootPi * std::exp(y * y);
    const long double change = u / (1 + u * y);
    y -= change;
    if (std::fabs(change) <= 1e-19L * y) break;
  }
  return std::copysign(y, x);
}

template <class T>
std::vector<UnaryCase<T>> cases() {
  using V = ScalarLane<T>;
  return {
      {"erf", erf<V>, std::erf, 1.0},
      {"erfc", erfc<V>, std::erfc, 1.9},
      {"erf_inverse", erf_inverse<V>, erf_inverse_reference, 1.1},
      {"gelu", gelu<V>, gelu_reference, 1.7},
      {"gelu_tanh", gelu_tanh<V>, gelu_tanh_reference, 1.9},
      {"mish", mish<V>, mish_reference, 2},
      {"selu", selu<V>, selu_reference, 1.6},
      {"tanhshrink", tanhshrink<V>, tanhshrink_reference, 1.6},
  };
}

long double gelu_slope_reference(long double x) {
  return 0.5L * std::erfc(-x * 0.70710678118654752440L) + x * std::exp(-x * x / 2) * 0.39894228040143267794L;
}

long double gelu_tanh_slope_reference(long double x) {
  const long double k = 1.59576912160573071176L;
  const long double w = k * (x + 0.044715L * x * x * x);
  const long double s = 1 / (1 + std::exp(-w)), rest = 1 / (1 + std::exp(w));
  return s + x * s * rest * k * (1 + 3 * 0.044715L * x * x);
}

/// Slopes cross 0 between two numbers: their error is counted in epsilons, and far below zero, where gelu's
/// is relative, in parts of the value.
TEST(Erf, slopes_of_gelu) {
  using V = ScalarLane<float>;
  double worst = 0, worst_of_tanh = 0, worst_far = 0;
  for (float x = -13.0F; x < 13.0F; x += 1.1e-4F) {
    const long double slope = gelu_slope_reference(x);
    const auto error = static_cast<double>(std::fabs(gelu_slope(V{x}).v - slope)) * 0x1p23;
    const auto of_tanh =
        static_cast<double>(std::fabs(gelu_tanh_slope(V{x}).v - gelu_tanh_slope_reference(x))) * 0x1p23;
    worst = std::max(worst, error);
    worst_of_tanh = std::max(worst_of_tanh, of_tanh);
    if (x < -2) worst_far = std::max(worst_far, error / static_cast<double>(-slope));
  }
  std::printf("slopes: gelu %.3f epsilons, below -2 %.3f of the value, gelu_tanh %.3f\n", worst, worst_far,
              worst_of_tanh);
  EXPECT_LE(worst, 0.8);
  EXPECT_LE(worst_far, 3);
  EXPECT_LE(worst_of_tanh, 1.3);
  for (float infinite : {INFINITY, -INFINITY}) {
    EXPECT_EQ(gelu_slope(V{infinite}).v, infinite > 0 ? 1 : 0);
    EXPECT_EQ(gelu_tanh_slope(V{infinite}).v, infinite > 0 ? 1 : 0);
  }
  EXPECT_TRUE(std::isnan(gelu_slope(V{NAN}).v) && std::isnan(gelu_tanh_slope(V{NAN}).v));
}

TEST(Erf, float32) { check(cases<float>()); }
TEST(Erf, float64) { check(cases<double>()); }

}  // namespace
}  // namespace sorus::math::test
