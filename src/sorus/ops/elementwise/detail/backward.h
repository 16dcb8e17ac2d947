#pragma once

#include "sorus/core/tensor.h"

/// Gradients of hot activations as ops of their own, so that going back takes one pass over memory: `g` times
/// the derivative at x, or in terms of the result y. They are differentiable again.
namespace sorus::elementwise {

[[nodiscard]] Tensor tanh_backward(const Tensor& g, const Tensor& y);
[[nodiscard]] Tensor sigmoid_backward(const Tensor& g, const Tensor& y);
[[nodiscard]] Tensor relu_backward(const Tensor& g, const Tensor& y);
[[nodiscard]] Tensor silu_backward(const Tensor& g, const Tensor& x);
[[nodiscard]] Tensor gelu_backward(const Tensor& g, const Tensor& x);
[[nodiscard]] Tensor gelu_tanh_backward(const Tensor& g, const Tensor& x);
[[nodiscard]] Tensor leaky_relu_backward(const Tensor& g, const Tensor& x, double slope);

}  // namespace sorus::elementwise
