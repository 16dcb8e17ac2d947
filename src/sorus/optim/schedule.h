#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sorus/base/export.h"

/// Learning rates as functions of the step, which counts from 0. They run on the host, so that a rate may
/// change at any step in both modes. Formulas are those of the Python package's functions of the same names.
namespace sorus::optim {

using Schedule = std::function<double(int64_t step)>;

[[nodiscard]] SORUS_API Schedule constant_rate(double rate);  ///< the same at every step
/// rates[step]; the last one goes on. Throws ValueError when empty.
[[nodiscard]] SORUS_API Schedule rates_of(std::vector<double> rates);
/// rate * decay_rate^p with p = step / decay_steps, rounded down when `is_stair`.
[[nodiscard]] SORUS_API Schedule exponential_decay(double rate, double decay_rate, int64_t decay_steps,
                                                   bool is_stair = false);
/// rate * exp(-decay_rate * step), with `is_stair` the step rounded down to a multiple of `decay_steps`.
[[nodiscard]] SORUS_API Schedule natural_exp_decay(double rate, double decay_rate, int64_t decay_steps,
                                                   bool is_stair = false);
/// rate / (1 + decay_rate * p).
[[nodiscard]] SORUS_API Schedule inverse_decay(double rate, double decay_rate, int64_t decay_steps,
                                               bool is_stair = false);
/// min + (max - min) * (1 + cos(pi * min(step, decay_steps) / decay_steps)) / 2.
[[nodiscard]] SORUS_API Schedule cosine_decay(double min_rate, double max_rate, int64_t decay_steps);
/// (rate - end) * (1 - min(step, decay_steps) / decay_steps)^power + end. With `update_decay_steps` the decay
/// steps grow to the next multiple that is not below the step.
[[nodiscard]] SORUS_API Schedule polynomial_decay(double rate, double end_rate, int64_t decay_steps,
                                                  double power, bool update_decay_steps = false);
/// rate * min(step, warmup_steps) / warmup_steps.
[[nodiscard]] SORUS_API Schedule warm_up(double rate, int64_t warmup_steps);
/// rates[i] while step < milestones[i]; the last rate goes on. Milestones rise.
[[nodiscard]] SORUS_API Schedule piecewise_constant(std::vector<int64_t> milestones,
                                                    std::vector<double> rates);

}  // namespace sorus::optim
