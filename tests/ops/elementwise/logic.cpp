#include "sorus/ops/elementwise/logic.h"

#include <cmath>

#include "tests/ops/elementwise/families.h"

namespace sorus::samples {
namespace {

Real truth(bool b) { return b ? 1 : 0; }
const Family kTests{.gradient = false};
const Family kLogic{.dtypes = any_type(), .low = 0, .high = 2, .gradient = false, .integral = true};
const Family kBits{.dtypes = integer_types(), .low = 0, .high = 100, .gradient = false, .integral = true};

OP_SAMPLES(isnan) {
  return unary_family(
      isnan, [](Real x) { return truth(std::isnan(x)); }, kTests);
}
OP_SAMPLES(isinf) {
  // What float32 cannot hold is an infinity in float16, which the reference sees as such.
  return unary_family(
      isinf, [](Real x) { return truth(std::isinf(x)); }, kTests);
}
OP_SAMPLES(isfinite) {
  SampleList list = unary_family(
      isfinite, [](Real x) { return truth(std::isfinite(x)); }, kTests);
  for (Sample& s : unary_family(
           isfinite, [](Real) { return 1; }, kBits))
    list.push_back(std::move(s));
  return list;
}
OP_SAMPLES(logical_not) {
  return unary_family(
      logical_not, [](Real x) { return truth(x == 0); }, kLogic);
}
OP_SAMPLES(logical_and) {
  return binary_family(
      logical_and, [](Real a, Real b) { return truth(a != 0 && b != 0); }, kLogic);
}
OP_SAMPLES(logical_or) {
  return binary_family(
      logical_or, [](Real a, Real b) { return truth(a != 0 || b != 0); }, kLogic);
}
OP_SAMPLES(logical_xor) {
  return binary_family(
      logical_xor, [](Real a, Real b) { return truth((a != 0) != (b != 0)); }, kLogic);
}

int64_t whole(Real x) { return static_cast<int64_t>(x); }
SampleList bits(Tensor (*f)(const Tensor&, const Tensor&),
                const std::function<int64_t(int64_t, int64_t)>& exact, bool of_bools) {
  auto real = [exact](Real a, Real b) { return static_cast<Real>(exact(whole(a), whole(b))); };
  SampleList list = binary_family(f, real, kBits);
  if (!of_bools) return list;
  for (Sample& s :
       binary_family(f, real, {.dtypes = {kBool}, .low = 0, .high = 1, .gradient = false, .integral = true}))
    list.push_back(std::move(s));
  return list;
}
OP_SAMPLES(bitwise_and) {
  return bits(
      bitwise_and, [](int64_t a, int64_t b) { return a & b; }, true);
}
OP_SAMPLES(bitwise_or) {
  return bits(
      bitwise_or, [](int64_t a, int64_t b) { return a | b; }, true);
}
OP_SAMPLES(bitwise_xor) {
  return bits(
      bitwise_xor, [](int64_t a, int64_t b) { return a ^ b; }, true);
}
OP_SAMPLES(bitwise_not) {
  SampleList list = unary_family(bitwise_not, [](Real x) { return -x - 1; },
                                 {.dtypes = {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64},
                                  .low = -100,
                                  .high = 100,
                                  .gradient = false,
                                  .integral = true});
  for (Sample& s :
       unary_family(bitwise_not, [](Real x) { return 255 - x; },
                    {.dtypes = {DType::kUInt8}, .low = 0, .high = 255, .gradient = false, .integral = true}))
    list.push_back(std::move(s));
  return list;
}
OP_ERRORS(bitwise_and) {
  return {{"dtype", [] { (void)bitwise_and(Tensor(1.0F), Tensor(1.0F)); }, ErrorKind::kDType, "float32"}};
}

SampleList shifts(Tensor (*f)(const Tensor&, const Tensor&), std::vector<Real> want) {
  return {{.name = "inside and outside the width",
           .inputs = {items({5, 5, -5, 100, -100, 3}), items({0, 1, 1, 8, 9, -1})},
           .call = call_of(f),
           .reference = [want](const std::vector<HostArray>&) { return std::vector{items(want)}; },
           .dtypes = {DType::kInt8}},
          {.name = "broadcast",
           .inputs = {integers({3, 5}, 0, 3), integers({5}, 0, 3, 2)},
           .call = call_of(f),
           .dtypes = integer_types()}};
}
OP_SAMPLES(shift_left) { return shifts(shift_left, {5, 10, -10, 0, 0, 0}); }
OP_SAMPLES(shift_right) { return shifts(shift_right, {5, 2, -3, 0, -1, 0}); }

}  // namespace
}  // namespace sorus::samples
