#pragma once

#include "sorus/core/tensor.h"
#include "sorus/dispatch/op_def.h"

/// Update rules of optimizers: pure functions from (parameter, state, gradient, rates) to (parameter, state).
/// Both the C++ and the Python optimizers call them. Rates are rank-0 tensors of
/// the parameter's dtype, so that they may change from step to step. `g` is the gradient with weight decay
/// already added where the rule wants it so. State tensors have the shape of `p` unless said otherwise.
namespace sorus::optim {

/// g + decay * p.
[[nodiscard]] SORUS_API Tensor add_weight_decay(const Tensor& g, const Tensor& p, double decay);

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
};
/// v' = momentum * v + (1 - dampening * (1 - stat)) * g, where `stat` is 1 before the first step and 0 after:
/// the velocity starts as the gradient. p' as in `momentum`. Returns {p', v', stat'}.
[[nodiscard]] SORUS_API TensorList sgd(const Tensor& p, const Tensor& v, const Tensor& stat, const Tensor& g,
                                       const Tensor& rate, const Tensor& momentum, double dampening = 0,
                                       bool nesterov = false);

/// `nesterov` concerns the rule `adam` alone; `amsgrad` makes the class Adam use that rule, and excludes it.
struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  bool nesterov = false;
  bool amsgrad = false;
};
/// Rate with Adam's bias correction: rate * sqrt(1 - beta2_power) / (1 - beta1_power), where a power is
/// beta^t in step t = 1, 2, ...
[[nodiscard]] SORUS_API Tensor adam_rate(const Tensor& rate, const Tensor& beta1_power,
                                         const Tensor& beta2_power);
/// m' = beta1 m + (1 - beta1) g; v' = beta2 v + (1 - beta2) g^2; p' = p - rate * m' / (sqrt(v') + eps), where
/// `rate` comes from adam_rate. With nesterov beta1 m' + (1 - beta1) g stands for m' in the last. Source:
/// Kingma, Ba 2015. Returns {p', m', v'}.
[[nodiscard]] SORUS_API TensorList adam(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g,
                                        const Tensor& rate, const AdamOptions& options);
/// As `adam` with the largest v' so far, h' = max(h, v'), in place of v' in p'. Source: Reddi et al. 2018.
/// Returns {p', m', v', h'}.
[[nodiscard]] SORUS_API TensorList amsgrad(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& h,
                                           const Tensor& g, const Tensor& rate, const AdamOptions& options);
/// Adam without bias correction, the decay applied to the parameter: p' = p - rate * (m' / (sqrt(v') + eps) +
/// decay * p). Source: Loshchilov, Hutter 2019. Returns {p', m', v'}.
[[nodiscard]] SORUS_API TensorList adam_weight_decay(const Tensor& p, const Tensor& m, const Tensor& v,
                                                     const Tensor& g, const Tensor& rate, double weight_decay,
                                                     const AdamOptions& options);
/// m' as in `adam`; v' = max(beta2 v, |g|); p' = p - rate * m' / (v' + eps), `rate` divided by 1 -
/// beta1_power. Source: Kingma, Ba 2015. Returns {p', m', v'}.
[[nodiscard]] SORUS_API TensorList ada_max(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g,
                                           const Tensor& rate, const AdamOptions& options);
/// Adam whose step is scaled by |p| / |step| (1 where either is 0): step = m^ / (sqrt(v^) + eps) + decay * p,
/// with m^ = m' / (1 - beta1_power) and v^ alike. Source: You et al. 2020. Returns {p', m', v'}.
[[nodiscard]] SORUS_API TensorList lamb(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g,
                                        const Tensor& rate, const Tensor& beta1_power,
                                        const Tensor& beta2_power, double weight_decay,
                                        const AdamOptions& options);

