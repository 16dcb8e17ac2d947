#pragma once

#include "sorus/core/tensor.h"

/// Softmax over one axis. Floating dtypes; the axis must not be empty. 16-bit floats compute in float32.
namespace sorus {

/// exp(x - max) / sum of exp(x - max) along `axis`, which may be negative.
[[nodiscard]] SORUS_API Tensor softmax(const Tensor& x, int64_t axis = -1);
/// x - max - log(sum of exp(x - max)) along `axis`.
[[nodiscard]] SORUS_API Tensor log_softmax(const Tensor& x, int64_t axis = -1);

/// Gradients from the results `y` of softmax and log_softmax: y * (g - sum(g * y)), g - exp(y) * sum(g).
[[nodiscard]] SORUS_API Tensor softmax_backward(const Tensor& y, const Tensor& gradient, int64_t axis = -1);
[[nodiscard]] SORUS_API Tensor log_softmax_backward(const Tensor& y, const Tensor& gradient,
                                                    int64_t axis = -1);

}  // namespace sorus
