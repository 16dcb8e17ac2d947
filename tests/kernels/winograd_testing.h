#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "sorus/kernels/cpu/conv/winograd.h"
#include "tests/kernels/conv_testing.h"

/// What the tests of Winograd's kernels share.
namespace sorus::kernels::winograd::testing {

using onednn::ConvPass;
using onednn::ConvProblem;
using onednn::testing::Buffer;
using onednn::testing::ConvShape;
using onednn::testing::ConvTensors;
using onednn::testing::problem_of;
using Four = std::array<float, 4>;
using Square = std::array<float, 16>;

inline const ConvShape kShapes[] = {
    {"whole_tiles", 2, 2, 64, 64, {8, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"odd_sizes", 2, 3, 32, 48, {7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"many_pieces", 2, 1, 16, 80, {30, 31}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"no_padding", 2, 2, 48, 16, {6, 5}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"uneven_padding", 2, 2, 16, 32, {5, 6}, {3, 3}, {1, 1}, {1, 1}, {2, 0}, {1, 2}},
    {"many_channels", 2, 2, 144, 80, {5, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
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
  [[nodiscard]] bool inside(int64_t y, int64_t x) const {
    return y >= 0 && x >= 0 && y < source_y && x < source_x;
  }
  [[nodiscard]] float source(const Buffer& values, int64_t n, int64_t y, int64_t x, int64_t c) const {
    if (!inside(y, x)) return 0;
    return values.get(((n * source_y + y) * source_x + x) * source_channels + c);
  }
};

inline Four of_source(const Four& d) { return {d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]}; }

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

/// A result as it is defined, without bias, and the sum of its terms' magnitudes.
struct Sum {
  double value = 0, magnitude = 0;
};

/// All results of a pass by sums in double over the taps that lie inside of the image.
inline std::vector<Sum> sums_in_double(const ConvProblem& p, ConvPass pass, const ConvTensors& t) {
  const View v(p, pass);
  const Buffer& source = v.forward ? t.input : t.out;
  std::vector<Sum> sums(static_cast<size_t>(p.n * v.result_y * v.result_x * v.result_channels));
  for (size_t at = 0; at < sums.size(); ++at) {
    const auto index = static_cast<int64_t>(at);
    const int64_t o = index % v.result_channels, position = index / v.result_channels;
    const int64_t x = position % v.result_x - v.pad_x, y = position / v.result_x % v.result_y - v.pad_y;
    const int64_t n = position / v.result_x / v.result_y;
    for (int64_t tap = 0; tap < 9; ++tap) {
      if (!v.inside(y + tap / 3, x + tap % 3)) continue;
      for (int64_t c = 0; c < v.source_channels; ++c) {
        const double term = static_cast<double>(v.source(source, n, y + tap / 3, x + tap % 3, c)) *
                            v.weight(p, t.weights, c, o, tap);
        sums[at].value += term, sums[at].magnitude += std::abs(term);
      }
    }
  }
  return sums;
}

/// A pass by Winograd's kernel; `weights` stand for those of the tensors, as when they are packed.
inline Buffer run(const ConvProblem& p, ConvPass pass, const ConvTensors& t,
                  const onednn::ConvOptions& options = {}, bool whole = true,
                  const Buffer* weights = nullptr) {
  const bool forward = pass == ConvPass::kForward;
  Buffer space = onednn::testing::workspace(winograd::workspace(p, pass));
  Buffer result(p.type, forward ? t.out.size() : t.input.size());
  result.fill(5);
  auto* to = whole ? static_cast<float*>(result.data()) : nullptr;
  if (forward) {
    winograd::forward(p, onednn::testing::floats(t.input),
                      onednn::testing::floats(weights ? *weights : t.weights),
                      onednn::testing::floats(t.bias), to, space.data(), options);
  } else {
    winograd::backward_data(p, onednn::testing::floats(t.out),
                            onednn::testing::floats(weights ? *weights : t.weights), to, space.data(),
                            options);
  }
  return result;
}

}  // namespace sorus::kernels::winograd::testing
