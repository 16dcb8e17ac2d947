#pragma once

// Measures scalar functions against long double references (64 bits of precision, so their own error is below
// 0.002 ulp of a double). An error is counted in units in the last place of the reference value in the tested
// type, denormals included; NaN must meet NaN, and zeros and infinities must agree in sign.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "sorus/math/functions.h"
#include "sorus/math/scalar_lane.h"

namespace sorus::math::test {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
using Unary = ScalarLane<T> (*)(ScalarLane<T>);
template <class T>
using Binary = ScalarLane<T> (*)(ScalarLane<T>, ScalarLane<T>);

template <class T, class Function, class Reference>
struct Case {
  std::string name;
  Function function;
  Reference reference;
  double bound;  ///< of the error, in ulp
};
template <class T>
using UnaryCase = Case<T, Unary<T>, long double (*)(long double)>;
template <class T>
using BinaryCase = Case<T, Binary<T>, long double (*)(long double, long double)>;

/// The error of `got` in ulp; infinity where a special value is missed.
template <class T>
double ulp_error(T got, long double want) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  using Limits = std::numeric_limits<T>;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  if (std::isinf(want) || want == 0) {
    const bool same = static_cast<long double>(got) == want && std::signbit(got) == std::signbit(want);
    return same ? 0 : kWrong;
  }
  if (std::signbit(got) != std::signbit(want)) return kWrong;
  int exponent = std::ilogb(want);
  if (exponent < Limits::min_exponent - 1) exponent = Limits::min_exponent - 1;
  if (exponent > Limits::max_exponent - 1) exponent = Limits::max_exponent - 1;
  // Infinity stands for the value that would follow the largest one.
  long double value = got;
  if (std::isinf(got)) value = std::copysign(std::scalbn(1.0L, Limits::max_exponent), want);
  if (std::isinf(got) && std::fabs(want) > Limits::max()) return 0;
  return static_cast<double>(std::scalbn(std::fabs(value - want), Limits::digits - 1 - exponent));
}

/// Where functions tend to break: zeros, denormals, ends of the format, powers of two and their neighbours,
/// NaN.
template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  auto with_neighbours = [&](T x) {
    T up = x;
    T down = x;
    values.push_back(x);
    for (int i = 0; i < 3; ++i) {
      up = std::nextafter(up, Limits::infinity());
      down = std::nextafter(down, -Limits::infinity());
      values.push_back(up);
      values.push_back(down);
    }
  };
  for (T x :
       {T(0), Limits::denorm_min(), Limits::min(), Limits::max(), Limits::infinity(), Limits::quiet_NaN()}) {
    values.push_back(-x);
    with_neighbours(x);
  }
  for (int e = Limits::min_exponent - Limits::digits; e < Limits::max_exponent; ++e) {
    with_neighbours(std::scalbn(T(1), e));
    with_neighbours(-std::scalbn(T(1), e));
  }
  for (int i = -1200; i <= 1200; ++i) with_neighbours(T(i) / T(4));
  for (int i = -400; i <= 400; ++i) with_neighbours(T(i) * T(1.57079632679489661923L));
  for (int i = -1100; i <= 1100; ++i) with_neighbours(T(i) * T(0.69314718055994530942L));
  return values;
}

/// Values whose pairs are cases of their own: specials, integers odd and even, halves, large and small.
template <class T>
std::vector<T> edge_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  const T odd = std::scalbn(T(1), Limits::digits) - 1;
  for (T x : {T(0),
              Limits::denorm_min(),
              Limits::min(),
              T(1e-20),
              T(0.25),
              T(0.5),
              T(0.75),
              T(1) - Limits::epsilon(),
              T(1),
              T(1) + Limits::epsilon(),
              T(1.5),
              T(2),
              T(2.5),
              T(3),
              T(4),
              T(5),
              T(7),
              T(100),
              T(127),
              T(128),
              T(149),
              T(1023),
              T(1074),
              odd - 1,
              odd,
              odd + 1,
              4 * odd,
              T(1e20),
              Limits::max() / 2,
              Limits::max(),
              Limits::infinity(),
              Limits::quiet_NaN()}) {
    values.push_back(x);
    values.push_back(-x);
  }
  return values;
}

