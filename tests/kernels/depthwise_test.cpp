#include "sorus/kernels/cpu/conv/depthwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sorus/kernels/cpu/conv/conv.h"
#include "tests/kernels/conv_testing.h"

// Every sum is one chain of fused multiply-adds over the taps within the source, so plain loops give the same
// bits.
namespace sorus::kernels {
namespace {

using onednn::ConvPass;
using onednn::ConvProblem;
using onednn::testing::Buffer;
using onednn::testing::ConvShape;
using onednn::testing::ConvTensors;
using onednn::testing::floats;
using onednn::testing::problem_of;
using onednn::testing::Threads;

const ConvShape kShapes[] = {
    {"square", 2, 3, 32, 32, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"odd_channels", 2, 2, 39, 39, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"wide_kernel", 2, 2, 48, 48, {7, 7}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {"wider_than_image", 2, 2, 16, 16, {3, 4}, {7, 7}, {1, 1}, {1, 1}, {3, 3}, {3, 3}},
    {"strided", 2, 5, 80, 80, {13, 16}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"strided_one_sided", 2, 2, 17, 17, {12, 12}, {5, 5}, {2, 2}, {1, 1}, {1, 1}, {2, 2}},
    {"uncommon_width", 2, 2, 20, 20, {9, 10}, {2, 4}, {1, 1}, {1, 1}, {0, 1}, {1, 0}},
    {"dilated", 2, 2, 24, 24, {11, 9}, {3, 3}, {1, 1}, {2, 3}, {2, 3}, {1, 3}},
    {"dilated_past_image", 2, 2, 16, 16, {2, 1}, {3, 3}, {1, 1}, {3, 3}, {3, 3}, {3, 3}},
    {"stride_above_kernel", 2, 2, 32, 32, {9, 8}, {2, 2}, {3, 4}, {1, 1}, {0, 0}, {0, 0}},
    {"no_padding", 2, 1, 160, 160, {30, 31}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"line", 1, 3, 64, 64, {30, 1}, {5, 1}, {2, 1}, {1, 1}, {2, 0}, {1, 0}},
    {"one_tap", 2, 2, 32, 32, {6, 6}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
};

ConvProblem depthwise_problem(const ConvShape& shape) {
  ConvProblem p = problem_of(shape);
  p.groups = p.in_channels;
  return p;
}

/// What is promised: over the taps within the source, in order, from the last one for the gradient.
std::vector<float> expected(const ConvProblem& p, ConvPass pass, const Buffer& source, const Buffer& weights,
                            const Buffer* bias) {
  const bool forward = pass == ConvPass::kForward, flat = p.rank == 1;
  const int y = 0, x = p.rank - 1;
  const int64_t in_y = flat ? 1 : p.in[y], out_y = flat ? 1 : p.out(y), kernel_y = flat ? 1 : p.kernel[y];
  const int64_t channels = p.in_channels, taps = p.taps();
  std::vector<float> result(
      static_cast<size_t>(p.n * (forward ? p.out_positions() : p.in_positions()) * channels));
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t i = 0; i < kernel_y * p.kernel[x]; ++i) {
      const int64_t tap = forward ? i : taps - 1 - i, ky = tap / p.kernel[x], kx = tap % p.kernel[x];
      for (int64_t at = 0; at < out_y * p.out(x); ++at) {
        const int64_t iy = flat ? 0 : at / p.out(x) * p.stride[y] + ky * p.dilation[y] - p.pad_low[y];
        const int64_t ix = at % p.out(x) * p.stride[x] + kx * p.dilation[x] - p.pad_low[x];
        if (iy < 0 || iy >= in_y || ix < 0 || ix >= p.in[x]) continue;
        const int64_t in = (n * in_y + iy) * p.in[x] + ix, out = n * out_y * p.out(x) + at;
        for (int64_t c = 0; c < channels; ++c) {
          float& sum = result[static_cast<size_t>((forward ? out : in) * channels + c)];
          sum = std::fma(source.get((forward ? in : out) * channels + c), weights.get(c * taps + tap), sum);
        }
      }
    }
  for (size_t i = 0; bias && i < result.size(); ++i)
    result[i] += bias->get(static_cast<int64_t>(i) % channels);
  for (float& value : result)
    if (p.activation == onednn::Activation::kRelu) value = std::max(value, 0.0F);
  return result;
}

enum class Way { kPlain, kPacked, kPieces };

std::vector<float> computed(const ConvProblem& p, ConvPass pass, Way way, size_t size) {
  const ConvTensors t(p);
  std::vector<float> result(size, 5.0F);
  const onednn::testing::Collector collector(result.data());
  Buffer space = onednn::testing::workspace(conv::workspace(p, pass));
  onednn::ConvOptions options;
  if (way == Way::kPieces) options.taker = &collector;
  float* to = way == Way::kPieces ? nullptr : result.data();
  if (pass == ConvPass::kBackwardData) {
    conv::backward_data(p, floats(t.out), floats(t.weights), to, space.data(), options);
    return result;
  }
  std::vector<float> packed(conv::packed_weights_bytes(p) / sizeof(float));
  if (way == Way::kPacked) {
    conv::pack_weights(p, floats(t.weights), packed.data());
    options.weights_packed = true;
  }
  conv::forward(p, floats(t.input), options.weights_packed ? packed.data() : floats(t.weights),
                floats(t.bias), to, space.data(), options);
  return result;
}

void expect_chains(const ConvProblem& p, ConvPass pass) {
  const bool forward = pass == ConvPass::kForward;
  const ConvTensors t(p);
  const std::vector<float> want =
      expected(p, pass, forward ? t.input : t.out, t.weights, forward && p.has_bias ? &t.bias : nullptr);
  ASSERT_EQ(conv::implementation(p, pass), "depthwise");
  EXPECT_TRUE(conv::has_pieces(p, pass));
  for (int threads : {1, 2, 3}) {
    Threads set(threads);
    for (Way way : {Way::kPlain, Way::kPacked, Way::kPieces})
      EXPECT_TRUE(computed(p, pass, way, want.size()) == want)
          << (forward ? "forward" : "backward") << " with " << threads << " threads, way "
          << static_cast<int>(way);
  }
}

class DepthwiseTest : public ::testing::TestWithParam<ConvShape> {};

TEST_P(DepthwiseTest, EverySumIsOneChain) {
  ConvProblem p = depthwise_problem(GetParam());
  if (!depthwise::supports(p, ConvPass::kForward)) GTEST_SKIP() << "this CPU has no AVX2";
  expect_chains(p, ConvPass::kForward);
  if (depthwise::supports(p, ConvPass::kBackwardData)) expect_chains(p, ConvPass::kBackwardData);
  p.has_bias = true;
  p.activation = onednn::Activation::kRelu;
  expect_chains(p, ConvPass::kForward);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DepthwiseTest, ::testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

TEST(Depthwise, LeavesTheRestToOthers) {
  ConvProblem p = depthwise_problem({"", 2, 2, 32, 32, {9, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}});
  if (!depthwise::supports(p, ConvPass::kForward)) GTEST_SKIP() << "this CPU has no AVX2";
  EXPECT_FALSE(depthwise::supports(p, ConvPass::kBackwardData));
  EXPECT_FALSE(depthwise::supports(p, ConvPass::kBackwardWeights));
  ConvProblem few = p;
  few.groups = few.in_channels = few.out_channels = 15;
  EXPECT_FALSE(depthwise::supports(few, ConvPass::kForward));
  ConvProblem grouped = p;
  grouped.groups = 16;
  EXPECT_FALSE(depthwise::supports(grouped, ConvPass::kForward));
  ConvProblem padded = p;
  padded.pad_high[0] = 3;
  EXPECT_FALSE(depthwise::supports(padded, ConvPass::kForward));
}

}  // namespace
}  // namespace sorus::kernels
