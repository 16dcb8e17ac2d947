#include "sorus/ops/elementwise/windows.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sorus/ops/elementwise/elementwise.h"

namespace sorus {
namespace {

/// f(t) at `length` even places t from 0 to 1.
template <class F>
Tensor window(std::string_view name, int64_t length, bool periodic, DType dtype, F f) {
  SORUS_CHECK(length >= 0, ValueError, "{}: window_length is out of range: got {}, need 0 or more", name,
              length);
  SORUS_CHECK(is_floating(dtype), DTypeError, "{}: dtype is not supported: got {}, need a floating one", name,
              dtype);
  const auto steps = static_cast<double>(std::max<int64_t>(length + (periodic ? 1 : 0) - 1, 1));
  // The tensor comes first, since it refuses what does not fit before anything is computed.
  Ref<Value> values = make_dense({DType::kFloat64, {}, Shape{length}});
  auto* at = reinterpret_cast<double*>(values->bytes());
  for (int64_t i = 0; i < length; ++i) at[i] = length == 1 ? 1.0 : f(static_cast<double>(i) / steps);
  return cast(Tensor(std::move(values)), dtype);
}

double cosine(double turns) { return std::cos(2 * std::numbers::pi * turns); }

/// The series of (x / 2)^2k / k!^2, whose terms are all positive.
double bessel_i0(double x) {
  const double square = x * x / 4;
  double term = 1;
  double sum = 1;
  for (double k = 1; term > sum * 1e-17; ++k) {
    term *= square / (k * k);
    sum += term;
  }
  return sum;
}

}  // namespace

Tensor hann_window(int64_t length, bool periodic, DType dtype) {
  return window("hann_window", length, periodic, dtype, [](double t) { return 0.5 - 0.5 * cosine(t); });
}

Tensor hamming_window(int64_t length, bool periodic, double alpha, double beta, DType dtype) {
  return window("hamming_window", length, periodic, dtype,
                [=](double t) { return alpha - beta * cosine(t); });
}

Tensor blackman_window(int64_t length, bool periodic, DType dtype) {
  return window("blackman_window", length, periodic, dtype,
                [](double t) { return 0.42 - 0.5 * cosine(t) + 0.08 * cosine(2 * t); });
}

Tensor bartlett_window(int64_t length, bool periodic, DType dtype) {
  return window("bartlett_window", length, periodic, dtype, [](double t) { return 1 - std::abs(2 * t - 1); });
}

Tensor kaiser_window(int64_t length, bool periodic, double beta, DType dtype) {
  SORUS_CHECK(std::abs(beta) <= 700, ValueError,
              "kaiser_window: beta is out of range: got {}, need -700 to 700", beta);
  return window("kaiser_window", length, periodic, dtype, [=](double t) {
    const double x = 2 * t - 1;
    return bessel_i0(beta * std::sqrt(std::max(1 - x * x, 0.0))) / bessel_i0(beta);
  });
}

}  // namespace sorus
