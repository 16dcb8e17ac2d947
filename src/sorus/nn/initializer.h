#pragma once

#include <functional>

#include "sorus/core/generator.h"

/// First values of parameters. Fans of a weight (out, in, kernel...): fan_in = in * kernel, fan_out = out *
/// kernel.
namespace sorus::nn {

/// Makes a value of the shape and dtype, drawing what it needs from the generator.
using Initializer = std::function<Tensor(const Shape& shape, DType dtype, Generator& generator)>;

enum class FanMode { kFanIn, kFanOut };
/// One number everywhere.
[[nodiscard]] SORUS_API Initializer constant(double value);
/// Uniform on [-scale, scale).
[[nodiscard]] SORUS_API Initializer uniform(double scale = 0.07);
[[nodiscard]] SORUS_API Initializer normal(double sigma = 0.01, double mean = 0);  ///< of that deviation
/// Normal cut at two standard deviations.
[[nodiscard]] SORUS_API Initializer truncated_normal(double sigma = 0.01, double mean = 0);
/// Glorot, Bengio 2010: uniform within gain * sqrt(6 / (fan_in + fan_out)).
[[nodiscard]] SORUS_API Initializer xavier_uniform(double gain = 1);
/// Glorot, Bengio 2010: normal with sigma = gain * sqrt(2 / (fan_in + fan_out)).
[[nodiscard]] SORUS_API Initializer xavier_normal(double gain = 1);
/// He et al. 2015: uniform within sqrt(6 / ((1 + negative_slope^2) * fan)).
[[nodiscard]] SORUS_API Initializer he_uniform(double negative_slope = 0, FanMode mode = FanMode::kFanIn);
/// He et al. 2015: normal with sigma = sqrt(2 / ((1 + negative_slope^2) * fan)).
[[nodiscard]] SORUS_API Initializer he_normal(double negative_slope = 0, FanMode mode = FanMode::kFanIn);

/// Runs an initializer with the default generator.
[[nodiscard]] SORUS_API Tensor initialize(const Initializer& init, const Shape& shape,
                                          DType dtype = DType::kFloat32);

struct Fans {
  int64_t in = 1;
  int64_t out = 1;
};
/// Throws ShapeError for a rank below 2, which has no fans.
[[nodiscard]] SORUS_API Fans fans_of(const Shape& shape);

}  // namespace sorus::nn
