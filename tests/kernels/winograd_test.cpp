#include "sorus/kernels/cpu/conv/winograd.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <vector>

#include "sorus/kernels/cpu/conv/conv.h"
#include "tests/kernels/conv_testing.h"

// Transforms are plain sums, and each place of a tile is one chain of fused multiply-adds over channels, so
// plain loops give the same bits.
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
using Four = std::array<float, 4>;
using Square = std::array<float, 16>;

const ConvShape kShapes[] = {
    {"whole_tiles", 2, 2, 64, 64, {8, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"odd_sizes", 2, 3, 32, 48, {7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"many_pieces", 2, 1, 16, 80, {30, 31}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"no_padding", 2, 2, 48, 16, {6, 5}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"uneven_padding", 2, 2, 16, 32, {5, 6}, {3, 3}, {1, 1}, {1, 1}, {2, 0}, {1, 2}},
    {"one_position", 2, 2, 16, 16, {1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"a_row", 2, 2, 16, 16, {1, 70}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
};

/// A pass as rows of channels of a result, computed from a source.
struct View {
  int64_t source_channels, result_channels, source_y, source_x, result_y, result_x, pad_y, pad_x;
  bool forward;
  View(const ConvProblem& p, ConvPass pass) : forward(pass == ConvPass::kForward) {
    source_channels = p.in_channels, result_channels = p.out_channels;
    source_y = p.in[0], source_x = p.in[1], result_y = p.out(0), result_x = p.out(1);
    pad_y = p.pad_low[0], pad_x = p.pad_low[1];
    if (forward) return;
    std::swap(source_channels, result_channels);
    std::swap(source_y, result_y), std::swap(source_x, result_x);
    pad_y = 2 - pad_y, pad_x = 2 - pad_x;
  }
  [[nodiscard]] float weight(const ConvProblem& p, const Buffer& weights, int64_t c, int64_t o,
                             int64_t tap) const {
    return forward ? weights.get((o * p.in_channels + c) * 9 + tap)
                   : weights.get((c * p.in_channels + o) * 9 + 8 - tap);
  }
  [[nodiscard]] float source(const Buffer& values, int64_t n, int64_t y, int64_t x, int64_t c) const {
    if (y < 0 || x < 0 || y >= source_y || x >= source_x) return 0;
    return values.get(((n * source_y + y) * source_x + x) * source_channels + c);
  }
};

Four of_source(const Four& d) { return {d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]}; }
Four of_weights(const Four& g) {
  return {g[0], (g[0] + g[2] + g[1]) * 0.5F, (g[0] + g[2] - g[1]) * 0.5F, g[2]};
}
Four of_result(const Four& m) { return {m[0] + m[1] + m[2], m[1] - m[2] - m[3], 0, 0}; }

/// A transform of the columns, then of the rows, of a square of which the first numbers count.
template <class Transform>
Square both(const Transform& transform, const Square& from) {
  Square half{}, to{};
  for (size_t x = 0; x < 4; ++x) {
    Four column = transform({from[x], from[4 + x], from[8 + x], from[12 + x]});
    for (size_t y = 0; y < 4; ++y) half[y * 4 + x] = column[y];
  }
  for (size_t y = 0; y < 4; ++y) {
    Four row = transform({half[y * 4], half[y * 4 + 1], half[y * 4 + 2], half[y * 4 + 3]});
    for (size_t x = 0; x < 4; ++x) to[y * 4 + x] = row[x];
  }
  return to;
}

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

Buffer run(const ConvProblem& p, ConvPass pass, const ConvTensors& t, const onednn::ConvOptions& options = {},
           bool whole = true) {
  const bool forward = pass == ConvPass::kForward;
  Buffer space = onednn::testing::workspace(winograd::workspace(p, pass));
  Buffer result(p.type, forward ? t.out.size() : t.input.size());
  result.fill(5);
  auto* to = whole ? static_cast<float*>(result.data()) : nullptr;
  if (forward) {
    winograd::forward(p, floats(t.input), floats(t.weights), floats(t.bias), to, space.data(), options);
  } else {
    winograd::backward_data(p, floats(t.out), floats(t.weights), to, space.data(), options);
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
    const View v(p, pass);
    Buffer got = run(p, pass, t);
    for (int64_t at = 0; at < got.size(); ++at) {
      int64_t o = at % v.result_channels, position = at / v.result_channels;
      int64_t x = position % v.result_x, y = position / v.result_x % v.result_y,
              n = position / v.result_x / v.result_y;
      double want = 0, magnitude = 0;
      for (int64_t i = 0; i < 9 * v.source_channels; ++i) {
        int64_t tap = i % 9, c = i / 9;
        double term = static_cast<double>(v.source(pass == ConvPass::kForward ? t.input : t.out, n,
                                                   y - v.pad_y + tap / 3, x - v.pad_x + tap % 3, c)) *
                      v.weight(p, t.weights, c, o, tap);
        want += term, magnitude += std::abs(term);
      }
      ASSERT_NEAR(got.get(at), want, magnitude * 0x1p-20 + 1e-30) << "element " << at;
    }
  }
}

/// Puts pieces together.
class Collector final : public PieceTaker {
 public:
  explicit Collector(Buffer& to) : to_(static_cast<float*>(to.data())) {}
  void take(const ResultPiece& piece) const override {
    std::lock_guard lock(mutex_);
    taken_ += piece.rows;
    for (int64_t i = 0; i < piece.rows; ++i) {
      std::memcpy(to_ + (piece.row + i) * piece.columns,
                  static_cast<const float*>(piece.data) + i * piece.pitch,
                  static_cast<size_t>(piece.columns) * sizeof(float));
    }
  }
  [[nodiscard]] int64_t taken() const { return taken_; }

 private:
  float* to_;
  mutable std::mutex mutex_;
  mutable int64_t taken_ = 0;
};

TEST_P(WinogradTest, HandsOverPieces) {
  const ConvProblem p = problem_of(GetParam());
  const ConvTensors t(p);
  for (auto pass : {ConvPass::kForward, ConvPass::kBackwardData}) {
    Buffer whole = run(p, pass, t), pieces(p.type, whole.size());
    Collector collector(pieces);
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
  EXPECT_NE(conv::implementation(p, ConvPass::kBackwardWeights), "Winograd");
  ConvProblem few = p, dilated = p, strided = p, thin = p;
  few.in = {14, 14, 1}, dilated.dilation[1] = 2, strided.stride[0] = 2, thin.in_channels = 16;
  for (const ConvProblem& other : {few, dilated, strided, thin})
    EXPECT_NE(conv::implementation(other, ConvPass::kForward), "Winograd");
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