struct RmsPropOptions {
  double decay = 0.9;
  double momentum = 0;
  double eps = 1e-10;
  bool centered = false;
};
/// s' = decay s + (1 - decay) g^2; with centered also a' = decay a + (1 - decay) g, and s' - a'^2 in place of
/// s' below; u' = momentum u + rate * g / sqrt(s' + eps); p' = p - u'. Source: Hinton 2012; centered: Graves
/// 2013. Without `centered`, `a` may be undefined. Returns {p', s', u', a'}.
[[nodiscard]] SORUS_API TensorList rms_prop(const Tensor& p, const Tensor& s, const Tensor& u,
                                            const Tensor& a, const Tensor& g, const Tensor& rate,
                                            const RmsPropOptions& options);

/// s' = s + g^2, or s without `update_slots`; p' = p - rate * g / sqrt(s'). Source: Duchi et al. 2011.
/// Returns {p', s'}.
[[nodiscard]] SORUS_API TensorList adagrad(const Tensor& p, const Tensor& s, const Tensor& g,
                                           const Tensor& rate, bool update_slots = true);
/// adagrad followed by soft thresholds: x = p - e g with e = rate / sqrt(s'); p' = sign(x) max(|x| - e l1, 0)
/// / (1 + e l2). Source: Singer, Duchi 2009. Returns {p', s'}.
[[nodiscard]] SORUS_API TensorList proximal_adagrad(const Tensor& p, const Tensor& s, const Tensor& g,
                                                    const Tensor& rate, double l1 = 0, double l2 = 0);
/// s' = rho s + (1 - rho) g^2; d = g sqrt(u + eps) / sqrt(s' + eps); p' = p - rate * d; u' = rho u + (1 -
/// rho) d^2. Source: Zeiler 2012. Returns {p', s', u'}.
[[nodiscard]] SORUS_API TensorList adadelta(const Tensor& p, const Tensor& s, const Tensor& u,
                                            const Tensor& g, const Tensor& rate, double rho = 0.9,
                                            double eps = 1e-6);
/// Follow the regularized leader: s' = s + g^2; z' = z + g - p (s'^-power - s^-power) / rate; p' = (sign(z')
/// l1 - z') / (s'^-power / rate + 2 l2) where |z'| > l1, else 0; `power` is at most 0. Source: McMahan et
/// al. 2013. Returns {p', s', z'}.
[[nodiscard]] SORUS_API TensorList ftrl(const Tensor& p, const Tensor& s, const Tensor& z, const Tensor& g,
                                        const Tensor& rate, double power = -0.5, double l1 = 0,
                                        double l2 = 0);
/// Resilient propagation: the step of an element grows by `eta_plus` while its gradient keeps its sign and
/// shrinks by `eta_minus` when it turns (then the element stays where it is once), within [smallest,
/// largest]. Source: Riedmiller, Braun 1993. Returns {p', gradient to compare with next time, step'}.
[[nodiscard]] SORUS_API TensorList rprop(const Tensor& p, const Tensor& previous, const Tensor& step,
                                         const Tensor& g, double eta_minus = 0.5, double eta_plus = 1.2,
                                         double smallest = 1e-6, double largest = 50);
/// Averaged descent: p' = p (1 - lambda eta) - eta g; a' = a + (p' - a) mu. `eta` and `mu` are rank 0.
/// Source: Polyak, Juditsky 1992. Returns {p', a'}.
[[nodiscard]] SORUS_API TensorList averaged_descent(const Tensor& p, const Tensor& average, const Tensor& g,
                                                    const Tensor& eta, const Tensor& mu, double lambda);
/// eta and mu of the step after `step` (float32, rank 0, from 1): rate / (1 + lambda rate step)^alpha and
/// 1 / max(1, step - t0). Returns {eta, mu}.
[[nodiscard]] SORUS_API TensorList averaged_descent_rates(const Tensor& rate, const Tensor& step,
                                                          double lambda, double alpha, double t0);
/// Layer-wise factor of a gradient: coefficient |p| / (|g| + decay |p| + eps), at most rate^-1 with `clip`; 1
/// where |p| or |g| is 0. Returns (g + decay p) times it. Source: You et al. 2017.
[[nodiscard]] SORUS_API Tensor layer_scaled(const Tensor& p, const Tensor& g, const Tensor& rate,
                                            double decay, double coefficient, double eps, bool clip);

}  // namespace sorus::optim
