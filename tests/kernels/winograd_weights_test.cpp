#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/winograd_testing.h"

// The gradient of the weights by Winograd's tiles, against plain loops, sums in double and special values.
namespace sorus::kernels {
namespace {

using namespace winograd::testing;  // NOLINT: what this file is about
using onednn::testing::floats;
using onednn::testing::Threads;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Buffer gradient(const ConvProblem& p, const ConvTensors& t) {
  Buffer space = onednn::testing::workspace(winograd::workspace(p, ConvPass::kBackwardWeights));
  Buffer result(p.type, p.weights());
  result.fill(5);
  winograd::backward_weights(p, floats(t.input), floats(t.out), static_cast<float*>(result.data()),
                             space.data());
  return result;
}

/// One, two and three threads give the same bits; returns them.
Buffer gradient_of_any_threads(const ConvProblem& p, const ConvTensors& t) {
  Buffer result = gradient(p, t);
  for (int threads : {1, 2, 3}) {
    Threads set(threads);
    EXPECT_TRUE(gradient(p, t) == result) << threads << " threads";
  }
  return result;
}

float input_at(const ConvProblem& p, const ConvTensors& t, int64_t n, int64_t y, int64_t x, int64_t c) {
  return View(p, ConvPass::kForward).source(t.input, n, y, x, c);
}
float gradient_at(const ConvProblem& p, const ConvTensors& t, int64_t n, int64_t y, int64_t x, int64_t o) {
  if (y >= p.out(0) || x >= p.out(1)) return 0;
  return t.out.get(((n * p.out(0) + y) * p.out(1) + x) * p.out_channels + o);
}

/// Sums in double over positions whose tap lies inside of the image.
Sum sum_in_double(const ConvProblem& p, const ConvTensors& t, int64_t o, int64_t c, int64_t tap) {
  const View v(p, ConvPass::kForward);
  Sum sum;
  const int64_t shift_y = tap / 3 - p.pad_low[0], shift_x = tap % 3 - p.pad_low[1];
  for (int64_t n = 0; n < p.n; ++n) {
    for (int64_t y = 0; y < p.out(0); ++y) {
      for (int64_t x = 0; x < p.out(1); ++x) {
        if (!v.inside(y + shift_y, x + shift_x)) continue;
        const double term = static_cast<double>(v.source(t.input, n, y + shift_y, x + shift_x, c)) *
                            gradient_at(p, t, n, y, x, o);
        sum.value += term, sum.magnitude += std::abs(term);
      }
    }
  }
  return sum;
}

/// Compares all taps with sums in double; returns how many are not finite.
int64_t expect_sums(const ConvProblem& p, const ConvTensors& t, const Buffer& got) {
  int64_t special = 0, wrong = 0;
  for (int64_t at = 0; at < got.size(); ++at) {
    const Sum sum = sum_in_double(p, t, at / 9 / p.in_channels, at / 9 % p.in_channels, at % 9);
    const auto want = static_cast<float>(sum.value);
    special += !std::isfinite(want);
    if (std::isnan(want)) {
      wrong += !std::isnan(got.get(at));
    } else if (std::isinf(want)) {
      wrong += got.get(at) != want;
    } else {
      wrong += !(std::abs(got.get(at) - sum.value) <= sum.magnitude * 0x1p-20 + 1e-30);
    }
  }
  EXPECT_EQ(wrong, 0) << "of " << got.size();
  return special;
}

Four of_gradient(const Four& g) { return {g[0], g[0] + g[1], g[0] - g[1], g[1]}; }
Four of_sums(const Four& m) {
  const float outer = (m[1] + m[2]) * 0.5F;
  return {m[0] + outer, (m[1] - m[2]) * 0.5F, outer - m[3], 0};
}

int64_t tiles_of(const ConvProblem& p) { return p.n * ((p.out(0) + 1) / 2) * ((p.out(1) + 1) / 2); }

/// The taps of two channels as one part, in even chunks of at most 48 tiles.
Square expected(const ConvProblem& p, const ConvTensors& t, int64_t o, int64_t c) {
  constexpr int64_t kMostTiles = 48;
  const int64_t tiles_y = (p.out(0) + 1) / 2, tiles_x = (p.out(1) + 1) / 2;
  const int64_t chunks = (tiles_of(p) + kMostTiles - 1) / kMostTiles,
                chunk = (tiles_of(p) + chunks - 1) / chunks;
  Square all{}, sums{};
  for (int64_t tile = 0; tile < tiles_of(p); ++tile) {
    const int64_t n = tile / tiles_x / tiles_y, y = tile / tiles_x % tiles_y * 2, x = tile % tiles_x * 2;
    Square d{}, g{};
    for (int64_t i = 0; i < 16; ++i)
      d[static_cast<size_t>(i)] = input_at(p, t, n, y - p.pad_low[0] + i / 4, x - p.pad_low[1] + i % 4, c);
    for (int64_t i : {0, 1, 4, 5}) g[static_cast<size_t>(i)] = gradient_at(p, t, n, y + i / 4, x + i % 4, o);
    d = both(of_source, d), g = both(of_gradient, g);
    for (size_t i = 0; i < 16; ++i) sums[i] = std::fma(g[i], d[i], sums[i]);
    if ((tile + 1) % chunk != 0 && tile + 1 < tiles_of(p)) continue;
    for (size_t i = 0; i < 16; ++i) all[i] += sums[i];
    sums = {};
  }
  return both(of_sums, all);
}

class WinogradWeightsTest : public ::testing::TestWithParam<ConvShape> {
 protected:
  void SetUp() override {
    if (!winograd::supports(problem_of(GetParam()), ConvPass::kBackwardWeights))
      GTEST_SKIP() << "this CPU has no AVX2";
  }
};

TEST_P(WinogradWeightsTest, GivesTheBitsOfPlainLoops) {
  const ConvProblem p = problem_of(GetParam());
  constexpr int64_t kTwoParts = 96;  // tiles
  if (tiles_of(p) >= kTwoParts) GTEST_SKIP() << "the sum has parts";
  const ConvTensors t(p);
  const Buffer got = gradient(p, t);
  int64_t different = 0;
  for (int64_t o = 0; o < p.out_channels; ++o) {
    for (int64_t c = 0; c < p.in_channels; ++c) {
      const Square want = expected(p, t, o, c);
      for (int64_t tap = 0; tap < 9; ++tap) {
        different +=
            got.get((o * p.in_channels + c) * 9 + tap) != want[static_cast<size_t>(tap / 3 * 4 + tap % 3)];
      }
    }
  }
  EXPECT_EQ(different, 0);
}

TEST_P(WinogradWeightsTest, IsAsFineAsAPlainSum) {
  const ConvProblem p = problem_of(GetParam());
  const ConvTensors t(p);
  EXPECT_EQ(expect_sums(p, t, gradient_of_any_threads(p, t)), 0);
}

TEST_P(WinogradWeightsTest, HasTheSpecialValuesOfPlainSums) {
  const ConvProblem p = problem_of(GetParam());
  const auto put = [](Buffer& to, const int64_t* size, int64_t channels, int64_t n, int64_t y, int64_t x,
                      int64_t c,
                      float value) { to.set(((n * size[0] + y) * size[1] + x) * channels + c, value); };
  const int64_t in[2] = {p.in[0], p.in[1]}, out[2] = {p.out(0), p.out(1)};
  for (bool of_input : {true, false}) {
    ConvTensors t(p);
    Buffer& to = of_input ? t.input : t.out;
    const int64_t* size = of_input ? in : out;
    const int64_t channels = of_input ? p.in_channels : p.out_channels;
    put(to, size, channels, 0, 0, 0, 0, kInfinity);
    put(to, size, channels, 0, size[0] - 1, size[1] - 1, 1, -kInfinity);
    put(to, size, channels, p.n - 1, 0, size[1] - 1, 2, kNan);
    put(to, size, channels, p.n - 1, size[0] / 2, 0, 3, kInfinity);
    put(to, size, channels, 0, size[0] / 2, size[1] / 2, channels - 1, -kInfinity);
    EXPECT_GT(expect_sums(p, t, gradient_of_any_threads(p, t)), 0);
  }
}

TEST_P(WinogradWeightsTest, TransformsMayOverflow) {
  const ConvProblem p = problem_of(GetParam());
  const auto terms = static_cast<float>(p.n * p.out_positions());
  for (bool of_input : {true, false}) {
    ConvTensors t(p);
    Buffer &huge = of_input ? t.input : t.out, &small = of_input ? t.out : t.input;
    for (int64_t i = 0; i < huge.size(); ++i) huge.set(i, i % 7 < 3 ? 3e38F : -3e38F);
    for (int64_t i = 0; i < small.size(); ++i) small.set(i, small.get(i) / terms);
    EXPECT_EQ(expect_sums(p, t, gradient_of_any_threads(p, t)), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, WinogradWeightsTest, ::testing::ValuesIn(kShapes),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace sorus::kernels
