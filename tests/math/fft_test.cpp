#include "sorus/math/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "sorus/base/error.h"

namespace sorus::math {
namespace {

using Wide = std::complex<long double>;

template <class T>
std::vector<std::complex<T>> noise(int64_t n) {
  std::mt19937 generator(static_cast<uint32_t>(n));
  std::uniform_real_distribution<T> draw(-1, 1);
  std::vector<std::complex<T>> x(static_cast<size_t>(n));
  for (auto& v : x) v = {draw(generator), draw(generator)};
  return x;
}

/// The sum as it is written, in long double.
template <class T>
std::vector<Wide> direct(const std::vector<std::complex<T>>& x) {
  auto n = static_cast<int64_t>(x.size());
  std::vector<Wide> turns(x.size());
  for (int64_t k = 0; k < n; ++k)
    turns[static_cast<size_t>(k)] = std::polar<long double>(
        1, -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n));
  std::vector<Wide> y(x.size());
  for (int64_t k = 0; k < n; ++k)
    for (int64_t j = 0; j < n; ++j)
      y[static_cast<size_t>(k)] += Wide(x[static_cast<size_t>(j)]) * turns[static_cast<size_t>(j * k % n)];
  return y;
}

/// The largest difference, measured by the root of the sum of squares of `x`, in epsilons of T.
template <class T>
long double error_of(const std::complex<T>* y, const std::vector<Wide>& truth, size_t count) {
  long double worst = 0;
  long double size = 0;
  for (const Wide& v : truth) size += std::norm(v) / static_cast<long double>(truth.size());
  for (size_t k = 0; k < count; ++k) worst = std::max(worst, std::abs(Wide(y[k]) - truth[k]));
  return worst / std::sqrt(size) / std::numeric_limits<T>::epsilon();
}

std::vector<int64_t> lengths() {
  std::vector<int64_t> n;
  for (int64_t k = 1; k <= 64; ++k) n.push_back(k);
  for (int64_t k : {77, 143, 169, 211, 256, 400, 512, 1001, 1009, 1018}) n.push_back(k);
  return n;
}

template <class T>
class FftOf : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(FftOf, Types);

TYPED_TEST(FftOf, SumsAsWritten) {
  for (int64_t n : lengths()) {
    auto x = noise<TypeParam>(n);
    auto truth = direct(x);
    auto y = x;
    Fft<TypeParam> fft(n);
    fft.forward(y.data());
    EXPECT_LT(error_of(y.data(), truth, y.size()), 40) << n;
    fft.backward(y.data());
    for (size_t k = 0; k < y.size(); ++k)
      EXPECT_NEAR(std::abs(y[k] / static_cast<TypeParam>(n) - x[k]), 0,
                  64 * std::numeric_limits<TypeParam>::epsilon())
          << n;
  }
}

TYPED_TEST(FftOf, RealNumbersGiveHalf) {
  for (int64_t n : lengths()) {
    auto x = noise<TypeParam>(n);
    std::vector<TypeParam> real;
    for (auto& v : x) {
      real.push_back(v.real());
      v = v.real();
    }
    auto truth = direct(x);
    std::vector<std::complex<TypeParam>> y(static_cast<size_t>(n / 2 + 1));
    Fft<TypeParam> fft(n);
    fft.forward_real(real.data(), y.data());
    EXPECT_LT(error_of(y.data(), truth, y.size()), 40) << n;
    y[0] += std::complex<TypeParam>(0, 3);  // cannot be there, and does not count
    std::vector<TypeParam> back(real.size());
    fft.backward_real(y.data(), back.data());
    for (size_t k = 0; k < back.size(); ++k)
      EXPECT_NEAR(back[k] / static_cast<TypeParam>(n), real[k],
                  64 * std::numeric_limits<TypeParam>::epsilon())
          << n;
  }
}

TEST(Fft, RefusesNoLength) { EXPECT_THROW(Fft<double>(0), ValueError); }

}  // namespace
}  // namespace sorus::math
