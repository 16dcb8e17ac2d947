#include "binding/functions.h"
#include "sorus/optim/schedule.h"

/// Learning-rate schedules, called with the step last.
namespace sorus::python {
namespace {

using namespace optim;  // NOLINT: the functions bound here are its functions

double exponential_decay_rate(double rate, double decay_rate, int64_t decay_steps, bool stair, int64_t step) {
  return exponential_decay(rate, decay_rate, decay_steps, stair)(step);
}
double natural_exp_decay_rate(double rate, double decay_rate, int64_t decay_steps, bool stair, int64_t step) {
  return natural_exp_decay(rate, decay_rate, decay_steps, stair)(step);
}
double inverse_decay_rate(double rate, double decay_rate, int64_t decay_steps, bool stair, int64_t step) {
  return inverse_decay(rate, decay_rate, decay_steps, stair)(step);
}
double cosine_decay_rate(double min_rate, double max_rate, int64_t decay_steps, int64_t step) {
  return cosine_decay(min_rate, max_rate, decay_steps)(step);
}
double polynomial_decay_rate(double rate, double end_rate, int64_t decay_steps, double power, bool update,
                             int64_t step) {
  return polynomial_decay(rate, end_rate, decay_steps, power, update)(step);
}
double warm_up_rate(double rate, int64_t warmup_steps, int64_t step) {
  return warm_up(rate, warmup_steps)(step);
}

}  // namespace

std::vector<Function> schedule_functions() {
  return {
      function("exponential_decay_rate", &exponential_decay_rate,
               "rate, decay_rate, decay_steps, stair, step"),
      function("natural_exp_decay_rate", &natural_exp_decay_rate,
               "rate, decay_rate, decay_steps, stair, step"),
      function("inverse_decay_rate", &inverse_decay_rate, "rate, decay_rate, decay_steps, stair, step"),
      function("cosine_decay_rate", &cosine_decay_rate, "min_rate, max_rate, decay_steps, step"),
      function("polynomial_decay_rate", &polynomial_decay_rate,
               "rate, end_rate, decay_steps, power, update_decay_steps, step"),
      function("warm_up_rate", &warm_up_rate, "rate, warmup_steps, step"),
  };
}

}  // namespace sorus::python
