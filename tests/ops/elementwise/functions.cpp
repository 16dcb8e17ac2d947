#include <cmath>

#include "sorus/ops/elementwise/elementwise.h"
#include "tests/ops/elementwise/families.h"

namespace sorus::samples {
namespace {

const Family kPositive{.low = 0.1L, .high = 5};

OP_SAMPLES(exp) {
  return unary_family(exp, [](Real x) { return std::exp(x); });
}
OP_SAMPLES(log) {
  return unary_family(
      log, [](Real x) { return std::log(x); }, kPositive);
}
OP_SAMPLES(sqrt) {
  return unary_family(
      sqrt, [](Real x) { return std::sqrt(x); }, kPositive);
}
OP_SAMPLES(tanh) {
  return unary_family(tanh, [](Real x) { return std::tanh(x); });
}
OP_SAMPLES(sigmoid) {
  return unary_family(sigmoid, [](Real x) { return 1 / (1 + std::exp(-x)); }, {.ulp = 3});
}
OP_SAMPLES(relu) {
  return unary_family(relu, [](Real x) { return x < 0 ? 0 : x; }, {.ulp = 0});
}

}  // namespace
}  // namespace sorus::samples
