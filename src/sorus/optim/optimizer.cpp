#include "sorus/optim/optimizer.h"

#include <set>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::optim {

Optimizer::Optimizer(Parameters parameters, Schedule rate, double weight_decay)
    : rate_(std::move(rate)), id_(new_boundary_id()) {
  global_step_ = Parameter(Tensor({int32_t{0}}, Shape{1}), "global_step", false);
  state_.push_back(global_step_);
  std::set<std::string> names;
  for (size_t n = 0; n < parameters.groups.size(); ++n) {
    const ParameterGroup& group = parameters.groups[n];
    double decay = group.weight_decay.value_or(weight_decay);
    SORUS_CHECK(decay >= 0, ValueError, "optimizer: weight_decay is negative: got {}, need 0 or more", decay);
    for (const Parameter& p : group.parameters) {
      SORUS_CHECK(
          !p.name().empty() && names.insert(p.name()).second, ValueError,
          "optimizer: parameter name is missing or not unique: got '{}', need one name for each parameter",
          p.name());
      bool norm = p.name().find("beta") != std::string::npos || p.name().find("gamma") != std::string::npos;
      parameters_.push_back(p);
      decay_of_.push_back(norm && !parameters.grouped ? 0 : decay);
      rate_of_.push_back(find_rate(group, n));
    }
  }
  SORUS_CHECK(!parameters_.empty(), ValueError,
              "optimizer: nothing to update: got no parameter, need at least one");
}

size_t Optimizer::find_rate(const ParameterGroup& group, size_t number) {
  std::string name = group.rate ? fmt::format("learning_rate_group_{}", number) : "learning_rate";
  for (size_t i = 0; i < rates_.size(); ++i)
    if (rates_[i].state.name() == name) return i;
  double first = group.rate ? (*group.rate)(0) : rate_(0);
  rates_.push_back({group.rate, make_shared_state(name, first)});
  return rates_.size() - 1;
}

void Optimizer::operator()(const TensorList& gradients) {
  SORUS_CHECK(gradients.size() == parameters_.size(), ValueError,
              "optimizer: number of gradients differs: got {}, need {}, one for each parameter",
              gradients.size(), parameters_.size());
  for (size_t i = 0; i < gradients.size(); ++i)
    SORUS_CHECK(gradients[i].shape() == parameters_[i].value().shape(), ShapeError,
                "optimizer: gradient of {} has another shape: got {}, need {}", parameters_[i].name(),
                gradients[i].shape(), parameters_[i].value().shape());
  auto body = [&] { step_all(gradients); };
  const ScopeState& scope = scope_state();
  if (scope.graph_mode && !scope.recorder) {
    uint64_t key = id_;
    for (const Tensor& g : gradients) key = hash_combine(key, g.type().hash());
    run_boundary(key, body);
  } else {
    body();
  }
}

void Optimizer::step_all(const TensorList& gradients) {
  int64_t number = step();
  TensorList now;
  for (Rate& rate : rates_) {
    Tensor value(static_cast<float>(rate.own ? (*rate.own)(number) : rate_(number)));
    rate.state.set_value(value);
    now.push_back(value);
  }
  begin_step();
  for (Tensor& rate : now) rate = corrected(rate);
  for (size_t i = 0; i < parameters_.size(); ++i)
    update(i, gradients[i], cast(now[rate_of_[i]], parameters_[i].value().dtype()));
  global_step_.set_value(global_step_.value() + 1);
}

std::vector<Parameter> Optimizer::make_state(const std::string& kind, double first) {
  std::vector<Parameter> made;
  for (const Parameter& p : parameters_)
    made.emplace_back(full(p.value().type(), first), kind + "." + p.name(), false);
  state_.insert(state_.end(), made.begin(), made.end());
  return made;
}

Parameter Optimizer::make_shared_state(const std::string& name, double first) {
  return state_.emplace_back(Tensor(static_cast<float>(first)), name, false);
}

Tensor Optimizer::decayed(size_t i, const Tensor& gradient) const {
  return add_weight_decay(gradient, parameters_[i], decay_of(i));
}

Momentum::Momentum(Parameters parameters, Schedule rate, double momentum, double weight_decay, bool nesterov)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      nesterov_(nesterov),
      momentum_(make_shared_state("momentum", momentum)),
      moments_(make_state("moments")) {
  SORUS_CHECK(momentum >= 0, ValueError, "Momentum: momentum is negative: got {}, need 0 or more", momentum);
}

void Momentum::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  Parameter p = parameters()[i];
  TensorList next = momentum(p, moments_[i], decayed(i, gradient), rate, momentum_, nesterov_);
  p.set_value(std::move(next[0]));
  moments_[i].set_value(std::move(next[1]));
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
  Parameter p = parameters()[i];
  Tensor g = decayed(i, gradient);
  if (options_.momentum == 0) {
    p.set_value(gradient_descent(p, g, rate));
    return;
  }
  TensorList next =
      sgd(p, velocity_[i], first_[i], g, rate, momentum_, options_.dampening, options_.nesterov);
  p.set_value(std::move(next[0]));
  velocity_[i].set_value(std::move(next[1]));
  first_[i].set_value(std::move(next[2]));
}

Adam::Adam(Parameters parameters, Schedule rate, AdamOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      beta1_power_(make_shared_state("beta1_power", 1)),
      beta2_power_(make_shared_state("beta2_power", 1)),
      moment1_(make_state("moment1")),
      moment2_(make_state("moment2")) {}

void Adam::begin_step() {
  beta1_power_.set_value(beta1_power_.value() * options_.beta1);
  beta2_power_.set_value(beta2_power_.value() * options_.beta2);
}

Tensor Adam::corrected(const Tensor& rate) const { return adam_rate(rate, beta1_power_, beta2_power_); }

void Adam::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  Parameter p = parameters()[i];
  TensorList next = adam(p, moment1_[i], moment2_[i], decayed(i, gradient), rate, options_);
  p.set_value(std::move(next[0]));
  moment1_[i].set_value(std::move(next[1]));
  moment2_[i].set_value(std::move(next[2]));
}

AdamWeightDecay::AdamWeightDecay(Parameters parameters, Schedule rate, double weight_decay,
                                 AdamOptions options)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      moment1_(make_state("adam_m")),
      moment2_(make_state("adam_v")) {}

void AdamWeightDecay::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  Parameter p = parameters()[i];
  TensorList next = adam_weight_decay(p, moment1_[i], moment2_[i], gradient, rate, decay_of(i), options_);
  p.set_value(std::move(next[0]));
  moment1_[i].set_value(std::move(next[1]));
  moment2_[i].set_value(std::move(next[2]));
}

RMSProp::RMSProp(Parameters parameters, Schedule rate, RmsPropOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay), options_(options) {
  if (options.centered) mean_gradient_ = make_state("mean_grad");
  mean_square_ = make_state("mean_square", 1);
  moment_ = make_state("moment");
}

void RMSProp::update(size_t i, const Tensor& gradient, const Tensor& rate) {
  Parameter p = parameters()[i];
  Tensor mean = options_.centered ? mean_gradient_[i].value() : Tensor();
  TensorList next = rms_prop(p, mean_square_[i], moment_[i], mean, decayed(i, gradient), rate, options_);
  p.set_value(std::move(next[0]));
  mean_square_[i].set_value(std::move(next[1]));
  moment_[i].set_value(std::move(next[2]));
  if (options_.centered) mean_gradient_[i].set_value(std::move(next[3]));
}

}  // namespace sorus::optim
