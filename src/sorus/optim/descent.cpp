#include "sorus/optim/descent.h"

#include <cmath>

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::optim {

Momentum::Momentum(Parameters parameters, Schedule rate, double momentum, double weight_decay, bool nesterov)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      nesterov_(nesterov),
      momentum_(make_shared_state("momentum", momentum)),
      moments_(make_state("moments")) {
  SORUS_CHECK(momentum >= 0, ValueError, "Momentum: momentum is negative: got {}, need 0 or more", momentum);
}

void Momentum::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  give({p, moments_[i]}, momentum(p, moments_[i], decayed(i, gradient), rate, momentum_, nesterov_));
}

SGD::SGD(Parameters parameters, Schedule rate, SgdOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      momentum_(make_shared_state("momentum", options.momentum)),
      velocity_(make_state("accum")),
      first_(make_state("stat", 1)) {
  SORUS_CHECK(!options.nesterov || (options.momentum > 0 && options.dampening == 0), ValueError,
              "SGD: nesterov does not fit: got momentum {} and dampening {}, need momentum above 0 and no "
              "dampening",
              options.momentum, options.dampening);
}

void SGD::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  Tensor g = decayed(i, gradient);
  if (options_.momentum == 0) {
    give({p}, {gradient_descent(p, g, rate)});
    return;
  }
  give({p, velocity_[i], first_[i]},
       sgd(p, velocity_[i], first_[i], g, rate, momentum_, options_.dampening, options_.nesterov));
}

ASGD::ASGD(Parameters parameters, Schedule rate, AsgdOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay), options_(options) {
  SORUS_CHECK(options.lambda > 0 && options.alpha > 0 && options.t0 > 0, ValueError,
              "ASGD: option is not positive: got lambda {}, alpha {}, t0 {}, need more than 0",
              options.lambda, options.alpha, options.t0);
  const std::vector<Parameter>& all = this->parameters();
  for (const Parameter& p : all) mu_.push_back(make_shared_state("mu_" + p.name(), 1));
  for (size_t i = 0; i < all.size(); ++i)
    eta_.push_back(make_shared_state("eta_" + all[i].name(), first_rate(i)));
  average_ = make_state("ax_");
}

void ASGD::begin_step() { next_step_ = Tensor(static_cast<float>(step() + 1)); }

void ASGD::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  DType dtype = p.value().dtype();
  give({p, average_[i]}, averaged_descent(p, average_[i], decayed(i, gradient), cast(eta_[i], dtype),
                                          cast(mu_[i], dtype), options_.lambda));
  Tensor pace = cast(rate, DType::kFloat32);
  give({eta_[i], mu_[i]},
       averaged_descent_rates(pace, next_step_, options_.lambda, options_.alpha, options_.t0));
}

LARS::LARS(Optimizer& optimizer, LarsOptions options, const Filter& filter)
    : Optimizer(&optimizer), inner_(optimizer), options_(options) {
  SORUS_CHECK(options.eps >= 0 && options.coefficient >= 0, ValueError,
              "LARS: option is negative: got eps {} and coefficient {}, need 0 or more", options.eps,
              options.coefficient);
  for (const Parameter& p : parameters()) scaled_.push_back(filter(p));
}

bool LARS::default_filter(const Parameter& parameter) {
  return parameter.name().find("LayerNorm") == std::string::npos &&
         parameter.name().find("bias") == std::string::npos;
}

void LARS::step_all(const TensorList& gradients) {
  Tensor now(static_cast<float>(rate()));
  TensorList scaled;
  for (size_t i = 0; i < gradients.size(); ++i)
    scaled.push_back(scaled_[i] ? layer_scaled(parameters()[i], gradients[i], now, decay_of(i),
                                               options_.coefficient, options_.eps, options_.clip)
                                : gradients[i]);
  inner_(scaled);
}

void LARS::update(size_t /*i*/, const Tensor& /*gradient*/, const Tensor& /*rate*/) {
  SORUS_INTERNAL(false, "LARS: the wrapped optimizer updates");
}

}  // namespace sorus::optim
