#pragma once

#include "sorus/optim/optimizer.h"

/// Adam and its relatives. They apply the rules of the same names in rules.h, where the formulas stand.
/// Hyperparameters out of range are ValueErrors.
namespace sorus::optim {

/// Rule `adam`, or `amsgrad` if the options say so. State: "beta1_power", "beta2_power",
/// "moment1.<parameter>", "moment2.<parameter>" and, with amsgrad, "vhat.<parameter>".
class SORUS_API Adam : public Optimizer {
 public:
  Adam(Parameters parameters, Schedule rate, AdamOptions options = {}, double weight_decay = 0);

 protected:
  /// With the shape in which the powers are kept.
  Adam(Parameters parameters, Schedule rate, AdamOptions options, double weight_decay,
       const Shape& power_shape);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  void begin_step() override;
  [[nodiscard]] Tensor corrected(const Tensor& rate) const override;
  AdamOptions options_;
  Parameter beta1_power_, beta2_power_;
  std::vector<Parameter> moment1_, moment2_, largest_;
};

/// Adam, which for dense gradients is what lazy updates are; its powers have shape (1).
class SORUS_API LazyAdam : public Adam {
 public:
  LazyAdam(Parameters parameters, Schedule rate, AdamOptions options = {}, double weight_decay = 0);
};

/// Adam: on a CPU everything is where offloading would put it.
using AdamOffload = Adam;

/// Rule `adam_weight_decay`. State: "adam_m.<parameter>" and "adam_v.<parameter>".
class SORUS_API AdamWeightDecay : public Optimizer {
 public:
  AdamWeightDecay(Parameters parameters, Schedule rate, double weight_decay = 0,
                  AdamOptions options = {.eps = 1e-6});

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  AdamOptions options_;
  std::vector<Parameter> moment1_, moment2_;
};

/// Rule `ada_max`. State: "beta1_power" of shape (1), "moment1.<parameter>" and "moment2.<parameter>".
class SORUS_API AdaMax : public Optimizer {
 public:
  AdaMax(Parameters parameters, Schedule rate, AdamOptions options = {}, double weight_decay = 0);

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  void begin_step() override;
  [[nodiscard]] Tensor corrected(const Tensor& rate) const override;
  AdamOptions options_;
  Parameter beta1_power_;
  std::vector<Parameter> moment1_, moment2_;
};

/// Rule `lamb`. State: "lamb_m.<parameter>" and "lamb_v.<parameter>".
class SORUS_API Lamb : public Optimizer {
 public:
  Lamb(Parameters parameters, Schedule rate, double weight_decay = 0, AdamOptions options = {.eps = 1e-6});

 private:
  void update(size_t i, const Tensor& gradient, const Tensor& rate) override;
  void begin_step() override;
  AdamOptions options_;
  Tensor beta1_power_, beta2_power_;
  std::vector<Parameter> moment1_, moment2_;
};

}  // namespace sorus::optim
