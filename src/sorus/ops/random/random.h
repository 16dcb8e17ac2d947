#pragma once

#include "sorus/core/generator.h"

/// Random ops. Each is a pure function of a key that a Generator gives, a uint64 tensor of shape (2,); number
/// i of the result depends on the key and on i alone. Numbers come from Philox4x32-10.
namespace sorus {

/// Uniform on [0, 1), with 24 random bits in float32 (and the 16-bit floats, rounded) and 53 in float64.
[[nodiscard]] SORUS_API Tensor random_uniform(const Tensor& key, const Shape& shape,
                                              DType dtype = DType::kFloat32);
/// Normal with mean 0 and standard deviation 1, by the inverse of the distribution function.
[[nodiscard]] SORUS_API Tensor random_normal(const Tensor& key, const Shape& shape,
                                             DType dtype = DType::kFloat32);
/// `x` with each element set to 0 with probability `p` and the others divided by 1 - p. Needs 0 <= p < 1.
[[nodiscard]] SORUS_API Tensor dropout(const Tensor& x, double p, const Tensor& key);

/// The same with keys of `generator`.
[[nodiscard]] SORUS_API Tensor rand(const Shape& shape, DType dtype = DType::kFloat32,
                                    Generator& generator = default_generator());
[[nodiscard]] SORUS_API Tensor randn(const Shape& shape, DType dtype = DType::kFloat32,
                                     Generator& generator = default_generator());
[[nodiscard]] SORUS_API Tensor dropout(const Tensor& x, double p, Generator& generator = default_generator());

}  // namespace sorus
