#include <cmath>

#include "sorus/ops/elementwise/elementwise.h"
#include "tests/ops/elementwise/families.h"

namespace sorus::samples {
namespace {

const Family kSmallIntegers{
    .dtypes = integer_types(), .low = 0, .high = 11, .gradient = false, .integral = true};

/// Floating samples, and integer ones whose results every integer type holds.
SampleList with_integers(Tensor (*f)(const Tensor&, const Tensor&),
                         const std::function<Real(Real, Real)>& exact, double ulp = 0.5) {
  SampleList list = binary_family(f, exact, {.ulp = ulp});
  for (Sample& s : binary_family(f, exact, kSmallIntegers)) {
    s.name += ", integers";
    list.push_back(std::move(s));
  }
  return list;
}

Sample wraps(Tensor (*f)(const Tensor&, const Tensor&), Real a, Real b, Real want) {
  return {.name = "int8 wraps",
          .inputs = {items({a}), items({b})},
          .call = call_of(f),
          .reference = [want](const std::vector<HostArray>&) { return std::vector{items({want})}; },
          .dtypes = {DType::kInt8}};
}

Sample of_bools(Tensor (*f)(const Tensor&, const Tensor&), std::vector<Real> want) {
  return {.name = "bools",
          .inputs = {items({0, 0, 1, 1}), items({0, 1, 0, 1})},
          .call = call_of(f),
          .reference = [want](const std::vector<HostArray>&) { return std::vector{items(want)}; },
          .dtypes = {kBool}};
}

OP_SAMPLES(add) {
  SampleList list = with_integers(add, [](Real a, Real b) { return a + b; });
  list.push_back(wraps(add, 100, 100, -56));
  list.push_back(of_bools(add, {0, 1, 1, 1}));
  return list;
}
OP_ERRORS(add) {
  return {{"shapes",
           [] {
             (void)add(Tensor({1.0F, 2.0F}), Tensor({1.0F, 2.0F, 3.0F}));
           },
           ErrorKind::kShape, "got (2,) and (3,)"}};
}

OP_SAMPLES(sub) {
  SampleList list = binary_family(sub, [](Real a, Real b) { return a - b; }, {.ulp = 0.5});
  list.push_back(wraps(sub, -100, 100, 56));
  list.push_back(of_bools(sub, {0, 1, 1, 0}));
  return list;
}

OP_SAMPLES(mul) {
  SampleList list = with_integers(mul, [](Real a, Real b) { return a * b; });
  list.push_back(wraps(mul, 16, 9, -112));
  list.push_back(of_bools(mul, {0, 0, 0, 1}));
  return list;
}

OP_SAMPLES(div) {
  return binary_family(div, [](Real a, Real b) { return a / b; }, {.low = 0.5, .high = 3, .ulp = 0.51});
}

OP_SAMPLES(neg) {
  SampleList list = unary_family(neg, [](Real x) { return -x; }, {.ulp = 0});
  for (Sample& s : unary_family(neg, [](Real x) { return -x; },
                                {.dtypes = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64},
                                .low = -9,
                                .high = 9,
                                .gradient = false,
                                .integral = true}))
    list.push_back(std::move(s));
  return list;
}

}  // namespace
}  // namespace sorus::samples
