#pragma once

#include <optional>
#include <vector>

#include "sorus/core/parameter.h"
#include "sorus/optim/rules.h"
#include "sorus/optim/schedule.h"

/// Optimizers update parameters in place, given their gradients. State is named as in checkpoints:
/// "moments.<parameter>" and so on; training goes on from restored state as if it had not stopped. Weight
/// decay leaves out parameters with "beta" or "gamma" in their names unless they are grouped. In graph mode a
/// call is a boundary. Not to be called from two threads at once. The classes are in descent.h, adam.h and
/// adaptive.h; optimizers.h includes them all.
namespace sorus::optim {

/// Parameters with a rate or a weight decay of their own.
struct ParameterGroup {
  std::vector<Parameter> parameters;
  std::optional<Schedule> rate = {};
  std::optional<double> weight_decay = {};
};
/// What an optimizer updates: plain parameters, or groups.
struct Parameters {
  Parameters(std::vector<Parameter> all) : groups{{std::move(all)}} {}  // NOLINT: a list is its own group
  Parameters(std::vector<ParameterGroup> some) : groups(std::move(some)), grouped(true) {}  // NOLINT
  std::vector<ParameterGroup> groups;
  bool grouped = false;
};

class SORUS_API Optimizer {
 public:
  /// Takes the parameters to update, in the order in which gradients will come. Throws ValueError for none,
  /// or when two have one name, or none.
  Optimizer(Parameters parameters, Schedule rate, double weight_decay = 0);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// One step. Throws ValueError unless there is a gradient of the right shape for each parameter.
  void operator()(const TensorList& gradients);

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  /// State tensors, named "<kind>.<parameter>", "global_step" and "learning_rate" (that of the last step; of
  /// groups with their own "learning_rate_group_<number>"): what a checkpoint of training holds beside
  /// weights.
  [[nodiscard]] std::vector<Parameter> state() const { return state_; }
  /// Rate of the coming step, of parameters whose group has none of its own.
  [[nodiscard]] virtual double rate() const { return rate_(step()); }
  /// Another rate from the coming step on, for parameters whose group has none of its own.
  virtual void set_rate(Schedule rate) { rate_ = std::move(rate); }
  /// Number of steps done.
  [[nodiscard]] int64_t step() const { return global_step_.value().item<int64_t>(); }

 protected:
  /// For an optimizer that wraps another, which outlives it: shares parameters and state with it and takes
  /// its weight decay over, for all parameters. Throws ValueError when those are grouped.
  explicit Optimizer(Optimizer* inner);
  /// One step with gradients that were checked.
  virtual void step_all(const TensorList& gradients);
  /// Updates parameter `i` with its gradient; `rate` has its dtype and rank 0.
  virtual void update(size_t i, const Tensor& gradient, const Tensor& rate) = 0;
  /// Called once a step, before any update.
  virtual void begin_step() {}
  /// A rate of the step as the rule wants it.
  [[nodiscard]] virtual Tensor corrected(const Tensor& rate) const { return rate; }
  /// A state tensor for each parameter, filled with `first`.
  [[nodiscard]] std::vector<Parameter> make_state(const std::string& kind, double first = 0);
  /// A float32 state tensor that all parameters share.
  [[nodiscard]] Parameter make_shared_state(const std::string& name, double first, const Shape& shape = {});
  /// The gradient with the weight decay added.
  [[nodiscard]] Tensor decayed(size_t i, const Tensor& gradient) const;
  /// Weight decay of parameter `i`.
  [[nodiscard]] double decay_of(size_t i) const { return decay_of_[i]; }
  /// Rate of the first step for parameter `i`.
  [[nodiscard]] double first_rate(size_t i) const;
  /// Gives each handle the value at its place; further values are dropped.
  static void give(std::initializer_list<Parameter> handles, TensorList values);

 private:
  std::vector<Parameter> parameters_;
  std::vector<Parameter> state_;
  /// A rate in use: a group's own, or without a schedule the common one.
  struct Rate {
    std::optional<Schedule> own;
    Parameter state;
  };
  [[nodiscard]] size_t find_rate(const ParameterGroup& group, size_t number);
  Parameter global_step_;
  Schedule rate_;
  std::vector<Rate> rates_;
  std::vector<size_t> rate_of_;   // by parameter
  std::vector<double> decay_of_;  // by parameter
  double weight_decay_ = 0;
  bool grouped_ = false;
  uint64_t id_;
};

}  // namespace sorus::optim
