#include "binding/functions.h"
#include "sorus/optim/rules.h"

namespace sorus::python {
namespace {

TensorList bound_adam(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g, const Tensor& rate,
                      double beta1, double beta2, double eps, bool nesterov) {
  return optim::adam(p, m, v, g, rate, {.beta1 = beta1, .beta2 = beta2, .eps = eps, .nesterov = nesterov});
}
TensorList bound_amsgrad(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& h, const Tensor& g,
                         const Tensor& rate, double beta1, double beta2, double eps) {
  return optim::amsgrad(p, m, v, h, g, rate, {.beta1 = beta1, .beta2 = beta2, .eps = eps, .nesterov = false});
}
TensorList bound_adam_weight_decay(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g,
                                   const Tensor& rate, double weight_decay, double beta1, double beta2,
                                   double eps) {
  return optim::adam_weight_decay(p, m, v, g, rate, weight_decay,
                                  {.beta1 = beta1, .beta2 = beta2, .eps = eps, .nesterov = false});
}
TensorList bound_ada_max(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g,
                         const Tensor& rate, double beta1, double beta2, double eps) {
  return optim::ada_max(p, m, v, g, rate, {.beta1 = beta1, .beta2 = beta2, .eps = eps, .nesterov = false});
}
TensorList bound_lamb(const Tensor& p, const Tensor& m, const Tensor& v, const Tensor& g, const Tensor& rate,
                      const Tensor& power1, const Tensor& power2, double weight_decay, double beta1,
                      double beta2, double eps) {
  return optim::lamb(p, m, v, g, rate, power1, power2, weight_decay,
                     {.beta1 = beta1, .beta2 = beta2, .eps = eps, .nesterov = false});
}
TensorList bound_rms_prop(const Tensor& p, const Tensor& s, const Tensor& u, const Tensor& a, const Tensor& g,
                          const Tensor& rate, double decay, double momentum, double eps, bool centered) {
  return optim::rms_prop(p, s, u, a, g, rate,
                         {.decay = decay, .momentum = momentum, .eps = eps, .centered = centered});
}

}  // namespace

std::vector<Function> optim_functions() {
  return {
      function("rule_weight_decay", &optim::add_weight_decay, "g, p, decay"),
      function("rule_gradient_descent", &optim::gradient_descent, "p, g, rate"),
      function("rule_momentum", &optim::momentum, "p, v, g, rate, momentum, nesterov=False"),
      function("rule_sgd", &optim::sgd, "p, v, stat, g, rate, momentum, dampening=0, nesterov=False"),
      function("rule_adam_rate", &optim::adam_rate, "rate, beta1_power, beta2_power"),
      function("rule_adam", &bound_adam, "p, m, v, g, rate, beta1, beta2, eps, nesterov=False"),
      function("rule_amsgrad", &bound_amsgrad, "p, m, v, h, g, rate, beta1, beta2, eps"),
      function("rule_adam_weight_decay", &bound_adam_weight_decay,
               "p, m, v, g, rate, weight_decay, beta1, beta2, eps"),
      function("rule_ada_max", &bound_ada_max, "p, m, v, g, rate, beta1, beta2, eps"),
      function("rule_lamb", &bound_lamb, "p, m, v, g, rate, power1, power2, weight_decay, beta1, beta2, eps"),
      function("rule_rms_prop", &bound_rms_prop, "p, s, u, a, g, rate, decay, momentum, eps, centered=False"),
      function("rule_adagrad", &optim::adagrad, "p, s, g, rate, update_slots=True"),
      function("rule_proximal_adagrad", &optim::proximal_adagrad, "p, s, g, rate, l1=0, l2=0"),
      function("rule_adadelta", &optim::adadelta, "p, s, u, g, rate, rho=0.9, eps=1e-6"),
      function("rule_ftrl", &optim::ftrl, "p, s, z, g, rate, power=-0.5, l1=0, l2=0"),
      function("rule_rprop", &optim::rprop,
               "p, previous, step, g, eta_minus=0.5, eta_plus=1.2, smallest=1e-6, largest=50"),
      function("rule_averaged_descent", &optim::averaged_descent, "p, average, g, eta, mu, decay"),
      function("rule_averaged_descent_rates", &optim::averaged_descent_rates, "rate, step, decay, alpha, t0"),
      function("rule_layer_scaled", &optim::layer_scaled, "p, g, rate, decay, coefficient, eps, clip"),
  };
}

}  // namespace sorus::python
