#include <gtest/gtest.h>

#include <cmath>

#include "sorus/compiler/boundary.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/optim/optimizers.h"
#include "tests/optim/recorded_steps.h"

namespace sorus::optim {
namespace {

using Make = std::function<std::unique_ptr<Optimizer>(std::vector<Parameter>, Schedule)>;
template <class O, class... Args>
Make make(Args... args) {
  return [args...](std::vector<Parameter> parameters, Schedule rate) {
    return std::make_unique<O>(std::move(parameters), std::move(rate), args...);
  };
}

const std::vector<std::pair<std::string, Make>>& optimizers() {
  static const std::vector<std::pair<std::string, Make>> all = {
      {"SGD", make<SGD>()},
      {"SGD momentum=0.9", make<SGD>(SgdOptions{.momentum = 0.9})},
      {"SGD momentum=0.9, nesterov, weight_decay=0.01",
       make<SGD>(SgdOptions{.momentum = 0.9, .nesterov = true}, 0.01)},
      {"SGD momentum=0.9, dampening=0.5", make<SGD>(SgdOptions{.momentum = 0.9, .dampening = 0.5})},
      {"Momentum", make<Momentum>(0.9)},
      {"Adam", make<Adam>()},
      {"Adam weight_decay=0.01", make<Adam>(AdamOptions{}, 0.01)},
      {"Adam use_nesterov", make<Adam>(AdamOptions{.nesterov = true})},
      {"Adam use_amsgrad", make<Adam>(AdamOptions{.amsgrad = true})},
      {"LazyAdam", make<LazyAdam>()},
      {"AdaMax", make<AdaMax>()},
      {"ASGD", make<ASGD>()},
      {"Adagrad", make<Adagrad>()},
      {"ProximalAdagrad", make<ProximalAdagrad>()},
      {"Adadelta", make<Adadelta>()},
      {"Rprop", make<Rprop>()},
      {"AdamWeightDecay weight_decay=0.01", make<AdamWeightDecay>(0.01)},
      {"RMSProp", make<RMSProp>()},
      {"RMSProp centered, momentum=0.9", make<RMSProp>(RmsPropOptions{.momentum = 0.9, .centered = true})},
  };
  return all;
}

TEST(Optimizer, StepsAreThoseRecorded) {
  for (const auto& [name, create] : optimizers()) {
    std::vector<Parameter> fixed = tiny_parameters(), changing = tiny_parameters();
    auto a = create(fixed, constant_rate(0.1));
    expect_recorded(name + ", lr=0.1", fixed, [&](const TensorList& g) { (*a)(g); });
    auto b = create(changing, rates_of({0.1, 0.05, 0.02}));
    expect_recorded(name + ", lr=[0.1, 0.05, 0.02]", changing, [&](const TensorList& g) { (*b)(g); });
  }
}

TEST(Optimizer, StateHasTheNamesRecorded) {
  std::ifstream in(std::string(SORUS_SOURCE_DIR) + "/tests/fixtures/mindspore/facts.json");
  Json names = Json::parse(in)["parameter_names"];
  for (const auto& [name, create] : optimizers()) {
    std::vector<std::string> got, want;
    auto optimizer = create(tiny_parameters(), constant_rate(0.1));
    for (const Parameter& p : optimizer->state()) got.push_back(p.name());
    for (const Json& row : names[name + ", fixed"])
      if (row[0] != "weight" && row[0] != "bias") want.push_back(row[0]);
    EXPECT_EQ(got, want) << name;
  }
}

TEST(Optimizer, ModesHaveEqualBitsWhileTheRateChanges) {
  for (const auto& [name, create] : optimizers()) {
    std::vector<Parameter> eager = tiny_parameters(), graph = tiny_parameters();
    auto a = create(eager, polynomial_decay(0.1, 0.01, 5, 2)),
         b = create(graph, polynomial_decay(0.1, 0.01, 5, 2));
    for (int t = 0; t < 5; ++t) {
      const Json& gradients = recorded()["gradients"][static_cast<size_t>(t % 3)];
      TensorList g{tensor_of(gradients[0]), tensor_of(gradients[1])};
      (*a)(g);
      ScopedState<bool> mode(&ScopeState::graph_mode, true);
      (*b)(g);
    }
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(eager[i].value().to_vector<float>(), graph[i].value().to_vector<float>()) << name;
    EXPECT_EQ(b->step(), 5);
  }
}

TEST(Optimizer, GoesOnFromRestoredState) {
  for (const auto& [name, create] : optimizers()) {
    std::vector<Parameter> whole = tiny_parameters(), resumed = tiny_parameters();
    TensorList g{tensor_of(recorded()["gradients"][0][0]), tensor_of(recorded()["gradients"][0][1])};
    auto a = create(whole, exponential_decay(0.1, 0.5, 1));
    (*a)(g), (*a)(g);
    auto b = create(resumed, exponential_decay(0.1, 0.5, 1));
    for (size_t i = 0; i < 2; ++i) resumed[i].set_value(whole[i].value());
    for (size_t i = 0; i < a->state().size(); ++i) b->state()[i].set_value(a->state()[i].value());
    (*a)(g), (*b)(g);
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(whole[i].value().to_vector<float>(), resumed[i].value().to_vector<float>()) << name;
  }
}

TEST(Optimizer, DecayLeavesOutBetaAndGamma) {
  std::vector<Parameter> parameters = {Parameter(Tensor(1.F), "weight"),
                                       Parameter(Tensor(1.F), "norm.gamma")};
  Momentum optimizer(parameters, constant_rate(1), 0, 0.5);
  optimizer({Tensor(0.F), Tensor(0.F)});
  EXPECT_EQ(parameters[0].value().item<float>(), 0.5F);
  EXPECT_EQ(parameters[1].value().item<float>(), 1.F);
}

TEST(Optimizer, GroupsHaveTheirOwnRatesAndDecaysAsRecorded) {
  for (const char* rates : {"0.1", "[0.1, 0.05, 0.02]"}) {
    std::vector<Parameter> p = tiny_parameters();
    std::vector<ParameterGroup> groups = {{{p[0]}, constant_rate(0.05), 0.1}, {{p[1]}}};
    Momentum optimizer(groups, rates[0] == '0' ? constant_rate(0.1) : rates_of({0.1, 0.05, 0.02}), 0.9);
    expect_recorded(std::string("groups, lr=") + rates, p, [&](const TensorList& g) { optimizer(g); });
    EXPECT_EQ(optimizer.state()[1].name(), "learning_rate_group_0");
    EXPECT_EQ(optimizer.state()[2].name(), "learning_rate");
  }
}

TEST(Optimizer, RefusesWhatDoesNotFit) {
  EXPECT_THROW(SGD(std::vector<Parameter>{}, constant_rate(1)), ValueError);
  EXPECT_THROW(SGD(std::vector{Parameter(Tensor(1.F), "a"), Parameter(Tensor(1.F), "a")}, constant_rate(1)),
               ValueError);
  EXPECT_THROW(SGD(tiny_parameters(), constant_rate(1), {.nesterov = true}), ValueError);
  EXPECT_THROW(Adam(tiny_parameters(), constant_rate(1), {.nesterov = true, .amsgrad = true}), ValueError);
  EXPECT_THROW(AdaMax(tiny_parameters(), constant_rate(1), {.beta1 = 1}), ValueError);
  EXPECT_THROW(ASGD(tiny_parameters(), constant_rate(1), {.t0 = 0}), ValueError);
  EXPECT_THROW(Adagrad(tiny_parameters(), constant_rate(1), {.accum = -1}), ValueError);
  EXPECT_THROW(Adadelta(tiny_parameters(), constant_rate(1), {.rho = 2}), ValueError);
  EXPECT_THROW(FTRL(tiny_parameters(), constant_rate(1), {.power = 1}), ValueError);
  EXPECT_THROW(Rprop(tiny_parameters(), constant_rate(1), {.eta_plus = 1}), ValueError);
  SGD optimizer(tiny_parameters(), constant_rate(1));
  EXPECT_THROW(LARS(optimizer, {.coefficient = -1}), ValueError);
  SGD grouped(std::vector<ParameterGroup>{{tiny_parameters()}}, constant_rate(1));
  EXPECT_THROW(LARS(grouped, {}), ValueError);
  EXPECT_THROW(optimizer({Tensor(1.F)}), ValueError);
  EXPECT_THROW(optimizer({Tensor(1.F), Tensor(1.F)}), ShapeError);
}

TEST(Optimizer, LarsTakesRatesAndDecayOverFromTheOneItWraps) {
  std::vector<Parameter> parameters = {Parameter(Tensor({3.F, 4.F}, {2}), "weight"),
                                       Parameter(Tensor({3.F, 4.F}, {2}), "bias")};
  Momentum inner(parameters, constant_rate(1), 0, 0.5);
  LARS optimizer(inner, {.coefficient = 0.1});
  optimizer.set_rate(constant_rate(2));
  EXPECT_EQ(inner.rate(), 2);
  optimizer({Tensor({0.F, 0.F}, {2}), Tensor({0.F, 1.F}, {2})});
  EXPECT_EQ(parameters[0].value().to_vector<float>(), (std::vector<float>{0, 0}));  // factor 1, decay 0.5
  EXPECT_EQ(parameters[1].value().to_vector<float>(), (std::vector<float>{3, 2}));  // left to the other one
  EXPECT_EQ(optimizer.step(), 1);
  EXPECT_EQ(inner.step(), 1);
}

TEST(Schedule, RatesAreThoseOfTheFormulas) {
  EXPECT_DOUBLE_EQ(exponential_decay(0.1, 0.9, 4)(2), 0.1 * std::pow(0.9, 0.5));
  EXPECT_DOUBLE_EQ(exponential_decay(0.1, 0.9, 4, true)(5), 0.1 * 0.9);
  EXPECT_DOUBLE_EQ(cosine_decay(0.01, 0.1, 4)(2), 0.055);
  EXPECT_DOUBLE_EQ(warm_up(0.2, 2)(1), 0.1);
  EXPECT_DOUBLE_EQ(piecewise_constant({2, 5}, {0.1, 0.05})(2), 0.05);
  EXPECT_DOUBLE_EQ(rates_of({0.1, 0.05})(7), 0.05);
}

}  // namespace
}  // namespace sorus::optim
