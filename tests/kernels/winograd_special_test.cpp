#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sorus/kernels/cpu/conv/tap_conv.h"
#include "tests/kernels/winograd_testing.h"

// Special values and sums near the largest number: what Winograd's transforms would spoil, and plain sums do
// not.
namespace sorus::kernels {
namespace {

using namespace winograd::testing;  // NOLINT: what this file is about
using onednn::testing::floats;
using onednn::testing::Threads;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kHuge = 3e38F;
constexpr ConvPass kPasses[] = {ConvPass::kForward, ConvPass::kBackwardData};

Buffer& source_of(ConvTensors& t, ConvPass pass) { return pass == ConvPass::kForward ? t.input : t.out; }

/// Infinities and NaN in corners, on borders and in the middle of the source, each in a channel of its own.
void put_into_source(const ConvProblem& p, ConvPass pass, ConvTensors& t) {
  const View v(p, pass);
  const auto put = [&](int64_t n, int64_t y, int64_t x, int64_t c, float value) {
    source_of(t, pass).set(((n * v.source_y + y) * v.source_x + x) * v.source_channels + c, value);
  };
  put(0, 0, 0, 0, kInfinity);
  put(0, v.source_y - 1, v.source_x - 1, 1, -kInfinity);
  put(p.n - 1, 0, v.source_x - 1, 2, kNan);
  put(p.n - 1, v.source_y / 2, 0, 3, kInfinity);
  put(0, v.source_y / 2, v.source_x / 2, v.source_channels - 1, -kInfinity);
  put(p.n - 1, v.source_y - 1, v.source_x / 3, 4, kNan);
}

/// The same in taps that read the padding at some positions, and in the middle one.
void put_into_weights(const ConvProblem& p, ConvTensors& t) {
  const auto put = [&](int64_t o, int64_t c, int64_t tap, float value) {
    t.weights.set((o * p.in_channels + c) * 9 + tap, value);
  };
  put(1, 0, 0, kInfinity);
  put(3, 2, 8, kNan);
  put(5, p.in_channels - 1, 4, -kInfinity);
  put(p.out_channels - 1, 7, 2, -kInfinity);
}

/// Numbers of changing signs of which no difference is finite, where all terms of a sum together are.
void fill_with_huge(Buffer& huge, Buffer& small, int64_t terms) {
  for (int64_t i = 0; i < huge.size(); ++i) huge.set(i, i % 7 < 3 ? kHuge : -kHuge);
  for (int64_t i = 0; i < small.size(); ++i) small.set(i, small.get(i) / static_cast<float>(terms));
}

float finished(const ConvProblem& p, const ConvTensors& t, bool forward, double sum, size_t at) {
  if (forward && p.has_bias) sum += t.bias.get(static_cast<int64_t>(at) % p.out_channels);
  if (forward && p.activation == onednn::Activation::kRelu && sum < 0) sum = 0;
  return static_cast<float>(sum);
}

/// Compares with sums in double; returns how many results are not finite.
int64_t expect_sums(const ConvProblem& p, ConvPass pass, const ConvTensors& t, const Buffer& got) {
  std::vector<Sum> sums = sums_in_double(p, pass, t);
  int64_t special = 0, wrong = 0;
  for (size_t at = 0; at < sums.size(); ++at) {
    const float want = finished(p, t, pass == ConvPass::kForward, sums[at].value, at);
    const float found = got.get(static_cast<int64_t>(at));
    special += !std::isfinite(want);
    if (std::isnan(want)) {
      wrong += !std::isnan(found);
    } else if (std::isinf(want)) {
      wrong += found != want;
    } else {
      // Of -infinity the activation leaves exactly zero.
      const double magnitude = std::isfinite(sums[at].magnitude) ? sums[at].magnitude : 0;
      wrong += !(std::abs(static_cast<double>(found) - want) <=
                 magnitude * 0x1p-20 + 1e-6 * std::abs(want) + 1e-30);
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << sums.size();
  return special;
}

/// One, two and three threads, pieces and packed weights give the same bits; returns them.
Buffer expect_one_result(const ConvProblem& p, ConvPass pass, const ConvTensors& t) {
  Buffer result = run(p, pass, t);
  for (int threads : {1, 2, 3}) {
    Threads set(threads);
    EXPECT_TRUE(run(p, pass, t) == result) << threads << " threads";
    Buffer pieces(p.type, result.size());
    onednn::testing::Collector collector(static_cast<float*>(pieces.data()));
    (void)run(p, pass, t, {.taker = &collector}, false);
    EXPECT_TRUE(pieces == result) << threads << " threads, pieces";
  }
  if (pass == ConvPass::kBackwardData) return result;
  Buffer packed = onednn::testing::workspace(winograd::packed_bytes(p));
  winograd::pack_weights(p, floats(t.weights), static_cast<float*>(packed.data()));
  EXPECT_TRUE(run(p, pass, t, {.weights_packed = true}, true, &packed) == result);
  return result;
}

class WinogradSpecialTest : public ::testing::TestWithParam<ConvShape> {
 protected:
  void SetUp() override {
    if (!winograd::supports(problem_of(GetParam()), ConvPass::kForward))
      GTEST_SKIP() << "this CPU has no AVX2";
  }
};

TEST_P(WinogradSpecialTest, InTheSourceReachWhatReadsThemAlone) {
  const ConvProblem p = problem_of(GetParam());
  for (auto pass : kPasses) {
    ConvTensors t(p);
    const Buffer ordinary = run(p, pass, t);
    put_into_source(p, pass, t);
    const Buffer got = expect_one_result(p, pass, t);
    EXPECT_GT(expect_sums(p, pass, t, got), 0);
    int64_t moved = 0;
    for (int64_t i = 0; i < got.size(); ++i)
      moved += std::isfinite(got.get(i)) && got.get(i) != ordinary.get(i);
    EXPECT_EQ(moved, 0);
  }
}

TEST_P(WinogradSpecialTest, InWeightsDoNotMeetThePadding) {
  const ConvProblem p = problem_of(GetParam());
  for (auto pass : kPasses) {
    ConvTensors t(p);
    put_into_weights(p, t);
    EXPECT_GT(expect_sums(p, pass, t, expect_one_result(p, pass, t)), 0);
  }
}

TEST_P(WinogradSpecialTest, GoThroughBiasAndActivation) {
  ConvProblem p = problem_of(GetParam());
  p.has_bias = true;
  p.activation = onednn::Activation::kRelu;
  ConvTensors t(p);
  put_into_source(p, ConvPass::kForward, t);
  put_into_weights(p, t);
  t.bias.set(2, -kInfinity), t.bias.set(4, kInfinity), t.bias.set(6, kNan);
  EXPECT_GT(expect_sums(p, ConvPass::kForward, t, expect_one_result(p, ConvPass::kForward, t)), 0);
}

TEST_P(WinogradSpecialTest, TransformsMayOverflow) {
  const ConvProblem p = problem_of(GetParam());
  for (auto pass : kPasses) {
    const int64_t terms = 9 * View(p, pass).source_channels;
    ConvTensors wide(p), heavy(p);
    fill_with_huge(source_of(wide, pass), wide.weights, terms);
    fill_with_huge(heavy.weights, source_of(heavy, pass), terms);
    for (const ConvTensors* t : {&wide, &heavy})
      EXPECT_EQ(expect_sums(p, pass, *t, expect_one_result(p, pass, *t)), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, WinogradSpecialTest, ::testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

TEST(WinogradSpecial, ResultsComputedAgainHaveTheBitsOfTapConv) {
  const ConvProblem p = problem_of({"", 2, 2, 64, 128, {9, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  if (!winograd::supports(p, ConvPass::kForward)) GTEST_SKIP() << "this CPU has no AVX2";
  for (auto pass : kPasses) {
    ConvTensors t(p);
    // The sum of two taps is infinite, and with it every result of the transforms.
    for (int64_t i = 0; i < t.weights.size(); ++i) t.weights.set(i, kHuge);
    Buffer& source = source_of(t, pass);
    for (int64_t i = 0; i < source.size(); ++i) source.set(i, (source.get(i) + 1.5F) / 8192);
    Buffer want(p.type, pass == ConvPass::kForward ? t.out.size() : t.input.size());
    Buffer space = onednn::testing::workspace(tap_conv::workspace(p, pass));
    if (pass == ConvPass::kForward) {
      tap_conv::forward(p, floats(t.input), floats(t.weights), nullptr, static_cast<float*>(want.data()),
                        space.data());
    } else {
      tap_conv::backward_data(p, floats(t.out), floats(t.weights), static_cast<float*>(want.data()),
                              space.data());
    }
    EXPECT_TRUE(std::isfinite(want.get(0)));
    EXPECT_TRUE(run(p, pass, t) == want);
  }
}

}  // namespace
}  // namespace sorus::kernels
