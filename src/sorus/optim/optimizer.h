#pragma once

#include <vector>

#include "sorus/core/parameter.h"
#include "sorus/optim/rules.h"
#include "sorus/optim/schedule.h"

/// Optimizers update parameters in place, given their gradients. State is named as in checkpoints:
/// "moments.<parameter>" and so on; training goes on from restored state as if it had not stopped. Weight
/// decay leaves out parameters with "beta" or "gamma" in their names. In graph mode a call is a boundary. Not
/// to be called from two threads at once.
namespace sorus::optim {

class SORUS_API Optimizer {
 public:
  /// Takes the parameters to update, in the order in which gradients will come. Throws ValueError for none,
  /// or when two have one name, or none.
  Optimizer(std::vector<Parameter> parameters, Schedule rate, double weight_decay = 0);
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  /// One step. Throws ValueError unless there is a gradient of the right shape for each parameter.
  void operator()(const TensorList& gradients);

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  /// State tensors, named "<kind>.<parameter>", "global_step" and "learning_rate" (that of the last step):
  /// what a checkpoint of training holds beside weights.
  [[nodiscard]] std::vector<Parameter> state() const { return state_; }
  /// Rate of the coming step.
  [[nodiscard]] double rate() const { return rate_(step()); }
  void set_rate(Schedule rate) { rate_ = std::move(rate); }
  /// Number of steps done.
  [[nodiscard]] int64_t step() const { return global_step_.value().item<int64_t>(); }

 protected:
  /// Updates parameter `i` with its gradient; `rate` is float32, rank 0.
  virtual void update(size_t i, const Tensor& gradient, const Tensor& rate) = 0;
  /// Called once a step with its rate; gives the rate as the rule wants it.
  [[nodiscard]] virtual Tensor begin_step(const Tensor& rate) { return rate; }
  /// A state tensor for each parameter, filled with `first`.
  [[nodiscard]] std::vector<Parameter> make_state(const std::string& kind, double first = 0);
  /// A float32 state tensor of rank 0 that all parameters share.
  [[nodiscard]] Parameter make_shared_state(const std::string& name, double first);
  /// The gradient with the weight decay added.
  [[nodiscard]] Tensor decayed(size_t i, const Tensor& gradient) const;
  /// Weight decay of parameter `i`.
  [[nodiscard]] double decay_of(size_t i) const;

 private:
  std::vector<Parameter> parameters_;
  std::vector<Parameter> state_;
  Parameter global_step_, learning_rate_;
  Schedule rate_;
  double weight_decay_;
  std::vector<bool> decays_;
  uint64_t id_;
};

/// The classes below apply the rules of the same names in rules.h.
class SORUS_API Momentum : public Optimizer {
 public:
  Momentum(std::vector<Parameter> parameters, Schedule rate, double momentum, double weight_decay = 0,
           bool nesterov = false);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  bool nesterov_;
  Parameter momentum_;
  std::vector<Parameter> moments_;
};

class SORUS_API SGD : public Optimizer {
 public:
  SGD(std::vector<Parameter> parameters, Schedule rate, SgdOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  SgdOptions options_;
  Parameter momentum_;
  std::vector<Parameter> velocity_, first_;
};

class SORUS_API Adam : public Optimizer {
 public:
  Adam(std::vector<Parameter> parameters, Schedule rate, AdamOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  [[nodiscard]] Tensor begin_step(const Tensor& rate) override;
  AdamOptions options_;
  Parameter beta1_power_, beta2_power_;
  std::vector<Parameter> moment1_, moment2_;
};

class SORUS_API AdamWeightDecay : public Optimizer {
 public:
  AdamWeightDecay(std::vector<Parameter> parameters, Schedule rate, double weight_decay = 0,
                  AdamOptions options = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-6, .nesterov = false});

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  AdamOptions options_;
  std::vector<Parameter> moment1_, moment2_;
};

class SORUS_API RMSProp : public Optimizer {
 public:
  RMSProp(std::vector<Parameter> parameters, Schedule rate, RmsPropOptions options = {},
          double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  RmsPropOptions options_;
  std::vector<Parameter> mean_gradient_, mean_square_, moment_;
};

}  // namespace sorus::optim
