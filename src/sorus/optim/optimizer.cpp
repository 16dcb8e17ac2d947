#include "sorus/optim/optimizer.h"

#include <cmath>
#include <set>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::optim {

Optimizer::Optimizer(std::vector<Parameter> parameters, Schedule rate, double weight_decay)
    : parameters_(std::move(parameters)),
      rate_(std::move(rate)),
      weight_decay_(weight_decay),
      id_(new_boundary_id()) {
  SORUS_CHECK(!parameters_.empty(), ValueError,
              "optimizer: nothing to update: got no parameter, need at least one");
  SORUS_CHECK(weight_decay >= 0, ValueError, "optimizer: weight_decay is negative: got {}, need 0 or more",
              weight_decay);
  std::set<std::string> names;
  for (const Parameter& p : parameters_)
    SORUS_CHECK(
        !p.name().empty() && names.insert(p.name()).second, ValueError,
        "optimizer: parameter name is missing or not unique: got '{}', need one name for each parameter",
        p.name());
  global_step_ = Parameter(Tensor({int32_t{0}}, Shape{1}), "global_step", false);
  state_.push_back(global_step_);
}

void Optimizer::operator()(const TensorList& gradients) {
  SORUS_CHECK(gradients.size() == parameters_.size(), ValueError,
              "optimizer: number of gradients differs: got {}, need {}, one for each parameter",
              gradients.size(), parameters_.size());
  for (size_t i = 0; i < gradients.size(); ++i)
    SORUS_CHECK(gradients[i].shape() == parameters_[i].value().shape(), ShapeError,
                "optimizer: gradient of {} has another shape: got {}, need {}", parameters_[i].name(),
                gradients[i].shape(), parameters_[i].value().shape());
  auto body = [&] {
    double now = effective_rate(step_, rate_(step_));
    Step step{step_, now, Tensor(static_cast<float>(now))};
    for (size_t i = 0; i < parameters_.size(); ++i) update(i, gradients[i], step);
    global_step_.set_value(global_step_.value() + 1);
  };
  const ScopeState& scope = scope_state();
  if (scope.graph_mode && !scope.recorder) {
    uint64_t key = id_;
    for (const Tensor& g : gradients) key = hash_combine(key, g.type().hash());
    run_boundary(key, body);
  } else {
    body();
  }
  ++step_;
}

double Optimizer::effective_rate(int64_t /*step*/, double rate) const { return rate; }

std::vector<Parameter> Optimizer::make_state(const std::string& kind, double first) {
  std::vector<Parameter> made;
  for (const Parameter& p : parameters_)
    made.emplace_back(full(p.value().type(), first), kind + "." + p.name(), false);
  state_.insert(state_.end(), made.begin(), made.end());
  return made;
}

Tensor Optimizer::decayed(size_t i, const Tensor& gradient) const {
  return add_weight_decay(gradient, parameters_[i], weight_decay_);
}

Momentum::Momentum(std::vector<Parameter> parameters, Schedule rate, double momentum, double weight_decay,
                   bool nesterov)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      momentum_(momentum),
      nesterov_(nesterov),
      moments_(make_state("moments")) {
  SORUS_CHECK(momentum >= 0, ValueError, "Momentum: momentum is negative: got {}, need 0 or more", momentum);
}

void Momentum::update(size_t i, const Tensor& gradient, const Step& step) {
  Parameter p = parameters()[i];
  TensorList next = momentum(p, moments_[i], decayed(i, gradient), step.rate_tensor,
                             Tensor(static_cast<float>(momentum_)), nesterov_);
  p.set_value(std::move(next[0]));
  moments_[i].set_value(std::move(next[1]));
}

SGD::SGD(std::vector<Parameter> parameters, Schedule rate, SgdOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      velocity_(make_state("accum")) {}

void SGD::update(size_t i, const Tensor& gradient, const Step& step) {
  SgdOptions options = options_;
  options.first_step = step.number == 0;
  Parameter p = parameters()[i];
  TensorList next = sgd(p, velocity_[i], decayed(i, gradient), step.rate_tensor, options);
  p.set_value(std::move(next[0]));
  velocity_[i].set_value(std::move(next[1]));
}

Adam::Adam(std::vector<Parameter> parameters, Schedule rate, AdamOptions options, double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      moment1_(make_state("moment1")),
      moment2_(make_state("moment2")) {}

double Adam::effective_rate(int64_t step, double rate) const {
  auto t = static_cast<double>(step + 1);
  return rate * std::sqrt(1 - std::pow(options_.beta2, t)) / (1 - std::pow(options_.beta1, t));
}

void Adam::update(size_t i, const Tensor& gradient, const Step& step) {
  Parameter p = parameters()[i];
  TensorList next = adam(p, moment1_[i], moment2_[i], decayed(i, gradient), step.rate_tensor, options_);
  p.set_value(std::move(next[0]));
  moment1_[i].set_value(std::move(next[1]));
  moment2_[i].set_value(std::move(next[2]));
}

AdamWeightDecay::AdamWeightDecay(std::vector<Parameter> parameters, Schedule rate, double weight_decay,
                                 AdamOptions options)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      moment1_(make_state("adam_m")),
      moment2_(make_state("adam_v")) {}

void AdamWeightDecay::update(size_t i, const Tensor& gradient, const Step& step) {
  Parameter p = parameters()[i];
  TensorList next =
      adam_weight_decay(p, moment1_[i], moment2_[i], gradient, step.rate_tensor, weight_decay(), options_);
  p.set_value(std::move(next[0]));
  moment1_[i].set_value(std::move(next[1]));
  moment2_[i].set_value(std::move(next[2]));
}

RMSProp::RMSProp(std::vector<Parameter> parameters, Schedule rate, RmsPropOptions options,
                 double weight_decay)
    : Optimizer(std::move(parameters), std::move(rate), weight_decay),
      options_(options),
      mean_square_(make_state("mean_square", 1)),
      moment_(make_state("moment")),
      mean_gradient_(make_state("mean_gradient")) {}

void RMSProp::update(size_t i, const Tensor& gradient, const Step& step) {
  Parameter p = parameters()[i];
  TensorList next = rms_prop(p, mean_square_[i], moment_[i], mean_gradient_[i], decayed(i, gradient),
                             step.rate_tensor, options_);
  p.set_value(std::move(next[0]));
  mean_square_[i].set_value(std::move(next[1]));
  moment_[i].set_value(std::move(next[2]));
  mean_gradient_[i].set_value(std::move(next[3]));
}

}  // namespace sorus::optim
