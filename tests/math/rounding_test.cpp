#include "tests/math/accuracy.h"

namespace sorus::math::test {
namespace {

long double sign_reference(long double x) {
  return std::isnan(x) ? x : static_cast<long double>((x > 0) - (x < 0));
}
long double maximum_reference(long double a, long double b) { return a >= b || std::isnan(a) ? a : b; }
long double minimum_reference(long double a, long double b) { return a <= b || std::isnan(a) ? a : b; }
long double fmax_reference(long double a, long double b) { return a >= b || std::isnan(b) ? a : b; }
long double fmin_reference(long double a, long double b) { return a <= b || std::isnan(b) ? a : b; }

/// NumPy's definition, in the tested type: m + b rounds there.
template <class T>
long double remainder_reference(long double x, long double y) {
  const T b = static_cast<T>(y);
  const T m = std::fmod(static_cast<T>(x), b);
  if (m == 0) return std::copysign(T(0), b);
  return (m < 0) != (b < 0) ? m + b : m;
}

/// NumPy's definition.
template <class T>
long double floor_divide_reference(long double x, long double y) {
  const T a = static_cast<T>(x);
  const T b = static_cast<T>(y);
  const T m = std::fmod(a, b);
  if (b == 0) return a / b;
  T quotient = (a - m) / b;
  if (m != 0 && (m < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(T(0), a / b);
  const T down = std::floor(quotient);
  return quotient - down > T(0.5) ? down + 1 : down;
}

template <class T>
std::vector<UnaryCase<T>> cases() {
  return {{"sign", sign<ScalarLane<T>>, sign_reference, 0}};
}

template <class T>
std::vector<BinaryCase<T>> binary_cases() {
  using V = ScalarLane<T>;
  return {
      {"maximum", maximum<V>, maximum_reference, 0},
      {"minimum", minimum<V>, minimum_reference, 0},
      {"fmax", fmax<V>, fmax_reference, 0},
      {"fmin", fmin<V>, fmin_reference, 0},
      {"fmod", fmod<V>, std::fmod, 0},
      {"remainder", remainder<V>, remainder_reference<T>, 0},
      {"floor_divide", floor_divide<V>, floor_divide_reference<T>, 0},
  };
}

TEST(Rounding, float32) { check(cases<float>()); }
TEST(Rounding, float64) { check(cases<double>()); }
TEST(Rounding, two_arguments_float32) { check(binary_cases<float>()); }
TEST(Rounding, two_arguments_float64) { check(binary_cases<double>()); }

}  // namespace
}  // namespace sorus::math::test
