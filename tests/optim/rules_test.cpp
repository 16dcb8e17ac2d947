#include "sorus/optim/rules.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "tests/optim/recorded_steps.h"

namespace sorus::optim {
namespace {

/// Tests a rule that has one more state tensor for each parameter: rule(p, state, g) -> {p', state'}.
void expect_rule(const std::string& key, std::vector<double> first,
                 const std::function<TensorList(const TensorList& now, const Tensor& g)>& rule) {
  std::vector<Parameter> parameters = tiny_parameters();
  std::vector<TensorList> states;
  for (const Parameter& p : parameters) {
    TensorList state{p.value()};
    for (double value : first) state.push_back(p.value() * 0.0 + value);
    states.push_back(state);
  }
  expect_recorded(key + ", lr=0.1", parameters, [&](const TensorList& gradients) {
    for (size_t i = 0; i < 2; ++i) {
      states[i] = rule(states[i], gradients[i]);
      parameters[i].set_value(states[i][0]);
    }
  });
}

TEST(Rules, StepsAreThoseRecorded) {
  Tensor rate(0.1F);
  expect_rule("Adagrad", {0.1},
              [&](const TensorList& s, const Tensor& g) { return adagrad(s[0], s[1], g, rate); });
  expect_rule("ProximalAdagrad", {0.1},
              [&](const TensorList& s, const Tensor& g) { return proximal_adagrad(s[0], s[1], g, rate); });
  expect_rule("Adadelta", {0, 0},
              [&](const TensorList& s, const Tensor& g) { return adadelta(s[0], s[1], s[2], g, rate); });
  expect_rule("FTRL", {0.1, 0},
              [&](const TensorList& s, const Tensor& g) { return ftrl(s[0], s[1], s[2], g, rate); });
  expect_rule("Rprop", {0, 0.1},
              [&](const TensorList& s, const Tensor& g) { return rprop(s[0], s[1], s[2], g); });
}

TEST(Rules, StepsWithPowersAreThoseRecorded) {
  int calls = 0;
  auto step = [&] { return calls++ / 2 + 1; };  // two parameters a step
  expect_rule("AdaMax", {0, 0}, [&](const TensorList& s, const Tensor& g) {
    Tensor rate(static_cast<float>(0.1 / (1 - std::pow(0.9, step()))));
    return ada_max(s[0], s[1], s[2], g, rate, {});
  });
  calls = 0;
  expect_rule("Adam use_amsgrad", {0, 0, 0}, [&](const TensorList& s, const Tensor& g) {
    int t = step();
    Tensor rate = adam_rate(Tensor(0.1F), Tensor(static_cast<float>(std::pow(double{0.9F}, t))),
                            Tensor(static_cast<float>(std::pow(double{0.999F}, t))));
    return amsgrad(s[0], s[1], s[2], s[3], g, rate, {});
  });
  calls = 0;
  expect_rule("ASGD", {0}, [&](const TensorList& s, const Tensor& g) {
    auto t = static_cast<float>(step() - 1);
    TensorList rates = averaged_descent_rates(Tensor(0.1F), Tensor(t), 1e-4, 0.75, 1e6);
    return averaged_descent(s[0], s[1], g, rates[0], rates[1], 1e-4);
  });
}

/// Rules that the genuine package cannot run on a CPU, against their formulas in double precision.
TEST(Rules, LambAndLayerScaledFollowTheirFormulas) {
  std::vector<float> p = {0.5F, -1.F, 2.F, 0.25F}, g = {0.1F, -0.2F, 0.3F, 0.5F};
  Tensor pt{std::span<const float>(p), Shape{4}}, gt{std::span<const float>(g), Shape{4}};
  Tensor zero = pt * 0.0;
  double decay = 0.01, rate = 0.1, size = 0, step_size = 0, gradient_size = 0;
  std::vector<double> step(4);
  for (size_t i = 0; i < 4; ++i) {
    step[i] = g[i] / (std::abs(g[i]) + 1e-6) + decay * p[i];  // first step: corrections cancel
    size += static_cast<double>(p[i]) * p[i];
    step_size += step[i] * step[i];
    gradient_size += static_cast<double>(g[i]) * g[i];
  }
  size = std::sqrt(size), step_size = std::sqrt(step_size), gradient_size = std::sqrt(gradient_size);
  TensorList next = lamb(pt, zero, zero, gt, Tensor(0.1F), Tensor(0.9F), Tensor(0.999F), decay,
                         {.beta1 = 0.9, .beta2 = 0.999, .eps = 1e-6, .nesterov = false});
  std::vector<float> got = next[0].to_vector<float>();
  std::vector<float> scaled =
      layer_scaled(pt, gt, Tensor(0.1F), decay, 0.001, 1e-5, false).to_vector<float>();
  double factor = 0.001 * size / (gradient_size + decay * size + 1e-5);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(got[i], p[i] - rate * size / step_size * step[i], 2e-5);
    EXPECT_NEAR(scaled[i], (g[i] + decay * p[i]) * factor, 1e-8);
  }
}

TEST(Rules, NesterovMomentumLooksAhead) {
  // v' = 0.9 * 2 + 1 = 2.8; p' = 1 - 0.1 * (1 + 0.9 * 2.8)
  TensorList next = momentum(Tensor(1.F), Tensor(2.F), Tensor(1.F), Tensor(0.1F), Tensor(0.9F), true);
  EXPECT_FLOAT_EQ(next[0].item<float>(), 1 - 0.1F * (1 + 0.9F * 2.8F));
  EXPECT_FLOAT_EQ(next[1].item<float>(), 2.8F);
}

}  // namespace
}  // namespace sorus::optim