/// `count` representations spread evenly over all of them, NaNs and both signs included.
template <class T>
void for_all_magnitudes(std::uint64_t count, auto&& visit) {
  const Bits<T> step = (sizeof(T) == 4 ? (std::uint64_t{1} << 32) / count : ~std::uint64_t{0} / count) | 1;
  Bits<T> pattern = 0x9e3779b97f4a7c15u % step;
  for (std::uint64_t i = 0; i < count; ++i, pattern += step) visit(std::bit_cast<T>(pattern));
}

/// `count` values per interval, evenly spread, around which functions change most.
template <class T>
void for_common_values(std::uint64_t count, auto&& visit) {
  for (double limit : {0.01, 1.0, 2.0, 10.0, 40.0, 800.0}) {
    for (std::uint64_t i = 0; i < count; ++i)
      visit(T(limit * (2.0 * (double(i) + 0.37) / double(count) - 1)));
  }
}

/// The worst error over the sweep, with where it is.
template <class T>
struct Worst {
  double error = 0;
  T x{}, y{};
};

template <class T>
Worst<T> measure(const UnaryCase<T>& c, std::uint64_t count) {
  Worst<T> worst;
  auto visit = [&](T x) {
    const T got = c.function({x}).v;
    const double error = ulp_error(got, c.reference(x));
    if (error > worst.error) worst = {error, x, T(0)};
  };
  for (T x : special_values<T>()) visit(x);
  for_all_magnitudes<T>(count, visit);
  for_common_values<T>(count / 10, visit);
  return worst;
}

/// Pairs of values whose ratio, sum and product are of every kind, and the cross of the special values.
template <class T>
Worst<T> measure(const BinaryCase<T>& c, std::uint64_t count) {
  Worst<T> worst;
  auto visit = [&](T x, T y) {
    const T got = c.function({x}, {y}).v;
    const double error = ulp_error(got, c.reference(x, y));
    if (error > worst.error) worst = {error, x, y};
  };
  const std::vector<T> edges = edge_values<T>();
  for (T x : edges) {
    for (T y : edges) visit(x, y);
  }
  std::uint64_t state = 12345;
  auto next = [&] {
    return state = state * 6364136223846793005u + 1442695040888963407u, state ^ (state >> 29);
  };
  auto uniform = [&] { return static_cast<double>(next() >> 12) * 0x1p-52; };
  for (std::uint64_t i = 0; i < count; ++i) {
    visit(std::bit_cast<T>(Bits<T>(next() >> 7)), std::bit_cast<T>(Bits<T>(next() >> 7)));
    visit(T(20 * uniform() - 10), T(20 * uniform() - 10));
    visit(T(1 + 0.2 * (uniform() - 0.5)), T(std::exp(12 * uniform() - 2) * (i % 2 ? 1 : -1)));
    visit(T(std::exp(60 * uniform() - 30)), T(6 * uniform() - 3));
  }
  return worst;
}

/// Sets how many points are tried per function: SORUS_SWEEP=1000000, say. The default keeps the test short.
inline std::uint64_t sweep_count() {
  const char* text = std::getenv("SORUS_SWEEP");
  return text ? std::strtoull(text, nullptr, 10) : 100'000;
}

template <class T>
void report(const std::string& name, const Worst<T>& worst) {
  std::printf("%-14s %-6s %8.3f ulp at %a %a\n", name.c_str(), sizeof(T) == 4 ? "float" : "double",
              worst.error, double(worst.x), double(worst.y));
}

template <class T>
void check(const std::vector<UnaryCase<T>>& cases) {
  for (const auto& c : cases) {
    const Worst<T> worst = measure(c, sweep_count());
    report(c.name, worst);
    EXPECT_LE(worst.error, c.bound) << c.name << " of " << worst.x << " gives " << c.function({worst.x}).v
                                    << ", want " << c.reference(worst.x);
  }
}

template <class T>
void check(const std::vector<BinaryCase<T>>& cases) {
  for (const auto& c : cases) {
    const Worst<T> worst = measure(c, sweep_count());
    report(c.name, worst);
    EXPECT_LE(worst.error, c.bound) << c.name << " of " << worst.x << ", " << worst.y << " gives "
                                    << c.function({worst.x}, {worst.y}).v << ", want "
                                    << c.reference(worst.x, worst.y);
  }
}

}  // namespace sorus::math::test
