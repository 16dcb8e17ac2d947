#include "sorus/kernels/cpu/conv/tap_conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sorus/kernels/cpu/conv/conv.h"
#include "tests/kernels/conv_testing.h"

// Every sum is one chain of fused multiply-adds over taps, then channels, so plain loops give the same bits.
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
    {"square", 2, 3, 64, 64, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"strided", 2, 5, 64, 128, {9, 10}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"one_image", 2, 1, 128, 64, {16, 17}, {3, 2}, {1, 1}, {1, 1}, {0, 1}, {1, 0}},
    {"dilated", 2, 2, 64, 64, {11, 9}, {3, 3}, {2, 1}, {2, 3}, {2, 3}, {1, 3}},
    {"stride_above_kernel", 2, 2, 64, 64, {9, 8}, {2, 2}, {3, 4}, {1, 1}, {0, 0}, {0, 0}},
    {"wide_padding", 2, 2, 64, 64, {3, 2}, {3, 3}, {1, 1}, {1, 1}, {5, 4}, {4, 5}},
    {"line", 1, 3, 64, 64, {30, 1}, {5, 1}, {2, 1}, {1, 1}, {2, 0}, {1, 0}},
};

/// What is promised: over taps in order, each position's channels of the source in order.
std::vector<float> expected(const ConvProblem& p, ConvPass pass, const Buffer& source, const Buffer& weights,
                            const Buffer* bias) {
  bool forward = pass == ConvPass::kForward, flat = p.rank == 1;
  int y = 0, x = p.rank - 1;
  int64_t in_y = flat ? 1 : p.in[y], out_y = flat ? 1 : p.out(y), kernel_y = flat ? 1 : p.kernel[y];
  int64_t in_channels = p.in_channels, out_channels = p.out_channels;
  std::vector<float> result(static_cast<size_t>(
      p.n * (forward ? p.out_positions() * out_channels : p.in_positions() * in_channels)));
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t tap = 0; tap < kernel_y * p.kernel[x]; ++tap) {
      for (int64_t at = 0; at < out_y * p.out(x); ++at) {
        int64_t ky = tap / p.kernel[x], kx = tap % p.kernel[x];
        int64_t iy = flat ? 0 : at / p.out(x) * p.stride[y] + ky * p.dilation[y] - p.pad_low[y];
        int64_t ix = at % p.out(x) * p.stride[x] + kx * p.dilation[x] - p.pad_low[x];
        if (iy < 0 || iy >= in_y || ix < 0 || ix >= p.in[x]) continue;
        int64_t in = (n * in_y + iy) * p.in[x] + ix, out = n * out_y * p.out(x) + at;
        for (int64_t o = 0; o < out_channels; ++o) {
          for (int64_t c = 0; c < in_channels; ++c) {
            float w = weights.get((o * in_channels + c) * p.taps() + tap);
            float& sum = result[static_cast<size_t>(forward ? out * out_channels + o : in * in_channels + c)];
            sum = std::fma(source.get(forward ? in * in_channels + c : out * out_channels + o), w, sum);
          }
        }
      }
    }
  }
  for (size_t i = 0; bias && i < result.size(); ++i)
    result[i] += bias->get(static_cast<int64_t>(i) % out_channels);
  for (float& value : result)
    if (p.activation == onednn::Activation::kRelu) value = std::max(value, 0.0F);
  return result;
}

void expect_chains(const ConvProblem& p, ConvPass pass, const char* name) {
  bool forward = pass == ConvPass::kForward;
  const ConvTensors t(p);
  const Buffer& source = forward ? t.input : t.out;
  std::vector<float> want = expected(p, pass, source, t.weights, forward && p.has_bias ? &t.bias : nullptr);
  for (int threads : {1, 2, 3}) {
    Threads set(threads);
    Buffer space = onednn::testing::workspace(tap_conv::workspace(p, pass));
    Buffer result(p.type, static_cast<int64_t>(want.size()));
    result.fill(5);
    auto* to = static_cast<float*>(result.data());
    if (forward) {
      tap_conv::forward(p, floats(t.input), floats(t.weights), floats(t.bias), to, space.data());
    } else {
      tap_conv::backward_data(p, floats(t.out), floats(t.weights), to, space.data());
    }
    int64_t different = 0;
    for (int64_t i = 0; i < result.size(); ++i) different += result.get(i) != want[static_cast<size_t>(i)];
    EXPECT_EQ(different, 0) << name << (forward ? ", forward" : ", backward") << " with " << threads
                            << " threads";
  }
}

class TapConvTest : public ::testing::TestWithParam<ConvShape> {};

TEST_P(TapConvTest, EverySumIsOneChain) {
  ConvProblem p = problem_of(GetParam());
  for (auto pass : {ConvPass::kForward, ConvPass::kBackwardData}) {
    if (!tap_conv::supports(p, pass)) GTEST_SKIP() << "this CPU has no AVX2";
    expect_chains(p, pass, GetParam().name);
  }
  p.has_bias = true;
  p.activation = onednn::Activation::kRelu;
  expect_chains(p, ConvPass::kForward, GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Shapes, TapConvTest, ::testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

TEST(TapConv, IsTakenForManyChannelsAlone) {
  ConvProblem p = problem_of({"", 2, 2, 512, 512, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  if (!tap_conv::supports(p, ConvPass::kForward)) GTEST_SKIP() << "this CPU has no AVX2";
  EXPECT_EQ(conv::implementation(p, ConvPass::kForward), "products of taps");
  EXPECT_EQ(conv::implementation(p, ConvPass::kBackwardData), "products of taps");
  EXPECT_NE(conv::implementation(p, ConvPass::kBackwardWeights), "products of taps");
  p.in_channels = 256;
  EXPECT_NE(conv::implementation(p, ConvPass::kForward), "products of taps");
  p.in_channels = 500;  // no whole panels in the gradient of the input
  EXPECT_NE(conv::implementation(p, ConvPass::kBackwardData), "products of taps");
}

}  // namespace
}  // namespace sorus::kernels
