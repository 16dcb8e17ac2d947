// The inner loops of depthwise.cpp, compiled once per target. Included by it alone.

#if defined(SORUS_KERNELS_CPU_CONV_DEPTHWISE_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_CONV_DEPTHWISE_SIMD_H_
#undef SORUS_KERNELS_CPU_CONV_DEPTHWISE_SIMD_H_
#else
#define SORUS_KERNELS_CPU_CONV_DEPTHWISE_SIMD_H_
#endif

#include <algorithm>

#include "sorus/kernels/cpu/simd/panel.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::kernels::depthwise::HWY_NAMESPACE {

using namespace panel::HWY_NAMESPACE;

/// Most positions whose sums are in registers at once: enough chains to hide the latency of one.
constexpr int kMostAtOnce = 8;

HWY_INLINE Vec finished(Vec sum, const float* bias, bool relu) {
  Tag d;
  if (bias) sum = hn::Add(sum, hn::LoadU(d, bias));
  if (relu) sum = hn::IfThenZeroElse(hn::Lt(sum, hn::Zero(d)), sum);
  return sum;
}

/// A block of channels of kCount neighbouring positions whose rows of kTaps taps lie within the source. Each
/// position of the source is read once for all sums that it belongs to.
template <int kTaps, int kStride, int kCount>
void tile(const Line& line, const float* source, const float* weights, const float* bias, float* to) {
  Tag d;
  Vec sum[kCount];
#pragma GCC unroll 32
  for (int i = 0; i < kCount; ++i) sum[i] = hn::Zero(d);
  for (int64_t ky = 0; ky < line.taps_y; ++ky) {
    Vec w[kTaps];
#pragma GCC unroll 32
    for (int k = 0; k < kTaps; ++k) w[k] = hn::LoadU(d, weights + k * kLanes);
    const float* x = source;
#pragma GCC unroll 32
    for (int j = 0; j < kStride * (kCount - 1) + kTaps; ++j, x += line.channels) {
      const Vec number = hn::LoadU(d, x);
#pragma GCC unroll 32
      for (int i = 0; i < kCount; ++i) {
        const int k = j - kStride * i;
        if (k >= 0 && k < kTaps) sum[i] = hn::MulAdd(number, w[k], sum[i]);
      }
    }
    source += line.row_step;
    weights += kTaps * kLanes;
  }
#pragma GCC unroll 32
  for (int i = 0; i < kCount; ++i, to += line.channels) hn::StoreU(finished(sum[i], bias, line.relu), d, to);
}

template <int kTaps, int kStride>
void tile_of(int64_t count, const Line& line, const float* source, const float* weights, const float* bias,
             float* to) {
  static_assert(kMostAtOnce == 8);
  switch (count) {
    case 1:
      return tile<kTaps, kStride, 1>(line, source, weights, bias, to);
    case 2:
      return tile<kTaps, kStride, 2>(line, source, weights, bias, to);
    case 3:
      return tile<kTaps, kStride, 3>(line, source, weights, bias, to);
    case 4:
      return tile<kTaps, kStride, 4>(line, source, weights, bias, to);
    case 5:
      return tile<kTaps, kStride, 5>(line, source, weights, bias, to);
    case 6:
      return tile<kTaps, kStride, 6>(line, source, weights, bias, to);
    case 7:
      return tile<kTaps, kStride, 7>(line, source, weights, bias, to);
    default:
      return tile<kTaps, kStride, 8>(line, source, weights, bias, to);
  }
}

/// kBlocks blocks of channels of one position, which meets taps [first, end) of each row.
template <int kBlocks>
void position(const Line& line, const float* const* source, const float* const* weights, int64_t first,
              int64_t end, const float* const* bias, float* const* to) {
  Tag d;
  Vec sum[kBlocks];
#pragma GCC unroll 16
  for (int b = 0; b < kBlocks; ++b) sum[b] = hn::Zero(d);
  for (int64_t ky = 0; ky < line.taps_y; ++ky) {
    for (int64_t k = first; k < end; ++k) {
      const int64_t from = ky * line.row_step + k * line.tap_step, tap = (ky * line.taps_x + k) * kLanes;
#pragma GCC unroll 16
      for (int b = 0; b < kBlocks; ++b)
        sum[b] = hn::MulAdd(hn::LoadU(d, source[b] + from), hn::LoadU(d, weights[b] + tap), sum[b]);
    }
  }
#pragma GCC unroll 16
  for (int b = 0; b < kBlocks; ++b) hn::StoreU(finished(sum[b], bias[b], line.relu), d, to[b]);
}

