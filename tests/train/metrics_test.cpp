#include "sorus/train/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "sorus/base/error.h"

namespace sorus::train {
namespace {

using Json = nlohmann::json;

const Json& recorded() {
  static const Json metrics = [] {
    std::ifstream in(std::string(SORUS_SOURCE_DIR) + "/tests/fixtures/mindspore/facts.json");
    return Json::parse(in)["metrics"];
  }();
  return metrics;
}

template <class T>
Tensor tensor_of(const Json& spec) {
  Shape shape;
  for (int64_t extent : spec[1]) shape.push_back(extent);
  auto items = spec[2].get<std::vector<T>>();
  return {std::span<const T>(items), shape};
}
Tensor logits() { return tensor_of<float>(recorded()["logits"]); }
Tensor labels() { return tensor_of<int32_t>(recorded()["labels"]); }
Tensor other() { return tensor_of<float>(recorded()["other"]); }

void expect_recorded(const std::string& name, std::unique_ptr<Metric> metric, const std::vector<Tensor>& in) {
  for (int round = 0; round < 2; ++round) {  // the second after forgetting the first
    metric->clear();
    metric->update(in);
    metric->update(in);
    std::vector<double> got = metric->eval().to_vector<double>(), want;
    const Json& fact = recorded()[name + " after two updates"];
    if (fact.is_number())
      want.push_back(fact);
    else
      want = fact[2].get<std::vector<double>>();
    ASSERT_EQ(got.size(), want.size()) << name;
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << name << "[" << i << "]";
  }
}

TEST(Metrics, AreThoseRecorded) {
  expect_recorded("Accuracy()", accuracy(), {logits(), labels()});
  expect_recorded("Accuracy() one-hot", accuracy(), {logits(), other()});
  expect_recorded("Top1CategoricalAccuracy()", top_k_accuracy(1), {logits(), labels()});
  expect_recorded("TopKCategoricalAccuracy(2)", top_k_accuracy(2), {logits(), labels()});
  expect_recorded("Precision()", precision(), {logits(), labels()});
  expect_recorded("Recall()", recall(), {logits(), labels()});
  expect_recorded("F1()", f_beta(1), {logits(), labels()});
  expect_recorded("Fbeta(2)", f_beta(2), {logits(), labels()});
  expect_recorded("MAE()", mean_absolute_error(), {logits(), other()});
  expect_recorded("MSE()", mean_squared_error(), {logits(), other()});
  expect_recorded("Loss()", loss(), {Tensor(0.5F)});
  expect_recorded("ConfusionMatrix(3)", confusion_matrix(3), {logits(), labels()});
  expect_recorded("Dice()", dice(), {other(), other()});
  expect_recorded("Perplexity()", perplexity(), {logits(), labels()});
}

TEST(Metrics, SetsOfLabelsCountWhenTheWholeRowIsRight) {
  auto metric = accuracy(LabelKind::kMultilabel);
  Tensor guess({1.F, 0.F, 1.F, 1.F}, {2, 2}), truth({1.F, 0.F, 1.F, 0.F}, {2, 2});
  metric->update(std::vector<Tensor>{guess, truth});
  EXPECT_EQ(metric->eval().item<double>(), 0.5);
}

TEST(Metrics, NormalizedCountsAddUpToOne) {
  auto metric = confusion_matrix(3, "target");
  metric->update(std::vector<Tensor>{logits(), labels()});
  std::vector<double> m = metric->eval().to_vector<double>();
  EXPECT_DOUBLE_EQ(m[3] + m[4] + m[5], 1);
  EXPECT_DOUBLE_EQ(m[5], 1.0 / 3);
}

TEST(Metrics, AveragesOverClasses) {
  auto metric = recall(LabelKind::kClassification, true);
  metric->update(std::vector<Tensor>{logits(), labels()});
  EXPECT_NEAR(metric->eval().item<double>(), (1 + 2.0 / 3 + 0) / 3, 1e-12);
}

TEST(Metrics, RefuseWhatDoesNotFit) {
  EXPECT_THROW((void)accuracy()->eval(), RuntimeError);
  EXPECT_THROW(accuracy()->update(std::vector<Tensor>{logits()}), ValueError);
  EXPECT_THROW(accuracy()->update(std::vector<Tensor>{labels(), labels()}), ShapeError);
  EXPECT_THROW(accuracy()->update(std::vector<Tensor>{logits(), Tensor({int32_t{3}, 0, 0, 0}, {4})}),
               IndexError);
  EXPECT_THROW((void)top_k_accuracy(0), ValueError);
  EXPECT_THROW((void)confusion_matrix(2, "rows"), ValueError);
}

}  // namespace
}  // namespace sorus::train
