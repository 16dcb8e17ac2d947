#pragma once

#include "sorus/core/tensor.h"

/// Activations of neural networks, elementwise; floating dtypes (integers become float32), NaN stays NaN. See
/// elementwise.h for relu, sigmoid and tanh.
namespace sorus {

/// x * Phi(x), with the distribution function of the normal distribution.
[[nodiscard]] SORUS_API Tensor gelu(const Tensor& x);
/// The approximation of gelu by tanh.
[[nodiscard]] SORUS_API Tensor gelu_tanh(const Tensor& x);
/// x * sigmoid(x).
[[nodiscard]] SORUS_API Tensor silu(const Tensor& x);
/// x * tanh(softplus(x)).
[[nodiscard]] SORUS_API Tensor mish(const Tensor& x);
/// log(sigmoid(x)).
[[nodiscard]] SORUS_API Tensor log_sigmoid(const Tensor& x);
/// log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.
[[nodiscard]] SORUS_API Tensor softplus(const Tensor& x, double beta = 1, double threshold = 20);
/// x, and alpha * (exp(x) - 1) where x <= 0.
[[nodiscard]] SORUS_API Tensor elu(const Tensor& x, double alpha = 1);
/// x, and alpha * (exp(x / alpha) - 1) where x <= 0.
[[nodiscard]] SORUS_API Tensor celu(const Tensor& x, double alpha = 1);
/// scale * elu(x, alpha) with the constants of Klambauer et al. 2017.
[[nodiscard]] SORUS_API Tensor selu(const Tensor& x);
/// x - tanh(x).
[[nodiscard]] SORUS_API Tensor tanhshrink(const Tensor& x);

/// x within [0, 6].
[[nodiscard]] SORUS_API Tensor relu6(const Tensor& x);
/// x, and slope * x where x <= 0.
[[nodiscard]] SORUS_API Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// The same with slopes that broadcast against x.
[[nodiscard]] SORUS_API Tensor prelu(const Tensor& x, const Tensor& slope);
/// x within [low, high].
[[nodiscard]] SORUS_API Tensor hardtanh(const Tensor& x, double low = -1, double high = 1);
/// (x + 3) / 6 within [0, 1].
[[nodiscard]] SORUS_API Tensor hardsigmoid(const Tensor& x);
/// x * hardsigmoid(x).
[[nodiscard]] SORUS_API Tensor hardswish(const Tensor& x);
/// x / (1 + |x|).
[[nodiscard]] SORUS_API Tensor softsign(const Tensor& x);
/// x moved towards 0 by `width`, and 0 where |x| <= width.
[[nodiscard]] SORUS_API Tensor softshrink(const Tensor& x, double width = 0.5);
/// x, and 0 where |x| <= width.
[[nodiscard]] SORUS_API Tensor hardshrink(const Tensor& x, double width = 0.5);
/// x, and `value` where x <= threshold.
[[nodiscard]] SORUS_API Tensor threshold(const Tensor& x, double threshold, double value);

}  // namespace sorus
