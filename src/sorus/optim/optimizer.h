#pragma once

#include <vector>

#include "sorus/core/parameter.h"
#include "sorus/optim/rules.h"
#include "sorus/optim/schedule.h"

/// Optimizers update parameters in place, given their gradients. State is named as in checkpoints:
/// "moments.<parameter>" and so on. In graph mode a call is a boundary. Not to be called from two threads at
/// once.
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
  /// State tensors, named "<kind>.<parameter>", and "global_step": what a checkpoint of training holds beside
  /// weights.
  [[nodiscard]] std::vector<Parameter> state() const { return state_; }
  /// Rate of the coming step.
  [[nodiscard]] double rate() const { return rate_(step_); }
  void set_rate(Schedule rate) { rate_ = std::move(rate); }
  [[nodiscard]] int64_t step() const { return step_; }

 protected:
  /// What all parameters share in one step.
  struct Step {
    int64_t number;  ///< from 0
    double rate;
    Tensor rate_tensor;  ///< float32, rank 0
  };
  /// Updates parameter `i` with its gradient.
  virtual void update(size_t i, const Tensor& gradient, const Step& step) = 0;
  /// Rate in `step` as the rule wants it; a rule with a correction overrides it.
  [[nodiscard]] virtual double effective_rate(int64_t step, double rate) const;
  /// A state tensor for each parameter, filled with `first`.
  [[nodiscard]] std::vector<Parameter> make_state(const std::string& kind, double first = 0);
  /// The gradient with the weight decay added.
  [[nodiscard]] Tensor decayed(size_t i, const Tensor& gradient) const;
  [[nodiscard]] double weight_decay() const { return weight_decay_; }

 private:
  std::vector<Parameter> parameters_;
  std::vector<Parameter> state_;
  Parameter global_step_;
  Schedule rate_;
  double weight_decay_;
  int64_t step_ = 0;
  uint64_t id_;
};

/// Momentum as in rules.h.
class SORUS_API Momentum : public Optimizer {
 public:
  Momentum(std::vector<Parameter> parameters, Schedule rate, double momentum, double weight_decay = 0,
           bool nesterov = false);

 private:
  void update(size_t i, const Tensor& gradient, const Step& step) override;
  double momentum_;
  bool nesterov_;
  std::vector<Parameter> moments_;
};

class SORUS_API SGD : public Optimizer {
 public:
  SGD(std::vector<Parameter> parameters, Schedule rate, SgdOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Step& step) override;
  SgdOptions options_;
  std::vector<Parameter> velocity_;
};

class SORUS_API Adam : public Optimizer {
 public:
  Adam(std::vector<Parameter> parameters, Schedule rate, AdamOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Step& step) override;
  [[nodiscard]] double effective_rate(int64_t step, double rate) const override;
  AdamOptions options_;
  std::vector<Parameter> moment1_, moment2_;
};

class SORUS_API AdamWeightDecay : public Optimizer {
 public:
  AdamWeightDecay(std::vector<Parameter> parameters, Schedule rate, double weight_decay = 0,
                  AdamOptions options = {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-6, .nesterov = false});

 private:
  void update(size_t i, const Tensor& gradient, const Step& step) override;
  AdamOptions options_;
  std::vector<Parameter> moment1_, moment2_;
};

class SORUS_API RMSProp : public Optimizer {
 public:
  RMSProp(std::vector<Parameter> parameters, Schedule rate, RmsPropOptions options = {},
          double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Step& step) override;
  RmsPropOptions options_;
  std::vector<Parameter> mean_square_, moment_, mean_gradient_;
};

}  // namespace sorus::optim
