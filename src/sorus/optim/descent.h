#pragma once

#include <functional>

#include "sorus/optim/optimizer.h"

/// Optimizers that step along the gradient. They apply the rules of the same names in rules.h, where the
/// formulas stand. Hyperparameters out of range are ValueErrors.
namespace sorus::optim {

/// Rule `momentum`. State: "momentum" and "moments.<parameter>".
class SORUS_API Momentum : public Optimizer {
 public:
  Momentum(Parameters parameters, Schedule rate, double momentum, double weight_decay = 0,
           bool nesterov = false);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  bool nesterov_;
  Parameter momentum_;
  std::vector<Parameter> moments_;
};

/// Rule `sgd`, or `gradient_descent` without momentum. State: "momentum", "accum.<parameter>" and
/// "stat.<parameter>".
class SORUS_API SGD : public Optimizer {
 public:
  SGD(Parameters parameters, Schedule rate, SgdOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  SgdOptions options_;
  Parameter momentum_;
  std::vector<Parameter> velocity_, first_;
};

struct AsgdOptions {
  double lambda = 1e-4;  ///< decay of the parameter
  double alpha = 0.75;   ///< power by which the pace falls
  double t0 = 1e6;       ///< steps before averaging begins
};
/// Rule `averaged_descent`, its paces from `averaged_descent_rates`. State: "mu_<parameter>",
/// "eta_<parameter>" and the averages "ax_.<parameter>".
class SORUS_API ASGD : public Optimizer {
 public:
  ASGD(Parameters parameters, Schedule rate, AsgdOptions options = {}, double weight_decay = 0);
  /// The averages, one for each parameter.
  [[nodiscard]] const std::vector<Parameter>& averages() const { return average_; }

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  void begin_step() override;
  AsgdOptions options_;
  Tensor next_step_;
  std::vector<Parameter> mu_, eta_, average_;
};

struct LarsOptions {
  double eps = 1e-5;
  double coefficient = 0.001;
  bool clip = false;
};
/// Scales gradients layer by layer (rule `layer_scaled`) and hands them to another optimizer, which it
/// borrows and whose weight decay it takes over, for all that it scales. State is that of the other one.
class SORUS_API LARS : public Optimizer {
 public:
  /// Says which parameters are scaled.
  using Filter = std::function<bool(const Parameter&)>;
  /// All but those with "LayerNorm" or "bias" in their names.
  [[nodiscard]] static bool default_filter(const Parameter& parameter);
  /// `optimizer` outlives this and has no groups.
  explicit LARS(Optimizer& optimizer, LarsOptions options = {}, const Filter& filter = default_filter);
  [[nodiscard]] double rate() const override { return inner_.rate(); }
  void set_rate(Schedule rate) override { inner_.set_rate(std::move(rate)); }

 private:
  void step_all(const TensorList& gradients) override;
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  Optimizer& inner_;
  LarsOptions options_;
  std::vector<bool> scaled_;
};

}  // namespace sorus::optim
