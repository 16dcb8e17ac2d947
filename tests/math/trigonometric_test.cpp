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

/// The arguments of each format that come closest to a multiple of pi/2, where a reduction loses most bits.
TEST(Trigonometric, worst_reductions) {
  using Float = ScalarLane<float>;
  using Double = ScalarLane<double>;
  for (const float x : {0x1.f37c8ap95f, 0x1.6ac5b2p+115f, 0x1.dfcb78p+125f, 16367173 * 0x1p72f}) {
    EXPECT_LE(ulp_error(sin(Float{x}).v, std::sin(static_cast<long double>(x))), 0.8);
    EXPECT_LE(ulp_error(cos(Float{x}).v, std::cos(static_cast<long double>(x))), 0.8);
    EXPECT_LE(ulp_error(tan(Float{x}).v, std::tan(static_cast<long double>(x))), 0.9);
  }
  const double x = 0x1.6ac5b262ca1ffp+849;
  EXPECT_LT(std::fabs(cos(Double{x}).v), 0x1p-60);
  EXPECT_LE(ulp_error(sin(Double{x}).v, std::sin(static_cast<long double>(x))), 0.8);
  EXPECT_LE(ulp_error(cos(Double{x}).v, std::cos(static_cast<long double>(x))), 0.8);
  EXPECT_LE(ulp_error(tan(Double{x}).v, std::tan(static_cast<long double>(x))), 0.9);
}

}  // namespace
}  // namespace sorus::math::test
