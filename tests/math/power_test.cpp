#include "tests/math/accuracy.h"

namespace sorus::math::test {
namespace {

long double rsqrt_reference(long double x) { return 1 / std::sqrt(x); }

template <class T>
std::vector<UnaryCase<T>> cases() {
  using V = ScalarLane<T>;
  return {
      {"asinh", asinh<V>, std::asinh, 1.6}, {"acosh", acosh<V>, std::acosh, 1.9},
      {"atanh", atanh<V>, std::atanh, 1.6}, {"rsqrt", rsqrt<V>, rsqrt_reference, 1.6},
      {"cbrt", cbrt<V>, std::cbrt, 0.6},
  };
}

template <class T>
std::vector<BinaryCase<T>> binary_cases() {
  using V = ScalarLane<T>;
  return {
      {"pow", pow<V>, std::pow, 1.0},
      {"hypot", hypot<V>, std::hypot, 0.8},
  };
}

TEST(Power, float32) { check(cases<float>()); }
TEST(Power, float64) { check(cases<double>()); }
TEST(Power, two_arguments_float32) { check(binary_cases<float>()); }
TEST(Power, two_arguments_float64) { check(binary_cases<double>()); }

}  // namespace
}  // namespace sorus::math::test
