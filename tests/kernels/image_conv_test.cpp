#include "sorus/kernels/cpu/conv/image_conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/conv_testing.h"

// Every sum is one chain of fused multiply-adds over planes, then taps within the image, so plain loops give
// the same bits.
namespace sorus::kernels {
namespace {

using onednn::ConvProblem;
using onednn::testing::Buffer;
using onednn::testing::ConvShape;
using onednn::testing::ConvTensors;
using onednn::testing::floats;
using onednn::testing::problem_of;
using onednn::testing::Threads;

const ConvShape kShapes[] = {
    {"usual", 2, 2, 3, 32, {33, 30}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"wide_kernel", 2, 1, 3, 64, {30, 41}, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}},
    {"one_plane", 2, 3, 1, 16, {14, 14}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {"four_planes", 2, 2, 4, 112, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"patches", 2, 2, 3, 48, {32, 36}, {4, 4}, {4, 4}, {1, 1}, {0, 0}, {0, 0}},
    {"one_sided", 2, 2, 3, 80, {13, 12}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}},
    {"dilated", 2, 1, 3, 16, {17, 19}, {3, 3}, {1, 2}, {2, 3}, {2, 3}, {1, 2}},
    {"smaller_than_kernel", 2, 2, 2, 32, {3, 2}, {5, 5}, {1, 1}, {1, 1}, {4, 4}, {2, 3}},
    {"dilated_past_image", 2, 1, 3, 16, {2, 1}, {3, 3}, {1, 1}, {3, 3}, {3, 3}, {3, 3}},
    {"line", 2, 2, 3, 32, {1, 90}, {1, 5}, {1, 3}, {1, 1}, {0, 2}, {0, 1}},
};

std::vector<float> expected(const ConvProblem& p, const float* input, const float* weights,
                            const float* bias) {
  std::vector<float> result(static_cast<size_t>(p.n * p.out_positions() * p.out_channels));
  for (int64_t i = 0; i < static_cast<int64_t>(result.size()); ++i) {
    const int64_t o = i % p.out_channels, at = i / p.out_channels % p.out_positions();
    const int64_t n = i / p.out_channels / p.out_positions();
    float sum = 0;
    for (int64_t tap = 0; tap < p.in_channels * p.taps(); ++tap) {
      const int64_t c = tap / p.taps(), ky = tap % p.taps() / p.kernel[1], kx = tap % p.kernel[1];
      const int64_t y = at / p.out(1) * p.stride[0] + ky * p.dilation[0] - p.pad_low[0];
      const int64_t x = at % p.out(1) * p.stride[1] + kx * p.dilation[1] - p.pad_low[1];
      if (y < 0 || y >= p.in[0] || x < 0 || x >= p.in[1]) continue;
      sum = std::fma(input[((n * p.in_channels + c) * p.in[0] + y) * p.in[1] + x],
                     weights[o * p.in_channels * p.taps() + tap], sum);
    }
    if (bias) sum += bias[o];
    result[static_cast<size_t>(i)] = p.activation == onednn::Activation::kRelu ? std::max(sum, 0.0F) : sum;
  }
  return result;
}

enum class Way { kPlain, kPacked, kPieces };

std::vector<float> computed(const ConvProblem& p, const float* input, const float* weights, const float* bias,
                            Way way) {
  std::vector<float> result(static_cast<size_t>(p.n * p.out_positions() * p.out_channels), 5.0F);
  const onednn::testing::Collector collector(result.data());
  Buffer space = onednn::testing::workspace(image_conv::workspace(p));
  std::vector<float> packed(image_conv::packed_bytes(p) / sizeof(float));
  onednn::ConvOptions options;
  if (way == Way::kPieces) options.taker = &collector;
  if (way == Way::kPacked) {
    image_conv::pack_weights(p, weights, packed.data());
    options.weights_packed = true;
  }
  image_conv::forward(p, input, way == Way::kPacked ? packed.data() : weights, bias,
                      way == Way::kPieces ? nullptr : result.data(), space.data(), options);
  return result;
}

class ImageConvTest : public ::testing::TestWithParam<ConvShape> {};

TEST_P(ImageConvTest, EverySumIsOneChain) {
  ConvProblem p = problem_of(GetParam());
  if (!image_conv::takes(p)) GTEST_SKIP() << "this CPU has no AVX2";
  for (bool finishes : {false, true}) {
    p.has_bias = finishes;
    p.activation = finishes ? onednn::Activation::kRelu : onednn::Activation::kNone;
    const ConvTensors t(p);
    const std::vector<float> want =
        expected(p, floats(t.input), floats(t.weights), finishes ? floats(t.bias) : nullptr);
    for (int threads : {1, 2, 3}) {
      Threads set(threads);
      for (Way way : {Way::kPlain, Way::kPacked, Way::kPieces})
        EXPECT_TRUE(computed(p, floats(t.input), floats(t.weights), floats(t.bias), way) == want)
            << threads << " threads, way " << static_cast<int>(way);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ImageConvTest, ::testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

/// No padding is computed: where an infinite weight meets it alone, nothing becomes a NaN.
TEST(ImageConv, InfiniteWeightsDoNotMeetPadding) {
  const ConvProblem p = problem_of({"", 2, 1, 1, 16, {4, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  if (!image_conv::takes(p)) GTEST_SKIP() << "this CPU has no AVX2";
  std::vector<float> input(static_cast<size_t>(p.in_positions()), 1.0F), weights(16 * 9, 1.0F);
  weights[0] = std::numeric_limits<float>::infinity();  // of channel 0: the tap above and before
  const std::vector<float> found = computed(p, input.data(), weights.data(), nullptr, Way::kPlain);
  for (int64_t at = 0; at < p.out_positions(); ++at) {
    const float sum = found[static_cast<size_t>(at * 16)];
    if (at / 14 == 0 || at % 14 == 0)
      EXPECT_TRUE(std::isfinite(sum)) << at;
    else
      EXPECT_TRUE(std::isinf(sum)) << at;
  }
}

TEST(ImageConv, LeavesTheRestToOthers) {
  const ConvProblem p = problem_of({"", 2, 2, 3, 32, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  if (!image_conv::takes(p)) GTEST_SKIP() << "this CPU has no AVX2";
  auto with = [&](auto change) {
    ConvProblem other = p;
    change(other);
    return image_conv::takes(other);
  };
  EXPECT_FALSE(with([](ConvProblem& q) { q.in_channels = 5; }));
  EXPECT_FALSE(with([](ConvProblem& q) { q.out_channels = 24; }));
  EXPECT_FALSE(with([](ConvProblem& q) { q.in_channels = q.groups = 2; }));
  EXPECT_FALSE(with([](ConvProblem& q) { q.kernel[0] = q.kernel[1] = 1; }));
  EXPECT_FALSE(with([](ConvProblem& q) { q.type = onednn::ElementType::kBFloat16; }));
  EXPECT_FALSE(with([](ConvProblem& q) { q.pad_low[0] = 3; }));
}

}  // namespace
}  // namespace sorus::kernels
