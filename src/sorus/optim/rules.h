#pragma once

#include "sorus/core/tensor.h"
#include "sorus/dispatch/op_def.h"

/// Update rules of optimizers: pure functions from (parameter, state, gradient, rates) to (parameter, state).
/// Both the C++ and the Python optimizers call them. Rates are rank-0 tensors of the parameter's dtype, so
/// that they may change from step to step. `g` is the gradient with weight decay already added where the rule
/// wants it so.
namespace sorus::optim {

/// p - rate * g.
[[nodiscard]] SORUS_API Tensor gradient_descent(const Tensor& p, const Tensor& g, const Tensor& rate);

/// v' = momentum * v + g; p' = p - rate * v', or with nesterov p - rate * (g + momentum * v').
/// Source: Sutskever et al. 2013. Returns {p', v'}.
[[nodiscard]] SORUS_API TensorList momentum(const Tensor& p, const Tensor& v, const Tensor& g,
                                            const Tensor& rate, const Tensor& momentum,
                                            bool nesterov = false);

struct SgdOptions {
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  bool first_step = false;  ///< the velocity starts as the gradient
};
/// v' = momentum * v + (1 - dampening) * g. Returns {p', v'}.
[[nodiscard]] SORUS_API TensorList sgd(const Tensor& p, const Tensor& v, const Tensor& g, const Tensor& rate,
                                       const SgdOptions& options);

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  bool nesterov = false;
};
/// m' = beta1 m + (1 - beta1) g; v' = beta2 v + (1 - beta2) g^2; p' = p - rate * m' / (sqrt(v') + eps), where
/// `rate` has the bias correction sqrt(1 - beta2^t) / (1 - beta1^t) in it. Source: Kingma, Ba 2015. Returns
/// {p', m', v'}.
[[nodiscard]] SORUS_API TensorList adam(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g,
                                        const Tensor& rate, const AdamOptions& options);
/// Adam without bias correction, the decay applied to the parameter: p' = p - rate * (m' / (sqrt(v') + eps) +
/// decay * p). Source: Loshchilov, Hutter 2019. Returns {p', m', v'}.
[[nodiscard]] SORUS_API TensorList adam_weight_decay(const Tensor& p, const Tensor& m, const Tensor& v,
                                                     const Tensor& g, const Tensor& rate, double weight_decay,
                                                     const AdamOptions& options);

struct RmsPropOptions {
  double decay = 0.9;
  double momentum = 0;
  double eps = 1e-10;
  bool centered = false;
};
/// s' = decay s + (1 - decay) g^2; with centered also a' = decay a + (1 - decay) g, and s' - a'^2 in place of
/// s' below; u' = momentum u + rate * g / sqrt(s' + eps); p' = p - u'. Source: Hinton 2012; centered: Graves
/// 2013. Returns {p', s', u', a'}.
[[nodiscard]] SORUS_API TensorList rms_prop(const Tensor& p, const Tensor& s, const Tensor& u,
                                            const Tensor& a, const Tensor& g, const Tensor& rate,
                                            const RmsPropOptions& options);

/// g + decay * p.
[[nodiscard]] SORUS_API Tensor add_weight_decay(const Tensor& g, const Tensor& p, double decay);

}  // namespace sorus::optim
