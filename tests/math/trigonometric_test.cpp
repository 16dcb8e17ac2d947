#include "tests/math/accuracy.h"

namespace sorus::math::test {
namespace {

template <class T>
std::vector<UnaryCase<T>> cases() {
  using V = ScalarLane<T>;
  return {
      {"sin", sin<V>, std::sin, 1.0},    {"cos", cos<V>, std::cos, 1.0},    {"tan", tan<V>, std::tan, 1.0},
      {"asin", asin<V>, std::asin, 1.0}, {"acos", acos<V>, std::acos, 1.0}, {"atan", atan<V>, std::atan, 1.0},
  };
}

template <class T>
std::vector<BinaryCase<T>> binary_cases() {
  return {{"atan2", atan2<ScalarLane<T>>, std::atan2, 1.0}};
}

TEST(Trigonometric, float32) { check(cases<float>()); }
TEST(Trigonometric, two_arguments_float32) { check(binary_cases<float>()); }
TEST(Trigonometric, two_arguments_float64) { check(binary_cases<double>()); }
TEST(Trigonometric, float64) { check(cases<double>()); }

}  // namespace
}  // namespace sorus::math::test
