#include "sorus/optim/rules.h"

#include "sorus/ops/elementwise/elementwise.h"

namespace sorus::optim {
namespace {

Tensor mix(const Tensor& old, const Tensor& fresh, double keep) { return old * keep + fresh * (1 - keep); }

/// First and second moment of the gradient.
struct Moments {
  Tensor m, v;
};
Moments next_moments(const Tensor& m, const Tensor& v, const Tensor& g, const AdamOptions& o) {
  return {mix(m, g, o.beta1), mix(v, g * g, o.beta2)};
}

}  // namespace

Tensor gradient_descent(const Tensor& p, const Tensor& g, const Tensor& rate) { return p - rate * g; }

TensorList momentum(const Tensor& p, const Tensor& v, const Tensor& g, const Tensor& rate,
                    const Tensor& momentum, bool nesterov) {
  Tensor next = momentum * v + g;
  return {p - rate * (nesterov ? g + momentum * next : next), next};
}

TensorList sgd(const Tensor& p, const Tensor& v, const Tensor& g, const Tensor& rate, const SgdOptions& o) {
  if (o.momentum == 0) return {gradient_descent(p, g, rate), v};
  Tensor next = o.first_step ? g : v * o.momentum + g * (1 - o.dampening);
  return {p - rate * (o.nesterov ? g + next * o.momentum : next), next};
}

TensorList adam(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g, const Tensor& rate,
                const AdamOptions& o) {
  Moments next = next_moments(m, v, g, o);
  Tensor direction = o.nesterov ? mix(next.m, g, o.beta1) : next.m;
  return {p - rate * direction / (sqrt(next.v) + o.eps), next.m, next.v};
}

TensorList adam_weight_decay(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g,
                             const Tensor& rate, double weight_decay, const AdamOptions& o) {
  Moments next = next_moments(m, v, g, o);
  Tensor update = next.m / (sqrt(next.v) + o.eps);
  if (weight_decay != 0) update = update + p * weight_decay;
  return {p - rate * update, next.m, next.v};
}

TensorList rms_prop(const Tensor& p, const Tensor& s, const Tensor& u, const Tensor& a, const Tensor& g,
                    const Tensor& rate, const RmsPropOptions& o) {
  Tensor square_mean = mix(s, g * g, o.decay);
  Tensor mean = o.centered ? mix(a, g, o.decay) : a;
  Tensor variance = o.centered ? square_mean - mean * mean : square_mean;
  Tensor step = u * o.momentum + rate * g / sqrt(variance + o.eps);
  return {p - step, square_mean, step, mean};
}

Tensor add_weight_decay(const Tensor& g, const Tensor& p, double decay) {
  return decay == 0 ? g : g + p * decay;
}

}  // namespace sorus::optim
