#include <gtest/gtest.h>

#include <cmath>

#include "sorus/nn/layers.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"

/// What the table of layers does not say: moving statistics by hand, containers, layers that C++ alone has,
/// refusals.
namespace sorus::nn {
namespace {

std::vector<float> values(const Tensor& t) { return t.to_vector<float>(); }

TEST(BatchNorm, MovingStatisticsFollowTheUnbiasedVariance) {
  BatchNorm1d norm({}, 1);
  Tensor x({1.F, 2.F, 3.F, 6.F}, {4, 1});  // mean 3, squares 4 + 1 + 0 + 9 = 14
  norm(x);
  EXPECT_EQ(values(norm.moving_mean)[0], 0);  // inference moves nothing
  EXPECT_EQ(values(norm.moving_variance)[0], 1);
  norm.set_train();
  std::vector<float> y = values(norm(x));
  EXPECT_NEAR(y[3], 3 / std::sqrt(14.0 / 4 + 1e-5), 1e-6);  // normalized with the biased variance
  EXPECT_NEAR(values(norm.moving_mean)[0], 0.3, 1e-6);
  EXPECT_NEAR(values(norm.moving_variance)[0], 0.9 + 0.1 * 14 / 3, 1e-6);
  norm(x);
  EXPECT_NEAR(values(norm.moving_mean)[0], 0.9 * 0.3 + 0.3, 1e-6);
  norm.set_train(false);
  double mean = values(norm.moving_mean)[0], variance = values(norm.moving_variance)[0];
  EXPECT_NEAR(values(norm(x))[0], (1 - mean) / std::sqrt(variance + 1e-5), 1e-6);
}

TEST(BatchNorm, UseBatchStatisticsDecidesInsteadOfTheMode) {
  Tensor x({1.F, 3.F}, {2, 1});
  BatchNorm1d never({}, 1, {.use_batch_statistics = false});
  never.set_train();
  never(x);
  EXPECT_EQ(values(never.moving_mean)[0], 0);
  BatchNorm1d always({}, 1, {.momentum = 0.5, .use_batch_statistics = true});
  always(x);
  EXPECT_EQ(values(always.moving_mean)[0], 1);
}

TEST(BatchNorm, HalfPrecisionKeepsItsDtype) {
  BatchNorm1d norm({}, 1, {.momentum = 0.5, .dtype = DType::kFloat16});
  norm.set_train();
  Tensor y = norm(cast(Tensor({1.F, 3.F}, {2, 1}), DType::kFloat16));
  EXPECT_EQ(y.dtype(), DType::kFloat16);
  EXPECT_EQ(norm.moving_mean.value().dtype(), DType::kFloat16);
  EXPECT_EQ(values(cast(norm.moving_mean, DType::kFloat32))[0], 1);
}

TEST(InstanceNorm, MovingStatisticsAreMeansOverSamples) {
  InstanceNorm1d norm({}, 1);
  norm.set_train();
  norm(Tensor({0.F, 2.F, 4.F, 8.F}, {2, 1, 2}));  // means 1 and 6, unbiased variances 2 and 8
  EXPECT_NEAR(values(norm.moving_mean)[0], 0.1 * 3.5, 1e-6);
  EXPECT_NEAR(values(norm.moving_variance)[0], 0.9 + 0.1 * 5, 1e-6);
}

TEST(RMSNorm, DividesByTheRootOfTheMeanSquare) {
  RMSNorm norm({}, {2}, {.epsilon = 0});
  ASSERT_EQ(norm.parameters().size(), 1U);
  EXPECT_EQ(norm.parameters()[0].name(), "gamma");
  std::vector<float> y = values(norm(Tensor({1.F, 7.F}, {1, 2})));  // mean square 25
  EXPECT_NEAR(y[0], 0.2, 1e-6);
  EXPECT_NEAR(y[1], 1.4, 1e-6);
}

TEST(Softplus, IsTheLogarithmOfOnePlusExp) {
  std::vector<float> y = values(Softplus()(Tensor({0.F, 1.F, 30.F}, {3})));
  EXPECT_NEAR(y[0], std::log(2.0), 1e-6);
  EXPECT_NEAR(y[1], std::log1p(std::exp(1.0)), 1e-6);
  EXPECT_EQ(y[2], 30);
  EXPECT_NEAR(values(Softplus({}, 2)(Tensor({0.F}, {1})))[0], std::log(2.0) / 2, 1e-6);
}

struct Stacked : Cell {
  CellList layers{{this, "layers"}};
  SequentialCell head{{this, "head"}};
  Stacked() {
    for (int i = 0; i < 2; ++i) layers.append<Dense>(3, 3);
    head.append<ReLU>();
    head.append<Dense>(3, 1, DenseOptions{.has_bias = false});
  }
  using Cell::construct;
  Tensor construct(const Tensor& x) override {
    Tensor y = x;
    for (int64_t i = 0; i < layers.size(); ++i) y = layers[i](y);
    return head(y);
  }
};

TEST(CellList, OwnsCellsByIndex) {
  Stacked net;
  std::vector<std::string> names;
  for (const Parameter& p : net.parameters()) names.push_back(p.name());
  EXPECT_EQ(names, (std::vector<std::string>{"layers.0.weight", "layers.0.bias", "layers.1.weight",
                                             "layers.1.bias", "head.1.weight"}));
  EXPECT_EQ(net(Tensor({1.F, 2.F, 3.F}, {1, 3})).shape(), (Shape{1, 1}));
  EXPECT_EQ(&net.layers[-1], &net.layers[1]);
  EXPECT_THROW((void)net.layers[2], IndexError);
  EXPECT_THROW((void)net.layers[-3], IndexError);
  EXPECT_THROW((void)net.layers(Tensor({1.F}, {1, 1})), NotSupportedError);
  net.set_train();
  EXPECT_TRUE(net.layers[1].training());
}

TEST(Losses, WeightsReachTheOps) {
  Tensor logits({0.F, 0.F, 0.F, 0.F}, {2, 2}), labels({int64_t{0}, int64_t{1}}, {2});
  Tensor weight({1.F, 3.F}, {2});
  CrossEntropyLoss summed({}, {.weight = weight, .reduction = Reduction::kSum});
  EXPECT_NEAR(summed(logits, labels).item<float>(), 4 * std::log(2.0), 1e-6);
  NLLLoss nll({}, {.weight = weight, .reduction = Reduction::kSum});
  EXPECT_EQ(nll(Tensor({-1.F, 0.F, 0.F, -2.F}, {2, 2}), labels).item<float>(), 1 + 3 * 2);
  Tensor half({0.5F, 0.5F}, {2}), ones({1.F, 1.F}, {2}), zeros({0.F, 0.F}, {2});
  EXPECT_NEAR(BCELoss({}, weight)(half, ones).item<float>(), 2 * std::log(2.0), 1e-6);
  BCEWithLogitsLoss positive({}, Reduction::kSum, ones, weight);
  EXPECT_NEAR(positive(zeros, ones).item<float>(), 4 * std::log(2.0), 1e-6);
}

TEST(Layers, ArgumentsThatDoNotFitAreRefused) {
  EXPECT_THROW(Conv2d({}, 4, 6, {3}, {.group = 4}), ValueError);
  EXPECT_THROW(Conv2d({}, 4, 6, {3, 3, 3}), ValueError);
  EXPECT_THROW(Conv2d({}, 4, 6, {3}, {.stride = {0}}), ValueError);
  EXPECT_THROW(Conv1d({}, 4, 6, {3}, {.padding = {1}}), ValueError);
  EXPECT_THROW(Conv3d({}, 4, 6, {3}, {.pad_mode = PadMode::kPad, .output_padding = {1}}), ValueError);
  EXPECT_THROW(Conv2dTranspose({}, 4, 6, {3}, {.output_padding = {1}}), ValueError);
  EXPECT_THROW(MaxPool2d({}, {0}), ValueError);
  EXPECT_THROW(AvgPool2d({}, {2}, {.padding = {1}}), ValueError);
  EXPECT_THROW(AdaptiveAvgPool2d({}, {1, 2, 3}), ValueError);
  EXPECT_THROW(BatchNorm2d({}, 0), ValueError);
  EXPECT_THROW(BatchNorm2d({}, 3, {.momentum = 1.5}), ValueError);
  EXPECT_THROW(GroupNorm({}, 3, 4), ValueError);
  EXPECT_THROW(LayerNorm({}, {}), ValueError);
  EXPECT_THROW(Embedding({}, 3, 2, {.padding_idx = 3}), ValueError);
  EXPECT_THROW(PReLU({}, 0), ValueError);
  EXPECT_THROW(MSELoss({}, Reduction::kBatchMean), ValueError);
}

TEST(Layers, InputsThatDoNotFitAreRefused) {
  Tensor row({1.F, 2.F}, {1, 2});
  EXPECT_THROW((void)Conv2d({}, 2, 2, {1})(row), ShapeError);
  EXPECT_THROW((void)Conv1dTranspose({}, 2, 2, {1})(row), ShapeError);
  EXPECT_THROW((void)MaxPool3d({}, {1})(row), ShapeError);
  EXPECT_THROW((void)BatchNorm2d({}, 2)(row), ShapeError);
  EXPECT_THROW((void)InstanceNorm2d({}, 2)(row), ShapeError);
  EXPECT_THROW((void)PReLU({}, 3)(row), ShapeError);
  EXPECT_THROW((void)MSELoss()(TensorList{row, row, row}), ValueError);
}

struct Block : Cell {
  explicit Block(Place place) : Cell(place), fc({this, "fc"}, 4, 4) {}
  Tensor construct(const Tensor& x) override { return fc(x); }
  Dense fc;
};
struct Net : Cell {
  Net() : block({this, "block"}), head({this, "head"}, 3, 2) {}
  Tensor construct(const Tensor& x) override { return head(block(x)); }
  Block block;
  Dense head;
};

TEST(Cell, ErrorsNameTheInnermostCell) {
  auto text = [](int64_t width) {
    Net net;
    try {
      (void)net(full({DType::kFloat32, {}, {2, width}}, 1));
    } catch (const ShapeError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(text(5),
            "linear: shapes do not fit: got x (2, 5) and weight (4, 4), need (..., in) and (out, in) (in "
            "'block.fc')");
  EXPECT_EQ(
      text(4),
      "linear: shapes do not fit: got x (2, 4) and weight (2, 3), need (..., in) and (out, in) (in 'head')");
}

}  // namespace
}  // namespace sorus::nn
