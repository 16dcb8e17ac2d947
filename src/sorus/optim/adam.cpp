#include "sorus/optim/adam.h"

#include <cmath>

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::optim {
namespace {

void check_options(const char* name, const AdamOptions& o) {
  SORUS_CHECK(o.beta1 > 0 && o.beta1 < 1 && o.beta2 > 0 && o.beta2 < 1, ValueError,
              "{}: beta is out of range: got {} and {}, need more than 0 and less than 1", name, o.beta1,
              o.beta2);
  SORUS_CHECK(o.eps > 0, ValueError, "{}: eps is out of range: got {}, need more than 0", name, o.eps);
}

}  // namespace

Adam::Adam(Parameters parameters, Schedule rate, AdamOptions options, double weight_decay)
    : Adam(std::move(parameters), std::move(rate), options, weight_decay, Shape{}) {}

Adam::Adam(Parameters parameters, Schedule rate, AdamOptions options, double weight_decay,
           const Shape& power_shape)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      beta1_power_(make_shared_state("beta1_power", 1, power_shape)),
      beta2_power_(make_shared_state("beta2_power", 1, power_shape)),
      moment1_(make_state("moment1")),
      moment2_(make_state("moment2")) {
  check_options("Adam", options);
  SORUS_CHECK(!options.nesterov || !options.amsgrad, ValueError,
              "Adam: nesterov and amsgrad exclude each other: got both, need one at most");
  if (options.amsgrad) largest_ = make_state("vhat");
}

void Adam::begin_step() {
  beta1_power_.set_value(beta1_power_.value() * options_.beta1);
  beta2_power_.set_value(beta2_power_.value() * options_.beta2);
}

Tensor Adam::corrected(const Tensor& rate) const {
  return adam_rate(rate, reshape(beta1_power_, {}), reshape(beta2_power_, {}));
}

void Adam::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  Tensor g = decayed(i, gradient);
  if (options_.amsgrad)
    give({p, moment1_[i], moment2_[i], largest_[i]},
         amsgrad(p, moment1_[i], moment2_[i], largest_[i], g, rate, options_));
  else
    give({p, moment1_[i], moment2_[i]}, adam(p, moment1_[i], moment2_[i], g, rate, options_));
}

LazyAdam::LazyAdam(Parameters parameters, Schedule rate, AdamOptions options, double weight_decay)
    : Adam(std::move(parameters), std::move(rate), options, weight_decay, Shape{1}) {}

AdamWeightDecay::AdamWeightDecay(Parameters parameters, Schedule rate, double weight_decay,
                                 AdamOptions options)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      moment1_(make_state("adam_m")),
      moment2_(make_state("adam_v")) {
  check_options("AdamWeightDecay", options);
}

void AdamWeightDecay::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  give({p, moment1_[i], moment2_[i]},
       adam_weight_decay(p, moment1_[i], moment2_[i], gradient, rate, decay_of(i), options_));
}

AdaMax::AdaMax(Parameters parameters, Schedule rate, AdamOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      beta1_power_(make_shared_state("beta1_power", 1, Shape{1})),
      moment1_(make_state("moment1")),
      moment2_(make_state("moment2")) {
  check_options("AdaMax", options);
}

void AdaMax::begin_step() { beta1_power_.set_value(beta1_power_.value() * options_.beta1); }

Tensor AdaMax::corrected(const Tensor& rate) const { return rate / (1 - reshape(beta1_power_, {})); }

void AdaMax::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  give({p, moment1_[i], moment2_[i]},
       ada_max(p, moment1_[i], moment2_[i], decayed(i, gradient), rate, options_));
}

Lamb::Lamb(Parameters parameters, Schedule rate, double weight_decay, AdamOptions options)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      moment1_(make_state("lamb_m")),
      moment2_(make_state("lamb_v")) {
  check_options("Lamb", options);
}

void Lamb::begin_step() {
  auto number = static_cast<double>(step() + 1);
  beta1_power_ = Tensor(static_cast<float>(std::pow(options_.beta1, number)));
  beta2_power_ = Tensor(static_cast<float>(std::pow(options_.beta2, number)));
}

void Lamb::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  const Parameter& p = parameters()[i];
  give({p, moment1_[i], moment2_[i]},
       lamb(p, moment1_[i], moment2_[i], gradient, rate, beta1_power_, beta2_power_, decay_of(i), options_));
}

}  // namespace sorus::optim
