#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sorus/kernels/cpu/conv/conv.h"
#include "tests/kernels/winograd_testing.h"

// Transforms are plain sums, and each place of a tile is one chain of fused multiply-adds over channels, so
// plain loops give the same bits.
namespace sorus::kernels {
namespace {

using onednn::ConvPass;
using onednn::ConvProblem;
using namespace winograd::testing;  // NOLINT: what this file is about
using onednn::testing::floats;
using onednn::testing::Threads;

Four of_weights(const Four& g) {
  return {g[0], (g[0] + g[2] + g[1]) * 0.5F, (g[0] + g[2] - g[1]) * 0.5F, g[2]};
}
Four of_result(const Four& m) { return {m[0] + m[1] + m[2], m[1] - m[2] - m[3], 0, 0}; }

std::vector<float> expected(const ConvProblem& p, ConvPass pass, const Buffer& source, const Buffer& weights,
                            const Buffer* bias) {
  const View v(p, pass);
  std::vector<Square> w;
  for (int64_t c = 0; c < v.source_channels; ++c) {
    for (int64_t o = 0; o < v.result_channels; ++o) {
      Square taps{};
      for (int64_t t = 0; t < 9; ++t)
        taps[static_cast<size_t>(t / 3 * 4 + t % 3)] = v.weight(p, weights, c, o, t);
      w.push_back(both(of_weights, taps));
    }
  }
  std::vector<float> result(static_cast<size_t>(p.n * v.result_y * v.result_x * v.result_channels));
  for (int64_t tile = 0; tile < p.n * ((v.result_y + 1) / 2) * ((v.result_x + 1) / 2); ++tile) {
    int64_t x = tile % ((v.result_x + 1) / 2) * 2, rest = tile / ((v.result_x + 1) / 2);
    int64_t y = rest % ((v.result_y + 1) / 2) * 2, n = rest / ((v.result_y + 1) / 2);
    std::vector<Square> sums(static_cast<size_t>(v.result_channels));
    for (int64_t c = 0; c < v.source_channels; ++c) {
      Square d{};
      for (int64_t i = 0; i < 16; ++i)
        d[static_cast<size_t>(i)] = v.source(source, n, y - v.pad_y + i / 4, x - v.pad_x + i % 4, c);
      d = both(of_source, d);
      for (size_t o = 0; o < sums.size(); ++o) {
        const Square& of_pair = w[static_cast<size_t>(c) * sums.size() + o];
        for (size_t i = 0; i < 16; ++i) sums[o][i] = std::fma(d[i], of_pair[i], sums[o][i]);
      }
    }
    for (int64_t o = 0; o < v.result_channels; ++o) {
      Square m = both(of_result, sums[static_cast<size_t>(o)]);
      for (int64_t i = 0; i < 4; ++i) {
        if (y + i / 2 >= v.result_y || x + i % 2 >= v.result_x) continue;
        float sum = m[static_cast<size_t>(i / 2 * 4 + i % 2)];
        if (bias) sum += bias->get(o);
        if (p.activation == onednn::Activation::kRelu) sum = std::max(sum, 0.0F);
        int64_t at = ((n * v.result_y + y + i / 2) * v.result_x + x + i % 2) * v.result_channels + o;
        result[static_cast<size_t>(at)] = sum;
      }
    }
  }
  return result;
}

void expect_bits(const ConvProblem& p, ConvPass pass, const char* name) {
  const bool forward = pass == ConvPass::kForward;
  const ConvTensors t(p);
  std::vector<float> want =
      expected(p, pass, forward ? t.input : t.out, t.weights, forward && p.has_bias ? &t.bias : nullptr);
  for (int threads : {1, 2, 3}) {
    Threads set(threads);
    Buffer result = run(p, pass, t);
    int64_t different = 0;
    for (int64_t i = 0; i < result.size(); ++i) different += result.get(i) != want[static_cast<size_t>(i)];
    EXPECT_EQ(different, 0) << name << (forward ? ", forward" : ", backward") << " with " << threads
                            << " threads";
  }
}

class WinogradTest : public ::testing::TestWithParam<ConvShape> {
 protected:
  void SetUp() override {
    if (!winograd::supports(problem_of(GetParam()), ConvPass::kForward))
      GTEST_SKIP() << "this CPU has no AVX2";
  }
};

TEST_P(WinogradTest, GivesTheBitsOfPlainLoops) {
  ConvProblem p = problem_of(GetParam());
  for (auto pass : {ConvPass::kForward, ConvPass::kBackwardData}) expect_bits(p, pass, GetParam().name);
  p.has_bias = true;
  p.activation = onednn::Activation::kRelu;
  expect_bits(p, ConvPass::kForward, GetParam().name);
}

TEST_P(WinogradTest, IsAsFineAsAPlainSum) {
  const ConvProblem p = problem_of(GetParam());
  const ConvTensors t(p);
  for (auto pass : {ConvPass::kForward, ConvPass::kBackwardData}) {
    Buffer got = run(p, pass, t);
    std::vector<Sum> want = sums_in_double(p, pass, t);
    for (size_t at = 0; at < want.size(); ++at) {
      ASSERT_NEAR(got.get(static_cast<int64_t>(at)), want[at].value, want[at].magnitude * 0x1p-20 + 1e-30)
          << "element " << at;
    }
  }
}

TEST_P(WinogradTest, HandsOverPieces) {
  const ConvProblem p = problem_of(GetParam());
  const ConvTensors t(p);
  for (auto pass : {ConvPass::kForward, ConvPass::kBackwardData}) {
    Buffer whole = run(p, pass, t), pieces(p.type, whole.size());
    onednn::testing::Collector collector(static_cast<float*>(pieces.data()));
    (void)run(p, pass, t, {.taker = &collector}, false);
    EXPECT_EQ(collector.taken(), p.n * (pass == ConvPass::kForward ? p.out_positions() : p.in_positions()));
    EXPECT_TRUE(pieces == whole);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, WinogradTest, ::testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

TEST(Winograd, IsTakenWhereTilesAreManyAndNoTapsAreLost) {
  ConvProblem p = problem_of({"", 2, 2, 64, 64, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  if (!winograd::supports(p, ConvPass::kForward)) GTEST_SKIP() << "this CPU has no AVX2";
  EXPECT_EQ(conv::implementation(p, ConvPass::kForward), "Winograd");
  EXPECT_EQ(conv::implementation(p, ConvPass::kBackwardData), "Winograd");
  EXPECT_EQ(conv::implementation(p, ConvPass::kBackwardWeights), "Winograd");
  ConvProblem few = p, dilated = p, strided = p, thin = p;
  few.in = {14, 14, 1}, dilated.dilation[1] = 2, strided.stride[0] = 2, thin.in_channels = 16;
  for (const ConvProblem& other : {few, dilated, strided, thin}) {
    EXPECT_NE(conv::implementation(other, ConvPass::kForward), "Winograd");
    EXPECT_NE(conv::implementation(other, ConvPass::kBackwardWeights), "Winograd");
  }
}

TEST(Winograd, ReadsPackedWeights) {
  ConvProblem p = problem_of({"", 2, 2, 64, 96, {20, 20}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  if (!winograd::supports(p, ConvPass::kForward)) GTEST_SKIP() << "this CPU has no AVX2";
  ASSERT_EQ(conv::implementation(p, ConvPass::kForward), "Winograd");
  const ConvTensors t(p);
  Buffer whole = run(p, ConvPass::kForward, t), result(p.type, whole.size());
  Buffer packed = onednn::testing::workspace(conv::packed_weights_bytes(p));
  conv::pack_weights(p, t.weights.data(), packed.data());
  conv::forward(p, t.input.data(), packed.data(), nullptr, result.data(), nullptr, {.weights_packed = true});
  EXPECT_TRUE(result == whole);
}

}  // namespace
}  // namespace sorus::kernels
