#include "sorus/ops/elementwise/functions.h"

#include <cmath>
#include <numbers>

#include "sorus/ops/elementwise/elementwise.h"
#include "tests/ops/elementwise/families.h"

namespace sorus::samples {
namespace {

const Family kPositive{.low = 0.1L, .high = 5};
const Family kUnit{.low = -0.95L, .high = 0.95L};

OP_SAMPLES(exp) {
  return unary_family(exp, [](Real x) { return std::exp(x); });
}
OP_SAMPLES(exp2) {
  return unary_family(exp2, [](Real x) { return std::exp2(x); });
}
OP_SAMPLES(expm1) {
  return unary_family(expm1, [](Real x) { return std::expm1(x); });
}
OP_SAMPLES(log) {
  return unary_family(
      log, [](Real x) { return std::log(x); }, kPositive);
}
OP_SAMPLES(log2) {
  return unary_family(
      log2, [](Real x) { return std::log2(x); }, kPositive);
}
OP_SAMPLES(log10) {
  return unary_family(
      log10, [](Real x) { return std::log10(x); }, kPositive);
}
OP_SAMPLES(log1p) {
  return unary_family(
      log1p, [](Real x) { return std::log1p(x); }, kPositive);
}
OP_SAMPLES(sqrt) {
  return unary_family(sqrt, [](Real x) { return std::sqrt(x); }, {.low = 0.1L, .high = 5, .ulp = 0.51});
}
OP_SAMPLES(rsqrt) {
  return unary_family(
      rsqrt, [](Real x) { return 1 / std::sqrt(x); }, kPositive);
}
OP_SAMPLES(cbrt) {
  return unary_family(
      cbrt, [](Real x) { return std::cbrt(x); }, kPositive);
}
OP_SAMPLES(reciprocal) {
  return unary_family(reciprocal, [](Real x) { return 1 / x; }, {.low = 0.3L, .high = 5, .ulp = 0.51});
}
OP_SAMPLES(tanh) {
  return unary_family(tanh, [](Real x) { return std::tanh(x); });
}
OP_SAMPLES(sigmoid) {
  return unary_family(sigmoid, [](Real x) { return 1 / (1 + std::exp(-x)); });
}
OP_SAMPLES(sin) {
  return unary_family(sin, [](Real x) { return std::sin(x); });
}
OP_SAMPLES(cos) {
  return unary_family(cos, [](Real x) { return std::cos(x); });
}
OP_SAMPLES(tan) {
  return unary_family(tan, [](Real x) { return std::tan(x); }, {.low = -1.3L, .high = 1.3L});
}
OP_SAMPLES(asin) {
  return unary_family(
      asin, [](Real x) { return std::asin(x); }, kUnit);
}
OP_SAMPLES(acos) {
  return unary_family(
      acos, [](Real x) { return std::acos(x); }, kUnit);
}
OP_SAMPLES(atan) {
  return unary_family(atan, [](Real x) { return std::atan(x); });
}
OP_SAMPLES(sinh) {
  return unary_family(sinh, [](Real x) { return std::sinh(x); });
}
OP_SAMPLES(cosh) {
  return unary_family(cosh, [](Real x) { return std::cosh(x); });
}
OP_SAMPLES(asinh) {
  return unary_family(asinh, [](Real x) { return std::asinh(x); });
}
OP_SAMPLES(acosh) {
  return unary_family(acosh, [](Real x) { return std::acosh(x); }, {.low = 1.2L, .high = 9});
}
OP_SAMPLES(atanh) {
  return unary_family(
      atanh, [](Real x) { return std::atanh(x); }, kUnit);
}
OP_SAMPLES(erf) {
  return unary_family(erf, [](Real x) { return std::erf(x); });
}
OP_SAMPLES(erfc) {
  return unary_family(erfc, [](Real x) { return std::erfc(x); });
}
/// erf(x) - y without cancellation.
Real residual(Real x, Real y) {
  if (std::fabs(y) < 0.5L) return std::erf(x) - y;
  return y > 0 ? (1 - y) - std::erfc(x) : std::erfc(-x) - (1 + y);
}
/// erf, solved for its argument by Newton's method.
Real inverse_erf(Real y) {
  if (!(std::fabs(y) <= 1)) return NAN;
  if (std::fabs(y) == 1) return y * INFINITY;
  Real x = 0;
  for (int i = 0; i < 60; ++i)
    x -= residual(x, y) * std::exp(x * x) * std::sqrt(std::numbers::pi_v<Real>) / 2;
  return x;
}
OP_SAMPLES(erfinv) {
  return unary_family(erfinv, inverse_erf, {.low = -0.9L, .high = 0.9L, .special = false});
}

OP_SAMPLES(atan2) {
  return binary_family(
      atan2, [](Real y, Real x) { return std::atan2(y, x); }, kPositive);
}
OP_SAMPLES(nextafter) {
  SampleList list;
  const std::vector<std::pair<Real, Real>> pairs = {{1, 2},
                                                    {1, 0},
                                                    {-1, 0},
                                                    {-1, -2},
                                                    {0, 1},
                                                    {0, -1},
                                                    {-0.0L, 0},
                                                    {0, -0.0L},
                                                    {2, 2},
                                                    {NAN, 1},
                                                    {1, NAN},
                                                    {INFINITY, 1},
                                                    {INFINITY, INFINITY},
                                                    {-INFINITY, 0},
                                                    {1, INFINITY},
                                                    {1, -INFINITY}};
  for (DType dtype : wide_floats()) {
    HostArray a = items({});
    HostArray b = items({});
    for (auto [from, to] : pairs) {
      a.values.push_back(from);
      b.values.push_back(to);
    }
    a.shape = b.shape = {static_cast<int64_t>(pairs.size())};
    list.push_back({.name = "neighbours",
                    .inputs = {a, b},
                    .call = call_of(nextafter),
                    .reference = map_real([dtype](Real x, Real y) -> Real {
                      if (dtype == DType::kFloat64)
                        return std::nextafter(static_cast<double>(x), static_cast<double>(y));
                      return std::nextafter(static_cast<float>(x), static_cast<float>(y));
                    }),
                    .dtypes = {dtype},
                    .ulp = 0,
                    .gradient = false});
    Sample broadcast = list.back();
    broadcast.name = "broadcasting";
    broadcast.inputs = {randn({3, 1, 33}), randn({4, 1}, 2)};
    list.push_back(broadcast);
    broadcast.name = "empty";
    broadcast.inputs = {full({0, 3}, 1), full({3}, 1)};
    list.push_back(broadcast);
  }
  return list;
}
OP_ERRORS(nextafter) {
  return {{"dtype",
           [] {
             const Tensor half = to_tensor(items({1}), DType::kFloat16);
             (void)nextafter(half, half);
           },
           ErrorKind::kDType, "got float16, need float32 or float64"}};
}
OP_SAMPLES(hypot) {
  return binary_family(
      hypot, [](Real a, Real b) { return std::hypot(a, b); }, kPositive);
}
/// Samples of log(e^a + e^b) in a base: far and near operands, infinities, results near 0. The reference goes
/// by the distance of the operands.
SampleList sums_of_powers(Tensor (*f)(const Tensor&, const Tensor&),
                          const std::function<Real(Real)>& log_of_one_and) {
  const auto exact = [log_of_one_and](Real a, Real b) {
    if (std::isnan(a) || std::isnan(b)) return static_cast<Real>(NAN);
    const Real high = std::max(a, b);
    return std::isinf(high) ? high : high + log_of_one_and(std::min(a, b) - high);
  };
  SampleList list = binary_family(f, exact);
  for (Sample& s : binary_family(f, exact, {.low = -40, .high = 40, .gradient = false, .special = false}))
    list.push_back(std::move(s));
  list.push_back({.name = "near zero",
                  .inputs = {uniform({90}, -0.7L, -0.69L, 1), uniform({40, 1}, -0.7L, -0.69L, 2)},
                  .call = call_of(f),
                  .reference = map_real(exact),
                  .gradient = false});
  for (Sample& s : list) s.absolute = 0.15;  // where the result is near 0
  return list;
}
OP_SAMPLES(logaddexp) {
  return sums_of_powers(logaddexp, [](Real d) { return std::log1p(std::exp(d)); });
}
OP_SAMPLES(logaddexp2) {
  return sums_of_powers(logaddexp2,
                        [](Real d) { return std::log1p(std::exp2(d)) / std::numbers::ln2_v<Real>; });
}
OP_SAMPLES(xlogy) {
  SampleList list = binary_family(xlogy, [](Real x, Real y) { return x * std::log(y); },
                                  {.low = 0.1L, .high = 5, .special = false});
  list.push_back({.name = "zeros",
                  .inputs = {items({0, 0, 0, 0}), items({0, -1, INFINITY, 2})},
                  .call = call_of(xlogy),
                  .reference = [](const std::vector<HostArray>&) { return std::vector{full({4}, 0)}; },
                  .gradient = false});
  return list;
}
OP_SAMPLES(pow) {
  SampleList list =
      binary_family(pow, [](Real a, Real b) { return std::pow(a, b); }, {.low = 0.2L, .high = 3});
  for (Sample& s : binary_family(pow, [](Real a, Real b) { return std::pow(a, b); },
                                 {.dtypes = integer_types(),
                                 .low = 0,
                                 .high = 3,
                                 .gradient = false,
                                 .special = false,
                                 .integral = true}))
    list.push_back(std::move(s));
  list.push_back({.name = "integers and negative exponents",
                  .inputs = {items({1, -1, -1, 2, 0}), items({-3, -2, -3, -1, -1})},
                  .call = call_of(pow),
                  .reference =
                      [](const std::vector<HostArray>&) {
                        return std::vector{items({1, 1, -1, 0, 0})};
                      },
                  .dtypes = {DType::kInt8, DType::kInt32, DType::kInt64}});
  return list;
}

Real python_mod(Real a, Real b) {
  if (b == 0) return NAN;
  Real r = std::fmod(a, b);
  if (r != 0 && (r < 0) != (b < 0)) r += b;
  return r;
}
const Family kDividends{.dtypes = floats(), .low = 0.3L, .high = 5, .ulp = 0.51, .special = false};
const Family kIntegerDividends{
    .dtypes = integer_types(), .low = 1, .high = 100, .gradient = false, .integral = true};

SampleList division(Tensor (*f)(const Tensor&, const Tensor&), const std::function<Real(Real, Real)>& exact,
                    std::vector<Real> signs) {
  SampleList list = binary_family(f, exact, kDividends);
  for (Sample& s : binary_family(f, exact, kIntegerDividends)) list.push_back(std::move(s));
  std::vector<DType> dtypes = floats();
  for (DType t : {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64}) dtypes.push_back(t);
  list.push_back({.name = "signs",
                  .inputs = {items({7, -7, 7, -7, 6, -6}), items({3, 3, -3, -3, 3, 3})},
                  .call = call_of(f),
                  .reference = [signs](const std::vector<HostArray>&) { return std::vector{items(signs)}; },
                  .dtypes = dtypes,
                  .gradient = false});
  list.push_back({.name = "integers by zero and the least integer by -1",
                  .inputs = {items({5, -5, 0}), items({0, 0, 0})},
                  .call = call_of(f),
                  .reference = [](const std::vector<HostArray>&) { return std::vector{full({3}, 0)}; },
                  .dtypes = {DType::kInt8, DType::kInt32, DType::kInt64}});
  return list;
}
OP_SAMPLES(floor_div) {
  SampleList list =
      division(floor_div, [](Real a, Real b) { return std::floor(a / b); }, {2, -3, -3, 2, 2, -2});
  list.push_back({.name = "the least integer by -1 wraps",
                  .inputs = {items({-128}), items({-1})},
                  .call = call_of(floor_div),
                  .reference = [](const std::vector<HostArray>&) { return std::vector{items({-128})}; },
                  .dtypes = {DType::kInt8}});
  return list;
}
OP_SAMPLES(mod) { return division(mod, python_mod, {1, 2, -2, -1, 0, 0}); }
OP_SAMPLES(fmod) {
  return division(fmod, [](Real a, Real b) { return std::fmod(a, b); }, {1, -1, 1, -1, 0, 0});
}

Real nan_or(bool take_first, Real a, Real b) {
  return std::isnan(a) || std::isnan(b) ? NAN : take_first ? a : b;
}
OP_SAMPLES(maximum) {
  SampleList list = binary_family(maximum, [](Real a, Real b) { return nan_or(a > b, a, b); }, {.ulp = 0});
  for (Sample& s : binary_family(maximum, [](Real a, Real b) { return std::max(a, b); },
                                 {.dtypes = any_type(),
                                 .low = 0,
                                 .high = 90,
                                 .ulp = 0,
                                 .gradient = false,
                                 .special = false,
                                 .integral = true}))
    list.push_back(std::move(s));
  return list;
}
OP_SAMPLES(minimum) {
  SampleList list = binary_family(minimum, [](Real a, Real b) { return nan_or(a < b, a, b); }, {.ulp = 0});
  for (Sample& s : binary_family(minimum, [](Real a, Real b) { return std::min(a, b); },
                                 {.dtypes = any_type(),
                                 .low = 0,
                                 .high = 90,
                                 .ulp = 0,
                                 .gradient = false,
                                 .special = false,
                                 .integral = true}))
    list.push_back(std::move(s));
  return list;
}
OP_SAMPLES(fmax) {
  return binary_family(fmax, [](Real a, Real b) { return std::fmax(a, b); }, {.ulp = 0});
}
OP_SAMPLES(fmin) {
  return binary_family(fmin, [](Real a, Real b) { return std::fmin(a, b); }, {.ulp = 0});
}

const Family kRounding{.low = -90, .high = 90, .ulp = 0};
OP_SAMPLES(floor) {
  return unary_family(
      floor, [](Real x) { return std::floor(x); }, kRounding);
}
OP_SAMPLES(ceil) {
  return unary_family(
      ceil, [](Real x) { return std::ceil(x); }, kRounding);
}
OP_SAMPLES(trunc) {
  return unary_family(
      trunc, [](Real x) { return std::trunc(x); }, kRounding);
}
OP_SAMPLES(round) {
  SampleList list = unary_family(
      round, [](Real x) { return std::nearbyint(x); }, kRounding);
  for (Sample& s : unary_family(round, [](Real x) { return x; },
                                {.dtypes = integer_types(),
                                .low = 0,
                                .high = 90,
                                .gradient = false,
                                .special = false,
                                .integral = true}))
    list.push_back(std::move(s));
  return list;
}

SampleList with_signed(Tensor (*f)(const Tensor&), const std::function<Real(Real)>& exact, double ulp) {
  SampleList list = unary_family(f, exact, {.ulp = ulp});
  for (Sample& s : unary_family(f, exact,
                                {.dtypes = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64},
                                .low = -11,
                                .high = 11,
                                .gradient = false,
                                .special = false,
                                .integral = true}))
    list.push_back(std::move(s));
  for (Sample& s : unary_family(f, exact,
                                {.dtypes = integer_types(),
                                .low = 0,
                                .high = 11,
                                .gradient = false,
                                .special = false,
                                .integral = true}))
    list.push_back(std::move(s));
  return list;
}
OP_SAMPLES(abs) {
  return with_signed(
      abs, [](Real x) { return std::fabs(x); }, 0);
}
OP_SAMPLES(sign) {
  return with_signed(
      sign, [](Real x) { return std::isnan(x) ? x : static_cast<Real>((x > 0) - (x < 0)); }, 0);
}
OP_SAMPLES(square) {
  return with_signed(
      square, [](Real x) { return x * x; }, 0.51);
}

SampleList ternary(Call call, const std::function<Real(Real, Real, Real)>& exact) {
  SampleList list;
  auto add = [&](std::string name, const Shape& a, const Shape& b, const Shape& c) {
    list.push_back({.name = std::move(name),
                    .inputs = {uniform(a, 0.5, 2, 1), uniform(b, 0.5, 2, 2), uniform(c, 0.5, 2, 3)},
                    .call = call,
                    .reference = map_real(exact),
                    .ulp = 0.6,
                    .absolute = 0.002});  // of float64 the reference loses as much
  };
  add("same shape", {3, 5}, {3, 5}, {3, 5});
  add("broadcast", {4, 1, 3}, {2, 1}, {});
  add("empty", {0, 3}, {1, 3}, {1});
  add("large", {90, 401}, {90, 1}, {90, 401});
  list.back().gradient = false;
  return list;
}
OP_SAMPLES(lerp) {
  return ternary(call_of(lerp), [](Real s, Real e, Real w) { return s + w * (e - s); });
}
OP_SAMPLES(addcmul) {
  return ternary([](const TensorList& in) { return TensorList{addcmul(in[0], in[1], in[2], -0.7)}; },
                 [](Real x, Real a, Real b) { return x - static_cast<Real>(0.7) * a * b; });
}
OP_SAMPLES(addcdiv) {
  return ternary([](const TensorList& in) { return TensorList{addcdiv(in[0], in[1], in[2], -0.7)}; },
                 [](Real x, Real a, Real b) { return x - static_cast<Real>(0.7) * a / b; });
}

OP_SAMPLES(clip) {
  SampleList list =
      unary_family([](const Tensor& x) { return clip(x, -1.25, 0.5); },
                   [](Real x) { return x < -1.25L ? -1.25L
                                       : x > 0.5L ? 0.5L
                                                  : x; }, {.ulp = 0});
  for (Sample& s : unary_family([](const Tensor& x) { return clip(x, 2, INFINITY); },
                                [](Real x) { return std::max(x, 2.0L); },
                                {.dtypes = numbers(),
                                .low = 0,
                                .high = 9,
                                .ulp = 0,
                                .gradient = false,
                                .special = false,
                                .integral = true}))
    list.push_back(std::move(s));
  list.push_back({.name = "tensor bounds",
                  .inputs = {randn({4, 5}, 1), uniform({5}, -1, 0, 2), uniform({4, 1}, 0, 1, 3)},
                  .call = [](const TensorList& in) { return TensorList{clip(in[0], in[1], in[2])}; },
                  .reference = map_real([](Real x, Real l, Real h) { return std::min(std::max(x, l), h); }),
                  .ulp = 0});
  list.push_back({.name = "crossing bounds",
                  .inputs = {items({-1, 0, 1})},
                  .call = [](const TensorList& in) { return TensorList{clip(in[0], 3, 2)}; },
                  .reference = [](const std::vector<HostArray>&) { return std::vector{full({3}, 2)}; },
                  .ulp = 0,
                  .gradient = false});
  return list;
}

}  // namespace
}  // namespace sorus::samples
