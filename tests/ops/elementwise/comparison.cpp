#include "sorus/ops/elementwise/elementwise.h"
#include "tests/ops/elementwise/families.h"

namespace sorus::samples {
namespace {

SampleList comparison(Tensor (*f)(const Tensor&, const Tensor&), std::function<bool(Real, Real)> exact) {
  return binary_family(f, [exact](Real a, Real b) { return exact(a, b) ? 1.0L : 0.0L; },
                       {.dtypes = any_type(), .low = 0, .high = 2, .gradient = false, .integral = true});
}

OP_SAMPLES(equal) {
  return comparison(equal, [](Real a, Real b) { return a == b; });
}
OP_SAMPLES(not_equal) {
  return comparison(not_equal, [](Real a, Real b) { return a != b; });
}
OP_SAMPLES(less) {
  return comparison(less, [](Real a, Real b) { return a < b; });
}
OP_SAMPLES(less_equal) {
  return comparison(less_equal, [](Real a, Real b) { return a <= b; });
}
OP_SAMPLES(greater) {
  return comparison(greater, [](Real a, Real b) { return a > b; });
}
OP_SAMPLES(greater_equal) {
  return comparison(greater_equal, [](Real a, Real b) { return a >= b; });
}

}  // namespace
}  // namespace sorus::samples
