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
/// Gamma distributed with scale 1 and the shapes `alpha`, floating: number i for alpha[i]; 0 for an alpha of
/// 0, NaN for a negative one. Without a gradient. Marsaglia and Tsang's method in float64.
[[nodiscard]] SORUS_API Tensor random_gamma(const Tensor& key, const Tensor& alpha);
/// Sums of the weights (C,) or (N, C) of classes up to each class, in float64. Throws ValueError where the
/// values come to light unless they are finite, 0 or more, and their sum is above 0 in each row.
[[nodiscard]] SORUS_API Tensor cumulative_weights(const Tensor& weights);
/// `x` with each element set to 0 with probability `p` and the others divided by 1 - p. Needs 0 <= p < 1.
[[nodiscard]] SORUS_API Tensor dropout(const Tensor& x, double p, const Tensor& key);

/// The same with keys of `generator`.
[[nodiscard]] SORUS_API Tensor rand(const Shape& shape, DType dtype = DType::kFloat32,
                                    Generator& generator = default_generator());
[[nodiscard]] SORUS_API Tensor randn(const Shape& shape, DType dtype = DType::kFloat32,
                                     Generator& generator = default_generator());
[[nodiscard]] SORUS_API Tensor dropout(const Tensor& x, double p, Generator& generator = default_generator());

/// Integers of [low, high), each as likely as the next to within 2^-53. Throws ValueError for an empty range.
[[nodiscard]] SORUS_API Tensor random_integers(int64_t low, int64_t high, const Shape& shape,
                                               DType dtype = DType::kInt64,
                                               Generator& generator = default_generator());
/// The numbers below n in random order.
[[nodiscard]] SORUS_API Tensor random_permutation(int64_t n, DType dtype = DType::kInt64,
                                                  Generator& generator = default_generator());
/// Gamma distributed with shapes `alpha` and rates `beta` (inverse scales), of `shape` broadcast with both;
/// in the common dtype of alpha and beta, float32 if that is not floating.
[[nodiscard]] SORUS_API Tensor gamma_distribution(const Shape& shape, const Tensor& alpha, const Tensor& beta,
                                                  Generator& generator = default_generator());
/// 1 with the probability that each element of `p` states, else 0, in the dtype of `p`.
[[nodiscard]] SORUS_API Tensor bernoulli(const Tensor& p, Generator& generator = default_generator());
/// The standard normal distribution between two bounds. Throws ValueError unless low < high.
[[nodiscard]] SORUS_API Tensor truncated_normal(const Shape& shape, double low = -2, double high = 2,
                                                DType dtype = DType::kFloat32,
                                                Generator& generator = default_generator());

}  // namespace sorus
