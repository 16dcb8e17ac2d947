#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "sorus/autograd/tape.h"
#include "sorus/core/parameter.h"

/// Automatic differentiation of functions of tensors. All of these nest, record in graph mode and give the
/// same bits in every mode.
namespace sorus {

struct ValueAndGrad {
  TensorList values;   ///< results of the function
  TensorList inputs;   ///< gradient with respect to each operand asked for
  TensorList weights;  ///< gradient with respect to each parameter asked for
};

/// Calls `f(inputs)` and differentiates the sum of its first result (weighted by `sensitivity` when given)
/// with respect to the operands at `positions` and to `weights`. With `has_aux` further results are returned
/// but not differentiated; otherwise all floating results are. What nothing flows to gets zeros. Throws
/// DTypeError for an integer operand, IndexError for a position out of range.
[[nodiscard]] SORUS_API ValueAndGrad value_and_grad(const TensorFunction& f, const TensorList& inputs,
                                                    std::span<const int> positions,
                                                    std::span<const Parameter> weights, bool has_aux = false,
                                                    const TensorList& sensitivity = {});

/// value_and_grad for a loss computed by a closure over parameters: loss and the gradient of each parameter.
[[nodiscard]] SORUS_API std::pair<Tensor, TensorList> value_and_grad(const std::function<Tensor()>& loss,
                                                                     std::span<const Parameter> weights);

/// Gradient of a scalar function of one tensor.
[[nodiscard]] SORUS_API Tensor grad(const std::function<Tensor(const Tensor&)>& f, const Tensor& x);

/// Results of `f` and a function that maps gradients of the results to gradients of the operands; it may be
/// called any number of times.
struct Pullback {
  TensorList values;
  std::function<TensorList(const TensorList& gradients)> pull;
};
[[nodiscard]] SORUS_API Pullback vjp(const TensorFunction& f, const TensorList& inputs);

/// Results of `f` and their directional derivatives along `tangents`, as the vjp of the vjp.
[[nodiscard]] SORUS_API std::pair<TensorList, TensorList> jvp(const TensorFunction& f,
                                                              const TensorList& inputs,
                                                              const TensorList& tangents);

/// Calls `f` without recording its inside; gradients of its results are computed by `rule`.
[[nodiscard]] SORUS_API TensorList custom_gradient(const TensorFunction& f, const TensorList& inputs,
                                                   GradientRule rule);

/// Calls `f` keeping nothing of its inside for the backward pass, which calls it again. Values that `f`
/// captures (parameters, say) get their gradients as if they were operands. `f` must compute the same at both
/// calls; random keys that it draws from generators are the same again.
[[nodiscard]] SORUS_API TensorList recompute(const TensorFunction& f, const TensorList& inputs);

}  // namespace sorus
