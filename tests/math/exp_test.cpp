#include "tests/math/accuracy.h"

namespace sorus::math::test {
namespace {

long double sigmoid_reference(long double x) { return 1 / (1 + std::exp(-x)); }
long double silu_reference(long double x) { return x / (1 + std::exp(-x)); }
long double softplus_reference(long double x) {
  return std::isnan(x) ? x : std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x)));
}
long double log_sigmoid_reference(long double x) { return -softplus_reference(-x); }

template <class T>
std::vector<UnaryCase<T>> cases() {
  using V = ScalarLane<T>;
  return {
      {"exp", exp<V>, std::exp, 1.0},
      {"exp2", exp2<V>, std::exp2, 0.8},
      {"expm1", expm1<V>, std::expm1, 1.1},
      {"sinh", sinh<V>, std::sinh, 1.0},
      {"cosh", cosh<V>, std::cosh, 1.0},
      {"tanh", tanh<V>, std::tanh, 1.01},
      {"sigmoid", sigmoid<V>, sigmoid_reference, 1.8},
      {"silu", silu<V>, silu_reference, 1.8},
      {"log", log<V>, std::log, 0.9},
      {"log2", log2<V>, std::log2, 0.51},
      {"log10", log10<V>, std::log10, 0.51},
      {"log1p", log1p<V>, std::log1p, 0.9},
      {"softplus", softplus<V>, softplus_reference, 1.8},
      {"log_sigmoid", log_sigmoid<V>, log_sigmoid_reference, 1.8},
  };
}

TEST(Exp, float32) { check(cases<float>()); }
TEST(Exp, float64) { check(cases<double>()); }

}  // namespace
}  // namespace sorus::math::test
