#include "tests/math/accuracy.h"

namespace sorus::math::test {
namespace {

long double sigmoid_reference(long double x) { return 1 / (1 + std::exp(-x)); }
long double silu_reference(long double x) { return x / (1 + std::exp(-x)); }
long double softplus_reference(long double x) {
  return std::isnan(x) ? x : std::fmax(x, 0.0L) + std::log1p(std::exp(-std::fabs(x)));
}
long double log_sigmoid_reference(long double x) { return -softplus_reference(-x); }

/// Of functions with parameters: doubles that no float is.
constexpr double kParameter = 0.7;
long double elu_reference(long double x) { return x > 0 ? x : kParameter * std::expm1(x); }
long double celu_reference(long double x) { return x > 0 ? x : kParameter * std::expm1(x / kParameter); }
/// softplus(beta x) / beta, and x where beta x > threshold.
template <double beta, double threshold>
long double scaled_softplus_reference(long double x) {
  return x * beta > threshold ? x : softplus_reference(x * beta) / beta;
}
template <class V>
Pair<V> pair_of(double x) {
  const auto hi = static_cast<typename V::Scalar>(x);
  return {V::of(x), V::of(x - static_cast<double>(hi))};
}
long double xlogy_reference(long double x, long double y) {
  return x == 0 && !std::isnan(y) ? 0 : x * std::log(y);
}

template <class T, double beta, double threshold>
UnaryCase<T> scaled_softplus() {
  using V = ScalarLane<T>;
  return {"softplus(" + std::to_string(beta) + ")",
          [](V x) { return softplus(x, pair_of<V>(beta), pair_of<V>(threshold)); },
          scaled_softplus_reference<beta, threshold>, 1.7};
}

template <class T>
std::vector<UnaryCase<T>> cases() {
  using V = ScalarLane<T>;
  return {
      {"elu",
       [](V x) {
         return select(x > V::of(0), x, scaled_expm1(pair_of<V>(kParameter), Pair<V>{x, V::of(0)}));
       },
       elu_reference, 0.8},
      {"celu",
       [](V x) {
         const Pair<V> alpha = pair_of<V>(kParameter);
         return select(x > V::of(0), x, scaled_expm1(alpha, quotient(x, alpha)));
       },
       celu_reference, 0.9},
      scaled_softplus<T, kParameter, 20.0>(),
      scaled_softplus<T, 3.1, 200.0>(),
      scaled_softplus<T, -0.3, 20.0>(),
      scaled_softplus<T, 1e-30, 1.0>(),
      scaled_softplus<T, 1e30, 1e35>(),
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

template <class T>
std::vector<BinaryCase<T>> binary_cases() {
  using V = ScalarLane<T>;
  return {
      {"xlogy", xlogy<V>, xlogy_reference, 1.0},
  };
}

TEST(Exp, float32) { check(cases<float>()); }
TEST(Exp, float64) { check(cases<double>()); }
TEST(Exp, binary_float32) { check(binary_cases<float>()); }
TEST(Exp, binary_float64) { check(binary_cases<double>()); }

}  // namespace
}  // namespace sorus::math::test
