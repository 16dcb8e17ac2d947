#include "sorus/nn/initializer.h"

#include <algorithm>
#include <cmath>

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/random/random.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::nn {
namespace {

Tensor scaled_uniform(const Shape& shape, DType dtype, Generator& generator, double bound) {
  return rand(shape, dtype, generator) * (2 * bound) - bound;
}

double fan_of(const Shape& shape, FanMode mode) {
  Fans fans = fans_of(shape);
  return static_cast<double>(std::max<int64_t>(mode == FanMode::kFanIn ? fans.in : fans.out, 1));
}

}  // namespace

Fans fans_of(const Shape& shape) {
  SORUS_CHECK(shape.rank() >= 2, ShapeError,
              "initializer: shape has no fans: got {}, need at least two dimensions", shape);
  int64_t kernel = 1;
  for (int i = 2; i < shape.rank(); ++i) kernel *= shape.size(i);
  return {shape.size(1) * kernel, shape.size(0) * kernel};
}

Initializer constant(double value) {
  return [value](const Shape& shape, DType dtype, Generator&) { return full({dtype, {}, shape}, value); };
}

Initializer uniform(double scale) {
  return [scale](const Shape& shape, DType dtype, Generator& g) {
    return scaled_uniform(shape, dtype, g, scale);
  };
}

Initializer normal(double sigma, double mean) {
  return [=](const Shape& shape, DType dtype, Generator& g) { return randn(shape, dtype, g) * sigma + mean; };
}

Initializer truncated_normal(double sigma, double mean) {
  return [=](const Shape& shape, DType dtype, Generator& g) {
    // Numbers beyond the cut are drawn again, all at once, until none is left: each is as likely as in the
    // cut normal.
    Tensor x = randn(shape, dtype, g);
    while (true) {
      Tensor outside = greater(abs(x), full({dtype, {}, {}}, 2));
      if (sum(cast(outside, DType::kInt64)).item<int64_t>() == 0) break;
      x = where(outside, randn(shape, dtype, g), x);
    }
    return x * sigma + mean;
  };
}

Initializer xavier_uniform(double gain) {
  return [gain](const Shape& shape, DType dtype, Generator& g) {
    Fans fans = fans_of(shape);
    return scaled_uniform(shape, dtype, g, gain * std::sqrt(6.0 / static_cast<double>(fans.in + fans.out)));
  };
}

Initializer xavier_normal(double gain) {
  return [gain](const Shape& shape, DType dtype, Generator& g) {
    Fans fans = fans_of(shape);
    return randn(shape, dtype, g) * (gain * std::sqrt(2.0 / static_cast<double>(fans.in + fans.out)));
  };
}

Initializer he_uniform(double negative_slope, FanMode mode) {
  return [=](const Shape& shape, DType dtype, Generator& g) {
    double gain = 1 + negative_slope * negative_slope;
    return scaled_uniform(shape, dtype, g, std::sqrt(6.0 / (gain * fan_of(shape, mode))));
  };
}

Initializer he_normal(double negative_slope, FanMode mode) {
  return [=](const Shape& shape, DType dtype, Generator& g) {
    double gain = 1 + negative_slope * negative_slope;
    return randn(shape, dtype, g) * std::sqrt(2.0 / (gain * fan_of(shape, mode)));
  };
}

Tensor initialize(const Initializer& init, const Shape& shape, DType dtype) {
  return init(shape, dtype, default_generator());
}

}  // namespace sorus::nn
