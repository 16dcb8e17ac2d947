#include "sorus/optim/rules.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::optim {
namespace {

/// old * keep + fresh * (1 - keep), with `keep` rounded to float32 first: then the weights add up to 1, and
/// Adam's corrections, powers of the rounded number, cancel its start from zero.
Tensor mix(const Tensor& old, const Tensor& fresh, double keep) {
  auto kept = static_cast<double>(static_cast<float>(keep));
  return old * kept + fresh * (1 - kept);
}

/// First and second moment of the gradient.
struct Moments {
  Tensor m, v;
};
Moments next_moments(const Tensor& m, const Tensor& v, const Tensor& g, const AdamOptions& o) {
  return {mix(m, g, o.beta1), mix(v, g * g, o.beta2)};
}

Tensor constant_beside(double value, const Tensor& x) { return scalar_beside(value, x.dtype()); }

/// -1, 0 or 1; 0 for nan.
Tensor sign_of(const Tensor& x) {
  Tensor zero = constant_beside(0, x), one = constant_beside(1, x);
  return where(greater(x, zero), one, where(less(x, zero), -one, zero));
}

Tensor norm_of(const Tensor& x) { return sqrt(sum(x * x)); }

/// numerator / denominator, and 1 unless both sizes are above 0.
Tensor ratio_or_one(const Tensor& size, const Tensor& other_size, const Tensor& numerator,
                    const Tensor& denominator) {
  Tensor zero = constant_beside(0, size), one = constant_beside(1, size);
  Tensor ratio = numerator / denominator;
  return where(greater(size, zero), where(greater(other_size, zero), ratio, one), one);
}

}  // namespace

Tensor add_weight_decay(const Tensor& g, const Tensor& p, double decay) {
  return decay == 0 ? g : g + p * decay;
}

Tensor gradient_descent(const Tensor& p, const Tensor& g, const Tensor& rate) { return p - rate * g; }

TensorList momentum(const Tensor& p, const Tensor& v, const Tensor& g, const Tensor& rate,
                    const Tensor& momentum, bool nesterov) {
  Tensor keep = cast(momentum, v.dtype());
  Tensor next = keep * v + g;
  return {p - rate * (nesterov ? g + keep * next : next), next};
}

TensorList sgd(const Tensor& p, const Tensor& v, const Tensor& stat, const Tensor& g, const Tensor& rate,
               const Tensor& momentum, double dampening, bool nesterov) {
  Tensor fresh = dampening == 0 ? g : g * (1 - (1 - stat) * dampening);
  TensorList next = optim::momentum(p, v, fresh, rate, momentum, false);
  if (nesterov) next[0] = p - rate * (g + cast(momentum, v.dtype()) * next[1]);
  return {next[0], next[1], zeros_view(stat.type())};
}

Tensor adam_rate(const Tensor& rate, const Tensor& beta1_power, const Tensor& beta2_power) {
  return rate * sqrt(1 - beta2_power) / (1 - beta1_power);
}

TensorList adam(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g, const Tensor& rate,
                const AdamOptions& o) {
  Moments next = next_moments(m, v, g, o);
  Tensor direction = o.nesterov ? mix(next.m, g, o.beta1) : next.m;
  return {p - rate * direction / (sqrt(next.v) + o.eps), next.m, next.v};
}

TensorList amsgrad(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& h, const Tensor& g,
                   const Tensor& rate, const AdamOptions& o) {
  Moments next = next_moments(m, v, g, o);
  Tensor largest = maximum(h, next.v);
  return {p - rate * next.m / (sqrt(largest) + o.eps), next.m, next.v, largest};
}

TensorList adam_weight_decay(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g,
                             const Tensor& rate, double weight_decay, const AdamOptions& o) {
  Moments next = next_moments(m, v, g, o);
  Tensor update = next.m / (sqrt(next.v) + o.eps);
  if (weight_decay != 0) update = update + p * weight_decay;
  return {p - rate * update, next.m, next.v};
}

TensorList ada_max(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g, const Tensor& rate,
                   const AdamOptions& o) {
  Tensor mean = mix(m, g, o.beta1);
  Tensor largest = maximum(v * o.beta2, abs(g));
  return {p - rate * mean / (largest + o.eps), mean, largest};
}

