#include "sorus/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sorus/base/error.h"

namespace sorus::optim {
namespace {

void check_positive(const char* name, const char* what, double value) {
  SORUS_CHECK(value > 0, ValueError, "{}: {} is not positive: got {}, need more than 0", name, what, value);
}

double progress(int64_t step, int64_t decay_steps, bool is_stair) {
  double p = static_cast<double>(step) / static_cast<double>(decay_steps);
  return is_stair ? std::floor(p) : p;
}

}  // namespace

Schedule constant_rate(double rate) {
  return [rate](int64_t) { return rate; };
}

Schedule rates_of(std::vector<double> rates) {
  SORUS_CHECK(!rates.empty(), ValueError, "rates_of: list is empty: got no rate, need at least one");
  return [rates = std::move(rates)](int64_t step) {
    return rates[static_cast<size_t>(std::min<int64_t>(step, static_cast<int64_t>(rates.size()) - 1))];
  };
}

Schedule exponential_decay(double rate, double decay_rate, int64_t decay_steps, bool is_stair) {
  check_positive("exponential_decay", "decay_steps", static_cast<double>(decay_steps));
  check_positive("exponential_decay", "decay_rate", decay_rate);
  return [=](int64_t step) { return rate * std::pow(decay_rate, progress(step, decay_steps, is_stair)); };
}

Schedule natural_exp_decay(double rate, double decay_rate, int64_t decay_steps, bool is_stair) {
  check_positive("natural_exp_decay", "decay_steps", static_cast<double>(decay_steps));
  return [=](int64_t step) {
    auto counted = static_cast<double>(is_stair ? step / decay_steps * decay_steps : step);
    return rate * std::exp(-decay_rate * counted);
  };
}

Schedule inverse_decay(double rate, double decay_rate, int64_t decay_steps, bool is_stair) {
  check_positive("inverse_decay", "decay_steps", static_cast<double>(decay_steps));
  return [=](int64_t step) { return rate / (1 + decay_rate * progress(step, decay_steps, is_stair)); };
}

Schedule cosine_decay(double min_rate, double max_rate, int64_t decay_steps) {
  check_positive("cosine_decay", "decay_steps", static_cast<double>(decay_steps));
  SORUS_CHECK(min_rate < max_rate, ValueError,
              "cosine_decay: rates are in the wrong order: got {} and {}, need min < max", min_rate,
              max_rate);
  return [=](int64_t step) {
    double p = static_cast<double>(std::min(step, decay_steps)) / static_cast<double>(decay_steps);
    return min_rate + (max_rate - min_rate) * 0.5 * (1 + std::cos(std::numbers::pi * p));
  };
}

Schedule polynomial_decay(double rate, double end_rate, int64_t decay_steps, double power,
                          bool update_decay_steps) {
  check_positive("polynomial_decay", "decay_steps", static_cast<double>(decay_steps));
  check_positive("polynomial_decay", "power", power);
  return [=](int64_t step) {
    auto steps = static_cast<double>(decay_steps);
    if (update_decay_steps) steps *= std::max(1.0, std::ceil(static_cast<double>(step) / steps));
    double p = std::min(static_cast<double>(step), steps) / steps;
    return (rate - end_rate) * std::pow(1 - p, power) + end_rate;
  };
}

Schedule warm_up(double rate, int64_t warmup_steps) {
  check_positive("warm_up", "warmup_steps", static_cast<double>(warmup_steps));
  return [=](int64_t step) {
    return rate * static_cast<double>(std::min(step, warmup_steps)) / static_cast<double>(warmup_steps);
  };
}

Schedule piecewise_constant(std::vector<int64_t> milestones, std::vector<double> rates) {
  SORUS_CHECK(!rates.empty() && milestones.size() == rates.size(), ValueError,
              "piecewise_constant: lists differ in length: got {} milestones and {} rates, need as many",
              milestones.size(), rates.size());
  SORUS_CHECK(
      std::is_sorted(milestones.begin(), milestones.end()), ValueError,
      "piecewise_constant: milestones do not rise: got a smaller one after a larger, need them sorted");
  return [m = std::move(milestones), r = std::move(rates)](int64_t step) {
    auto at = std::upper_bound(m.begin(), m.end(), step) - m.begin();
    return r[std::min(static_cast<size_t>(at), r.size() - 1)];
  };
}

}  // namespace sorus::optim
