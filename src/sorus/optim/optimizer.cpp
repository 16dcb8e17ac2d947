#include "sorus/optim/optimizer.h"

#include <set>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::optim {

Optimizer::Optimizer(Parameters parameters, Schedule rate, double weight_decay)
    : rate_(std::move(rate)),
      weight_decay_(weight_decay),
      grouped_(parameters.grouped),
      id_(new_boundary_id()) {
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

Optimizer::Optimizer(Optimizer* inner)
    : parameters_(inner->parameters_),
      state_(inner->state_),
      global_step_(inner->global_step_),
      rate_(inner->rate_),
      rates_(inner->rates_),
      rate_of_(inner->rate_of_),
      decay_of_(parameters_.size(), inner->weight_decay_),
      weight_decay_(inner->weight_decay_),
      id_(new_boundary_id()) {
  SORUS_CHECK(!inner->grouped_, ValueError,
              "optimizer: wrapped optimizer has groups: got {} parameters in groups, need none in groups",
              parameters_.size());
  inner->decay_of_.assign(decay_of_.size(), 0);
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
    BoundaryKey key(id_);
    key.add(gradients);
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

Parameter Optimizer::make_shared_state(const std::string& name, double first, const Shape& shape) {
  return state_.emplace_back(full({DType::kFloat32, {}, shape}, first), name, false);
}

Tensor Optimizer::decayed(size_t i, const Tensor& gradient) const {
  return add_weight_decay(gradient, parameters_[i], decay_of(i));
}

double Optimizer::first_rate(size_t i) const {
  const std::optional<Schedule>& own = rates_[rate_of_[i]].own;
  return own ? (*own)(0) : rate_(0);
}

void Optimizer::give(std::initializer_list<Parameter> handles, TensorList values) {
  size_t place = 0;
  for (Parameter handle : handles) handle.set_value(std::move(values[place++]));
}

}  // namespace sorus::optim