TensorList lamb(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g, const Tensor& rate,
                const Tensor& beta1_power, const Tensor& beta2_power, double weight_decay,
                const AdamOptions& o) {
  Moments next = next_moments(m, v, g, o);
  Tensor step = next.m / (1 - beta1_power) / (sqrt(next.v / (1 - beta2_power)) + o.eps);
  if (weight_decay != 0) step = step + p * weight_decay;
  Tensor size = norm_of(p), step_size = norm_of(step);
  return {p - rate * ratio_or_one(size, step_size, size, step_size) * step, next.m, next.v};
}

TensorList rms_prop(const Tensor& p, const Tensor& s, const Tensor& u, const Tensor& a, const Tensor& g,
                    const Tensor& rate, const RmsPropOptions& o) {
  Tensor square_mean = mix(s, g * g, o.decay);
  Tensor mean = o.centered ? mix(a, g, o.decay) : a;
  Tensor variance = o.centered ? square_mean - mean * mean : square_mean;
  Tensor step = u * o.momentum + rate * g / sqrt(variance + o.eps);
  return {p - step, square_mean, step, mean};
}

TensorList adagrad(const Tensor& p, const Tensor& s, const Tensor& g, const Tensor& rate, bool update_slots) {
  Tensor next = update_slots ? s + g * g : s;
  return {p - rate * g / sqrt(next), next};
}

TensorList proximal_adagrad(const Tensor& p, const Tensor& s, const Tensor& g, const Tensor& rate, double l1,
                            double l2) {
  Tensor next = s + g * g;
  Tensor pace = rate / sqrt(next);
  Tensor x = p - pace * g;
  if (l1 != 0) x = sign_of(x) * maximum(abs(x) - pace * l1, constant_beside(0, x));
  return {l2 == 0 ? x : x / (pace * l2 + 1), next};
}

TensorList adadelta(const Tensor& p, const Tensor& s, const Tensor& u, const Tensor& g, const Tensor& rate,
                    double rho, double eps) {
  Tensor next = mix(s, g * g, rho);
  Tensor step = g * sqrt(u + eps) / sqrt(next + eps);
  return {p - rate * step, next, mix(u, step * step, rho)};
}

TensorList ftrl(const Tensor& p, const Tensor& s, const Tensor& z, const Tensor& g, const Tensor& rate,
                double power, double l1, double l2) {
  auto scale = [&](const Tensor& x) { return power == -0.5 ? sqrt(x) : pow(x, constant_beside(-power, x)); };
  Tensor next = s + g * g;
  Tensor after = scale(next);
  Tensor linear = z + g - p * ((after - scale(s)) / rate);
  Tensor bound = constant_beside(l1, p);
  Tensor solved = (sign_of(linear) * l1 - linear) / (after / rate + 2 * l2);
  return {where(greater(abs(linear), bound), solved, constant_beside(0, p)), next, linear};
}

TensorList rprop(const Tensor& p, const Tensor& previous, const Tensor& step, const Tensor& g,
                 double eta_minus, double eta_plus, double smallest, double largest) {
  Tensor agreement = g * previous, zero = constant_beside(0, p);
  Tensor turned = less(agreement, zero);
  Tensor factor = where(greater(agreement, zero), constant_beside(eta_plus, p),
                        where(turned, constant_beside(eta_minus, p), constant_beside(1, p)));
  Tensor next = minimum(maximum(step * factor, constant_beside(smallest, p)), constant_beside(largest, p));
  Tensor used = where(turned, zero, g);
  return {p - sign_of(used) * next, used, next};
}

TensorList averaged_descent(const Tensor& p, const Tensor& average, const Tensor& g, const Tensor& eta,
                            const Tensor& mu, double lambda) {
  Tensor next = p * (1 - eta * lambda) - eta * g;
  return {next, average + (next - average) * mu};
}

TensorList averaged_descent_rates(const Tensor& rate, const Tensor& step, double lambda, double alpha,
                                  double t0) {
  Tensor base = rate * lambda * step + 1;
  Tensor since = maximum(step - t0, constant_beside(1, step));
  return {rate / pow(base, constant_beside(alpha, base)), 1 / since};
}

Tensor layer_scaled(const Tensor& p, const Tensor& g, const Tensor& rate, double decay, double coefficient,
                    double eps, bool clip) {
  Tensor size = norm_of(p), gradient_size = norm_of(g);
  Tensor factor = ratio_or_one(size, gradient_size, size * coefficient, gradient_size + size * decay + eps);
  if (clip) factor = minimum(factor / rate, constant_beside(1, factor));
  return add_weight_decay(g, p, decay) * factor;
}

}  // namespace sorus::optim
