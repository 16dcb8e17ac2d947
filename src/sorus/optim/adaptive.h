#pragma once

#include "sorus/optim/optimizer.h"

/// Optimizers whose steps follow from what gradients have summed up to. They apply the rules of the same
/// names in rules.h, where the formulas stand. Hyperparameters out of range are ValueErrors.
namespace sorus::optim {

/// Rule `rms_prop`. State: "mean_square.<parameter>", "moment.<parameter>" and, if centered, before them
/// "mean_grad.<parameter>".
class SORUS_API RMSProp : public Optimizer {
 public:
  RMSProp(Parameters parameters, Schedule rate, RmsPropOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  RmsPropOptions options_;
  std::vector<Parameter> mean_gradient_, mean_square_, moment_;
};

struct AdagradOptions {
  double accum = 0.1;  ///< what the sums start from
  bool update_slots = true;
};
/// Rule `adagrad`. State: "accum.<parameter>".
class SORUS_API Adagrad : public Optimizer {
 public:
  Adagrad(Parameters parameters, Schedule rate, AdagradOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  AdagradOptions options_;
  std::vector<Parameter> accum_;
};

struct ProximalAdagradOptions {
  double accum = 0.1;  ///< what the sums start from
  double l1 = 0;
  double l2 = 0;
};
/// Rule `proximal_adagrad`. State: "accum.<parameter>".
class SORUS_API ProximalAdagrad : public Optimizer {
 public:
  ProximalAdagrad(Parameters parameters, Schedule rate, ProximalAdagradOptions options = {},
                  double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  ProximalAdagradOptions options_;
  std::vector<Parameter> accum_;
};

struct AdadeltaOptions {
  double rho = 0.9;
  double eps = 1e-6;
};
/// Rule `adadelta`. State: "accum.<parameter>" and "accum_update.<parameter>".
class SORUS_API Adadelta : public Optimizer {
 public:
  Adadelta(Parameters parameters, Schedule rate, AdadeltaOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  AdadeltaOptions options_;
  std::vector<Parameter> accum_, accum_update_;
};

struct FtrlOptions {
  double accum = 0.1;   ///< what the sums start from
  double power = -0.5;  ///< at most 0
  double l1 = 0;
  double l2 = 0;
};
/// Rule `ftrl`, which is meant for a rate that stays the same. State: "moments.<parameter>" and
/// "linear.<parameter>".
class SORUS_API FTRL : public Optimizer {
 public:
  FTRL(Parameters parameters, Schedule rate, FtrlOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  FtrlOptions options_;
  std::vector<Parameter> moments_, linear_;
};

struct RpropOptions {
  double eta_minus = 0.5;  ///< below 1: by what a step shrinks
  double eta_plus = 1.2;   ///< above 1: by what a step grows
  double smallest = 1e-6;
  double largest = 50;
};
/// Rule `rprop`; the first rate is the size of the first steps. State: "prev.<parameter>" and
/// "step_size.<parameter>".
class SORUS_API Rprop : public Optimizer {
 public:
  Rprop(Parameters parameters, Schedule rate, RpropOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  RpropOptions options_;
  std::vector<Parameter> previous_, step_size_;
};

}  // namespace sorus::optim
