#include "sorus/optim/adaptive.h"

#include "sorus/ops/elementwise/elementwise.h"

namespace sorus::optim {
namespace {

void check_not_negative(const char* optimizer, const char* option, double value) {
  SORUS_CHECK(value >= 0, ValueError, "{}: {} is negative: got {}, need 0 or more", optimizer, option, value);
}

}  // namespace

RMSProp::RMSProp(Parameters parameters, Schedule rate, RmsPropOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay), options_(options) {
  check_not_negative("RMSProp", "decay", options.decay);
  check_not_negative("RMSProp", "momentum", options.momentum);
  if (options.centered) mean_gradient_ = make_state("mean_grad");
  mean_square_ = make_state("mean_square", 1);
  moment_ = make_state("moment");
}

void RMSProp::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  Tensor mean = options_.centered ? mean_gradient_[i].value() : Tensor();
  TensorList next = rms_prop(p, mean_square_[i], moment_[i], mean, decayed(i, gradient), rate, options_);
  if (options_.centered)
    give({p, mean_square_[i], moment_[i], mean_gradient_[i]}, std::move(next));
  else
    give({p, mean_square_[i], moment_[i]}, std::move(next));
}

Adagrad::Adagrad(Parameters parameters, Schedule rate, AdagradOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      accum_(make_state("accum", options.accum)) {
  check_not_negative("Adagrad", "accum", options.accum);
}

void Adagrad::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  give({p, accum_[i]}, adagrad(p, accum_[i], decayed(i, gradient), rate, options_.update_slots));
}

ProximalAdagrad::ProximalAdagrad(Parameters parameters, Schedule rate, ProximalAdagradOptions options,
                                 double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      accum_(make_state("accum", options.accum)) {
  check_not_negative("ProximalAdagrad", "accum", options.accum);
  check_not_negative("ProximalAdagrad", "l1", options.l1);
  check_not_negative("ProximalAdagrad", "l2", options.l2);
}

void ProximalAdagrad::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  give({p, accum_[i]}, proximal_adagrad(p, accum_[i], decayed(i, gradient), rate, options_.l1, options_.l2));
}

Adadelta::Adadelta(Parameters parameters, Schedule rate, AdadeltaOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      accum_(make_state("accum")),
      accum_update_(make_state("accum_update")) {
  check_not_negative("Adadelta", "eps", options.eps);
  SORUS_CHECK(options.rho >= 0 && options.rho <= 1, ValueError,
              "Adadelta: rho is out of range: got {}, need 0 to 1", options.rho);
}

void Adadelta::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  give({p, accum_[i], accum_update_[i]},
       adadelta(p, accum_[i], accum_update_[i], decayed(i, gradient), rate, options_.rho, options_.eps));
}

FTRL::FTRL(Parameters parameters, Schedule rate, FtrlOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      moments_(make_state("moments", options.accum)),
      linear_(make_state("linear")) {
  check_not_negative("FTRL", "accum", options.accum);
  check_not_negative("FTRL", "l1", options.l1);
  check_not_negative("FTRL", "l2", options.l2);
  SORUS_CHECK(options.power <= 0, ValueError, "FTRL: power is out of range: got {}, need 0 or less",
              options.power);
}

void FTRL::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  give({p, moments_[i], linear_[i]}, ftrl(p, moments_[i], linear_[i], decayed(i, gradient), rate,
                                          options_.power, options_.l1, options_.l2));
}

Rprop::Rprop(Parameters parameters, Schedule rate, RpropOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      previous_(make_state("prev")),
      step_size_(make_state("step_size", first_rate(0))) {
  SORUS_CHECK(options.eta_minus > 0 && options.eta_minus < 1 && options.eta_plus > 1, ValueError,
              "Rprop: factors are out of range: got {} and {}, need one below 1 and one above 1",
              options.eta_minus, options.eta_plus);
  SORUS_CHECK(options.smallest > 0 && options.smallest <= options.largest, ValueError,
              "Rprop: sizes are in the wrong order: got {} and {}, need smallest, largest", options.smallest,
              options.largest);
}

void Rprop::update(size_t i, const Tensor& gradient, const Tensor& /*rate*/) {
  const Parameter& p = parameters()[i];
  give({p, previous_[i], step_size_[i]},
       rprop(p, previous_[i], step_size_[i], decayed(i, gradient), options_.eta_minus, options_.eta_plus,
             options_.smallest, options_.largest));
}

}  // namespace sorus::optim
