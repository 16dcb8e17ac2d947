#include "tests/math/accuracy.h"

namespace sorus::math::test {
namespace {

constexpr long double kPi = 3.14159265358979323846264338327950288420L;

/// Stirling's series after moving the argument beyond 40.
long double digamma_reference(long double x) {
  if (std::isnan(x)) return x;
  if (x == 0) return std::copysign(std::numeric_limits<long double>::infinity(), -x);
  if (std::isinf(x)) return x > 0 ? x : std::numeric_limits<long double>::quiet_NaN();
  if (x < 0) {
    const long double f = std::fmod(x, 1.0L);
    if (f == 0) return std::numeric_limits<long double>::quiet_NaN();
    return digamma_reference(1 - x) - kPi / std::tan(kPi * f);
  }
  long double sum = 0;
  for (; x < 40; x += 1) sum -= 1 / x;
  const long double z = 1 / (x * x);
  const long double series =
      z * (1.0L / 12 -
           z * (1.0L / 120 - z * (1.0L / 252 - z * (1.0L / 240 - z * (1.0L / 132 - z * 691 / 32760)))));
  return sum + std::log(x) - 1 / (2 * x) - series;
}

template <class T>
ScalarLane<T> lgamma_positive_argument(ScalarLane<T> x) {
  return lgamma(abs(x));
}
/// Near the zero of digamma the bound is absolute (functions/gamma.inc), and the reference cancels too.
template <class T>
constexpr T kDigammaZero = T(1.4616321449683623L);
template <class T>
constexpr T kZeroRadius = sizeof(T) == 4 ? T(0x1p-7) : T(0.2);

template <class T>
ScalarLane<T> digamma_away_from_zero(ScalarLane<T> x) {
  using V = ScalarLane<T>;
  return digamma(select(abs(abs(x) - V{kDigammaZero<T>}) < V{kZeroRadius<T>}, V{1}, abs(x)));
}
long double lgamma_reference(long double x) { return std::lgamma(std::fabs(x)); }
template <class T>
long double digamma_away_reference(long double x) {
  const T a = std::fabs(static_cast<T>(x));
  return digamma_reference(std::fabs(a - kDigammaZero<T>) < kZeroRadius<T> ? T(1) : a);
}

template <class T>
std::vector<UnaryCase<T>> cases() {
  return {
      {"lgamma", lgamma_positive_argument<T>, lgamma_reference, 2.0},
      {"digamma", digamma_away_from_zero<T>, digamma_away_reference<T>, 1.5},
  };
}

/// Below zero the error is counted in ulp of the larger of one and the terms of the reflection.
template <class T>
void check_negative() {
  double worst_lgamma = 0;
  double worst_digamma = 0;
  for (int i = 1; i < 20'000; ++i) {
    const T x = T(-30.0 * i / 20'000);
    const T ulp = std::numeric_limits<T>::epsilon();
    const long double want = std::lgamma(static_cast<long double>(x));
    if (x == std::floor(x)) {
      EXPECT_EQ(lgamma(ScalarLane<T>{x}).v, std::numeric_limits<T>::infinity());
      EXPECT_TRUE(std::isnan(digamma(ScalarLane<T>{x}).v));
      continue;
    }
    const long double scale =
        std::fmax(1.0L, std::fmax(std::fabs(want), std::fabs(std::lgamma(-(long double)x))));
    worst_lgamma =
        std::fmax(worst_lgamma, double(std::fabs(lgamma(ScalarLane<T>{x}).v - want) / (scale * ulp)));
    const long double psi = digamma_reference(x);
    const long double psi_scale = std::fmax(std::fabs(psi), std::fabs(digamma_reference(1 - (long double)x)));
    worst_digamma =
        std::fmax(worst_digamma, double(std::fabs(digamma(ScalarLane<T>{x}).v - psi) / (psi_scale * ulp)));
  }
  EXPECT_LE(worst_lgamma, 2.0);
  EXPECT_LE(worst_digamma, 2.0);
}

TEST(Gamma, float32) { check(cases<float>()); }
TEST(Gamma, float64) { check(cases<double>()); }
TEST(Gamma, negative_float32) { check_negative<float>(); }
TEST(Gamma, negative_float64) { check_negative<double>(); }

TEST(Gamma, digamma_near_its_zero) {
  long double worst = 0;
  for (int i = -1000; i <= 1000; ++i) {
    const float x = kDigammaZero<float> + float(i) * 0x1p-17f;
    worst = std::fmax(worst, std::fabs(digamma(ScalarLane<float>{x}).v - digamma_reference(x)));
  }
  EXPECT_LE(worst, 0x1p-30);
}

TEST(Gamma, infinite_arguments) {
  using V = ScalarLane<float>;
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(lgamma(V{-infinity}).v, infinity);
  EXPECT_TRUE(std::isnan(digamma(V{-infinity}).v));
  EXPECT_EQ(digamma(V{-0.0f}).v, infinity);
  EXPECT_EQ(digamma(V{0.0f}).v, -infinity);
}

}  // namespace
}  // namespace sorus::math::test
