#include "sorus/kernels/cpu/conv/small_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sorus/kernels/cpu/conv/conv.h"
#include "tests/kernels/conv_testing.h"

namespace sorus::kernels {
namespace {

using onednn::ConvPass;
using onednn::ConvProblem;
using onednn::ElementType;
using onednn::testing::Buffer;
using onednn::testing::ConvShape;
using onednn::testing::ConvTensors;
using onednn::testing::floats;
using onednn::testing::problem_of;
using onednn::testing::Threads;

const ConvShape kShapes[] = {
    {"lenet1", 2, 9, 1, 6, {32, 32}, {5, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"lenet2", 2, 9, 6, 16, {14, 14}, {5, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"one", 2, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"padded", 2, 3, 2, 5, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 2}, {2, 1}},
    {"strided", 2, 2, 3, 8, {17, 20}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"stride_above_kernel", 2, 2, 3, 4, {20, 23}, {2, 2}, {3, 4}, {1, 1}, {0, 0}, {0, 0}},
    {"dilated", 2, 2, 3, 7, {18, 19}, {3, 3}, {1, 1}, {2, 3}, {2, 3}, {2, 3}},
    {"dilated_strided", 2, 2, 4, 9, {21, 22}, {3, 4}, {2, 3}, {3, 2}, {1, 4}, {2, 0}},
    {"uneven", 2, 2, 5, 10, {7, 40}, {2, 7}, {1, 2}, {1, 1}, {0, 3}, {1, 3}},
    {"wide_padding", 2, 2, 2, 3, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {5, 5}, {5, 5}},
    {"line", 1, 3, 4, 6, {50, 1}, {5, 1}, {2, 1}, {1, 1}, {2, 0}, {2, 0}},
    {"many_channels", 2, 1, 20, 37, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
};

Buffer run(const ConvProblem& p, ConvPass pass, const ConvTensors& t) {
  Buffer space = onednn::testing::workspace(small_conv_workspace(p, pass));
  const Buffer& like = pass == ConvPass::kForward        ? t.out
                       : pass == ConvPass::kBackwardData ? t.input
                                                         : t.weights;
  Buffer result(p.type, like.size());
  float* to = static_cast<float*>(result.data());
  if (pass == ConvPass::kForward) {
    small_conv_forward(p, floats(t.input), floats(t.weights), floats(t.bias), to, space.data());
  } else if (pass == ConvPass::kBackwardData) {
    small_conv_backward_data(p, floats(t.out), floats(t.weights), to, space.data());
  } else {
    small_conv_backward_weights(p, floats(t.input), floats(t.out), to, space.data());
  }
  return result;
}

/// The same pass by oneDNN.
Buffer run_onednn(const ConvProblem& p, ConvPass pass, const ConvTensors& t) {
  Buffer space = onednn::testing::workspace(onednn::conv_workspace(p, pass));
  const Buffer& like = pass == ConvPass::kForward        ? t.out
                       : pass == ConvPass::kBackwardData ? t.input
                                                         : t.weights;
  Buffer result(p.type, like.size());
  if (pass == ConvPass::kForward) {
    onednn::conv_forward(p, t.input.data(), t.weights.data(), floats(t.bias), result.data(), space.data());
  } else if (pass == ConvPass::kBackwardData) {
    onednn::conv_backward_data(p, t.out.data(), t.weights.data(), result.data(), space.data());
  } else {
    onednn::conv_backward_weights(p, t.input.data(), t.out.data(), result.data(), space.data());
  }
  return result;
}

constexpr ConvPass kPasses[] = {ConvPass::kForward, ConvPass::kBackwardData, ConvPass::kBackwardWeights};

class SmallConvTest : public ::testing::TestWithParam<ConvShape> {};

// oneDNN's passes are held to double precision by their own test, over loops that share nothing with either.
TEST_P(SmallConvTest, AgreesWithOneDnn) {
  ConvProblem p = problem_of(GetParam());
  ASSERT_TRUE(small_conv_supports(p));
  p.has_bias = true;
  ConvTensors t(p);
  for (ConvPass pass : kPasses) {
    Buffer got = run(p, pass, t), want = run_onednn(p, pass, t);
    double terms = pass == ConvPass::kForward        ? static_cast<double>(p.in_channels * p.taps())
                   : pass == ConvPass::kBackwardData ? static_cast<double>(p.out_channels * p.taps())
                                                     : static_cast<double>(p.n * p.out_positions());
    for (int64_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got.get(i), want.get(i), 0x1p-21 * (std::sqrt(terms) + 4) * 16)
          << "pass " << static_cast<int>(pass) << ", element " << i;
    }
  }
}

TEST_P(SmallConvTest, BitsDoNotDependOnThreads) {
  ConvProblem p = problem_of(GetParam());
  ConvTensors t(p);
  for (ConvPass pass : kPasses) {
    std::vector<Buffer> results;
    for (int threads : {1, 2, 3}) {
      Threads scope(threads);
      results.push_back(run(p, pass, t));
    }
    EXPECT_TRUE(results[1] == results[0]) << "pass " << static_cast<int>(pass);
    EXPECT_TRUE(results[2] == results[0]) << "pass " << static_cast<int>(pass);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SmallConvTest, ::testing::ValuesIn(kShapes),
                         [](const auto& sample) { return std::string(sample.param.name); });

TEST(SmallConv, FusedStepsEqualSeparateOnes) {
  ConvProblem p = problem_of(kShapes[0]);
  ConvTensors t(p);
  Buffer plain = run(p, ConvPass::kForward, t);
  p.has_bias = true;
  p.activation = onednn::Activation::kRelu;
  Buffer fused = run(p, ConvPass::kForward, t);
  for (int64_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(fused.get(i), std::max(0.0F, plain.get(i) + t.bias.get(i % p.out_channels)));
  }
}

TEST(SmallConv, TheActivationKeepsNaN) {
  ConvProblem p = problem_of(kShapes[0]);
  ConvTensors t(p);
  p.activation = onednn::Activation::kRelu;
  t.input.set(0, std::numeric_limits<float>::quiet_NaN());
  const Buffer fused = run(p, ConvPass::kForward, t);
  for (int64_t o = 0; o < p.out_channels; ++o) EXPECT_TRUE(std::isnan(fused.get(o))) << "channel " << o;
}

TEST(SmallConv, InfinityReachesOnlyTheWeightsThatMeetIt) {
  ConvProblem p = problem_of(kShapes[0]);
  p.n = 1;
  ConvTensors t(p);
  // The last column is met by the last tap of a row alone.
  t.input.set(31, std::numeric_limits<float>::infinity());
  Buffer grad = run(p, ConvPass::kBackwardWeights, t);
  for (int64_t i = 0; i < grad.size(); ++i) {
    ASSERT_EQ(std::isfinite(grad.get(i)), i % 25 != 4) << "weight " << i;
  }
}

TEST(SmallConv, IsChosenByTheShape) {
  EXPECT_EQ(conv::implementation(problem_of(kShapes[0]), ConvPass::kForward), "small channels");
  EXPECT_EQ(conv::implementation(problem_of(kShapes[1]), ConvPass::kBackwardData), "small channels");
  ConvProblem half = problem_of(kShapes[0]);
  half.type = ElementType::kBFloat16;
  EXPECT_FALSE(small_conv_supports(half));
  EXPECT_FALSE(small_conv_preferred(problem_of(kShapes[11]), ConvPass::kForward));
  // With a plane for each remainder of a long stride, the workspace would be many times the image.
  ConvProblem sparse = problem_of(kShapes[0]);
  sparse.in = {1000, 1000, 1}, sparse.stride = {1000, 1000, 1};
  EXPECT_FALSE(small_conv_preferred(sparse, ConvPass::kForward));
}

TEST(SmallConv, TheChoiceIsWhatTheConvolutionRuns) {
  for (size_t shape : {size_t{0}, size_t{1}}) {
    ConvProblem p = problem_of(kShapes[shape]);
    ConvTensors t(p);
    Buffer space = onednn::testing::workspace(conv::workspace(p, ConvPass::kBackwardData));
    Buffer grad(p.type, t.input.size());
    conv::backward_data(p, t.out.data(), t.weights.data(), grad.data(), space.data());
    EXPECT_TRUE(grad == run(p, ConvPass::kBackwardData, t));
  }
}

}  // namespace
}  // namespace sorus::kernels
