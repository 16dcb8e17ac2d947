#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "sorus/dispatch/apply.h"
#include "sorus/optim/optimizers.h"

/// Optimizers against the table that the Python optimizers are held to as well, to the bit. The cases, their
/// names and `pattern` are those of tests/python/test_optimizers_agree.py, which prints the table.
namespace sorus::optim {
namespace {

using Json = nlohmann::ordered_json;
using List = std::vector<Parameter>;
constexpr int kSteps = 4;

/// An optimizer and, if it wraps another, the one that holds the state.
struct Made {
  std::unique_ptr<Optimizer> inner, outer;
  [[nodiscard]] Optimizer& all() const { return outer ? *outer : *inner; }
};
using Make = std::function<Made(const List&, const Schedule&)>;

template <class O, class... Args>
Make make(Args... args) {
  return [args...](const List& p, const Schedule& rate) {
    return Made{std::make_unique<O>(p, rate, args...), nullptr};
  };
}
Make lars_of(const Make& wrapped, LarsOptions options) {
  return [wrapped, options](const List& p, const Schedule& rate) {
    Made made = wrapped(p, rate);
    made.outer = std::make_unique<LARS>(*made.inner, options);
    return made;
  };
}

const std::vector<std::pair<std::string, Make>>& optimizers() {
  static const AdamOptions kOthers = {.beta1 = 0.8, .beta2 = 0.99, .eps = 1e-5};
  static const std::vector<std::pair<std::string, Make>> all = {
      {"SGD", make<SGD>()},
      {"SGD nesterov, decay", make<SGD>(SgdOptions{.momentum = 0.9, .nesterov = true}, 0.01)},
      {"SGD dampening", make<SGD>(SgdOptions{.momentum = 0.9, .dampening = 0.5})},
      {"Momentum", make<Momentum>(0.9)},
      {"Momentum nesterov, decay", make<Momentum>(0.9, 0.01, true)},
      {"ASGD", make<ASGD>()},
      {"ASGD averaging, decay", make<ASGD>(AsgdOptions{.lambda = 0.01, .alpha = 0.5, .t0 = 2}, 0.01)},
      {"LARS of Momentum", lars_of(make<Momentum>(0.9, 0.01), {})},
      {"LARS of SGD, clip", lars_of(make<SGD>(), {.eps = 1e-3, .coefficient = 0.5, .clip = true})},
      {"Adam", make<Adam>()},
      {"Adam nesterov, decay", make<Adam>(AdamOptions{.beta1 = 0.8, .beta2 = 0.99, .nesterov = true}, 0.01)},
      {"Adam amsgrad", make<Adam>(AdamOptions{.amsgrad = true})},
      {"AdamOffload", make<AdamOffload>()},
      {"LazyAdam", make<LazyAdam>(AdamOptions{}, 0.01)},
      {"AdamWeightDecay", make<AdamWeightDecay>()},
      {"AdamWeightDecay decay", make<AdamWeightDecay>(0.01, kOthers)},
      {"AdaMax", make<AdaMax>()},
      {"AdaMax decay", make<AdaMax>(kOthers, 0.01)},
      {"Lamb", make<Lamb>()},
      {"Lamb decay", make<Lamb>(0.01, kOthers)},
      {"RMSProp", make<RMSProp>()},
      {"RMSProp centered", make<RMSProp>(RmsPropOptions{.momentum = 0.9, .centered = true}, 0.01)},
      {"Adagrad", make<Adagrad>()},
      {"Adagrad fixed slots", make<Adagrad>(AdagradOptions{.accum = 0.5, .update_slots = false}, 0.01)},
      {"ProximalAdagrad", make<ProximalAdagrad>()},
      {"ProximalAdagrad penalties",
       make<ProximalAdagrad>(ProximalAdagradOptions{.accum = 0.5, .l1 = 0.01, .l2 = 0.1}, 0.01)},
      {"Adadelta", make<Adadelta>()},
      {"Adadelta decay", make<Adadelta>(AdadeltaOptions{.rho = 0.8, .eps = 1e-4}, 0.01)},
      {"FTRL", make<FTRL>()},
      {"FTRL penalties", make<FTRL>(FtrlOptions{.accum = 0.5, .power = -0.25, .l1 = 0.01, .l2 = 0.1}, 0.01)},
      {"Rprop", make<Rprop>()},
      {"Rprop limits",
       make<Rprop>(RpropOptions{.eta_minus = 0.25, .eta_plus = 2, .smallest = 0.05, .largest = 0.15}, 0.01)},
  };
  return all;
}

Tensor pattern(const Shape& shape, int64_t start) {
  std::vector<float> items;
  for (int64_t i = 0; i < shape.numel(); ++i)
    items.push_back(static_cast<float>((i + start) * 37 % 21 - 10) / 8);
  return {std::span<const float>(items), shape};
}

List make_parameters() {
  return {Parameter(pattern({3, 5}, 0), "fc.weight"), Parameter(pattern({3}, 1), "fc.bias"),
          Parameter(pattern({5}, 2), "norm.gamma")};
}

void take_steps(Optimizer& optimizer, const List& parameters) {
  for (int step = 0; step < kSteps; ++step) {
    TensorList gradients;
    for (const Parameter& p : parameters) gradients.push_back(pattern(p.value().shape(), 5 * step + 3));
    optimizer(gradients);
  }
}

/// A row of the table: name, shape, elements.
void expect_row(const Json& row, const Parameter& p, const std::string& key) {
  EXPECT_EQ(p.name(), row[0].get<std::string>()) << key;
  Shape shape;
  for (int64_t extent : row[1]) shape.push_back(extent);
  EXPECT_EQ(p.value().shape(), shape) << key << ", " << p.name();
  if (p.value().dtype() != DType::kFloat32) {
    EXPECT_EQ(p.value().item<int64_t>(), row[2][0].get<int64_t>()) << key << ", " << p.name();
    return;
  }
  auto got = p.value().to_vector<float>(), want = row[2].get<std::vector<float>>();
  ASSERT_EQ(got.size(), want.size()) << key << ", " << p.name();
  EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0)
      << key << ", " << p.name() << ": got " << Json(got) << ", need " << Json(want);
}

Json read_table() {
  std::ifstream in(std::string(SORUS_SOURCE_DIR) + "/tests/fixtures/optimizers.json");
  return Json::parse(in);
}

void expect_agreement(bool graph_mode) {
  Json table = read_table();
  ScopedState<bool> mode(&ScopeState::graph_mode, graph_mode);
  for (const auto& [name, create] : optimizers()) {
    for (const char* rates : {"fixed", "falling"}) {
      std::string key = name + "; " + rates;
      if (!table.contains(key)) {
        EXPECT_EQ(name.substr(0, 4), "FTRL") << key;  // which refuses changing rates in Python
        continue;
      }
      List parameters = make_parameters();
      Made made = create(parameters, rates[1] == 'i' ? constant_rate(0.1) : rates_of({0.1, 0.05, 0.02}));
      take_steps(made.all(), parameters);
      List rows = parameters;
      for (const Parameter& p : made.all().state())
        if (p.name() != "learning_rate") rows.push_back(p);
      ASSERT_EQ(rows.size(), table[key].size()) << key;
      for (size_t i = 0; i < rows.size(); ++i) expect_row(table[key][i], rows[i], key);
    }
  }
}

TEST(OptimizerAgreement, StateAndResultsAreThoseOfTheTable) { expect_agreement(false); }

TEST(OptimizerAgreement, StateAndResultsAreThoseOfTheTableInGraphMode) { expect_agreement(true); }

TEST(OptimizerAgreement, EveryCaseOfTheTableIsHere) {
  Json table = read_table();
  for (const auto& item : table.items()) {
    std::string name = item.key().substr(0, item.key().find(';'));
    EXPECT_TRUE(std::any_of(optimizers().begin(), optimizers().end(), [&](const auto& made) {
      return made.first == name;
    })) << name;
  }
}

}  // namespace
}  // namespace sorus::optim