/// First channel of a block; the last one ends with the channels, so that it may overlap the one before it.
HWY_INLINE int64_t channel_of(int64_t block, int64_t channels) {
  return std::min(block * kLanes, channels - kLanes);
}
int64_t block_count(int64_t channels) { return (channels + kLanes - 1) / kLanes; }

/// Blocks [block, block_end) of a position at the border, or of a kernel of an uncommon width.
template <int kBlocks>
int64_t some_blocks(const Line& line, int64_t x, int64_t block, int64_t block_end) {
  const int64_t at = x * line.step - line.pad;  // of tap 0, in floats
  const int64_t first = at < 0 ? (-at + line.tap_step - 1) / line.tap_step : 0;
  const int64_t end = std::min(line.taps_x, (line.source_floats - at + line.tap_step - 1) / line.tap_step);
  for (; block + kBlocks <= block_end; block += kBlocks) {
    const float* source[kBlocks];
    const float* weights[kBlocks];
    const float* bias[kBlocks];
    float* to[kBlocks];
    for (int b = 0; b < kBlocks; ++b) {
      const int64_t c = channel_of(block + b, line.channels);
      source[b] = line.source + at + c;
      weights[b] = line.weights + (block + b) * line.block_weights;
      bias[b] = line.bias ? line.bias + c : nullptr;
      to[b] = line.to + x * line.channels + c;
    }
    position<kBlocks>(line, source, weights, first, end, bias, to);
  }
  return block;
}
void any_position(const Line& line, int64_t x, int64_t block, int64_t block_end) {
  block = some_blocks<4>(line, x, block, block_end);
  (void)some_blocks<1>(line, x, block, block_end);
}

template <int kTaps, int kStride>
void inner_positions(const Line& line, int64_t begin, int64_t end, int64_t block_begin, int64_t block_end) {
  const int64_t tiles = (end - begin + kMostAtOnce - 1) / kMostAtOnce;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t x = begin + (end - begin) * t / tiles, next = begin + (end - begin) * (t + 1) / tiles;
    for (int64_t block = block_begin; block < block_end; ++block) {
      const int64_t c = channel_of(block, line.channels);
      tile_of<kTaps, kStride>(next - x, line, line.source + x * line.step - line.pad + c,
                              line.weights + block * line.block_weights, line.bias ? line.bias + c : nullptr,
                              line.to + x * line.channels + c);
    }
  }
}

/// Blocks of channels of a row of `positions` positions of the result, of which [begin, end) lie off the
/// borders.
void compute_line(const Line& line, int64_t positions, int64_t begin, int64_t end, int64_t block_begin,
                  int64_t block_end) {
  const auto inner = [&]() -> decltype(&inner_positions<3, 1>) {
    if (line.tap_step != line.channels) return nullptr;
    const bool one = line.step == line.channels;
    if (!one && line.step != 2 * line.channels) return nullptr;
    switch (line.taps_x) {
      case 3:
        return one ? inner_positions<3, 1> : inner_positions<3, 2>;
      case 5:
        return one ? inner_positions<5, 1> : inner_positions<5, 2>;
      case 7:
        return one ? inner_positions<7, 1> : inner_positions<7, 2>;
      default:
        return nullptr;
    }
  }();
  if (!inner) begin = end = positions;
  for (int64_t x = 0; x < begin; ++x) any_position(line, x, block_begin, block_end);
  if (inner) inner(line, begin, end, block_begin, block_end);
  for (int64_t x = end; x < positions; ++x) any_position(line, x, block_begin, block_end);
}

/// to[block][tap][lane] from (channels, taps), whose taps are turned round where `turned`.
void pack(int64_t channels, int64_t taps, bool turned, const float* weights, float* to) {
  for (int64_t block = 0; block < block_count(channels); ++block) {
    const float* from = weights + channel_of(block, channels) * taps;
    for (int64_t tap = 0; tap < taps; ++tap, to += kLanes)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        to[lane] = from[lane * taps + (turned ? taps - 1 - tap : tap)];
  }
}

int64_t lanes() { return kLanes; }

}  // namespace sorus::kernels::depthwise::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
