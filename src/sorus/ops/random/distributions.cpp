#include <cmath>
#include <numbers>

#include "sorus/core/promotion.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/random/random.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

// Distributions composed of uniform numbers in float64.
namespace sorus {

Tensor random_integers(int64_t low, int64_t high, const Shape& shape, DType dtype, Generator& generator) {
  SORUS_CHECK(low < high, ValueError, "random_integers: range is empty: got {} to {}, need low < high", low,
              high);
  const auto width = static_cast<double>(high) - static_cast<double>(low);
  Tensor steps = floor(rand(shape, DType::kFloat64, generator) * width);
  return cast(cast(steps, DType::kInt64) + Tensor(low), dtype);
}

Tensor random_permutation(int64_t n, DType dtype, Generator& generator) {
  SORUS_CHECK(n >= 0, ValueError, "random_permutation: length is negative: got {}, need at least 0", n);
  return cast(argsort(rand({n}, DType::kFloat64, generator)), dtype);
}

Tensor gamma_distribution(const Shape& shape, const Tensor& alpha, const Tensor& beta, Generator& generator) {
  DType dtype = promote(alpha.dtype(), beta.dtype());
  if (!is_floating(dtype)) dtype = DType::kFloat32;
  const Shape all = broadcast_shapes("gamma", broadcast_shapes("gamma", shape, alpha.shape()), beta.shape());
  // Two blocks of the counter for each number: one would do, but float64 alone takes half of one.
  const Tensor key = generator.key(2 * all.numel());
  const Tensor drawn = random_gamma(key, broadcast_to(cast(alpha, DType::kFloat64), all));
  return cast(drawn / cast(beta, DType::kFloat64), dtype);
}

Tensor bernoulli(const Tensor& p, Generator& generator) {
  return cast(less(rand(p.shape(), DType::kFloat64, generator), cast(p, DType::kFloat64)), p.dtype());
}

Tensor truncated_normal(const Shape& shape, double low, double high, DType dtype, Generator& generator) {
  SORUS_CHECK(low < high, ValueError, "truncated_normal: range is empty: got {} to {}, need low < high", low,
              high);
  // The inverse of the distribution function 2 Phi(x) - 1 = erf(x / sqrt(2)) between its values at the
  // bounds.
  const double at_low = std::erf(low / std::numbers::sqrt2);
  const double at_high = std::erf(high / std::numbers::sqrt2);
  Tensor level = rand(shape, DType::kFloat64, generator) * (at_high - at_low) + at_low;
  return clip(cast(erfinv(level) * std::numbers::sqrt2, dtype), low, high);
}

}  // namespace sorus
