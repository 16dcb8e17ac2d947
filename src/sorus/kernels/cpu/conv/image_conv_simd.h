// The inner loops of image_conv.cpp, compiled once per target. Included by it alone.

#if defined(SORUS_KERNELS_CPU_CONV_IMAGE_CONV_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_CONV_IMAGE_CONV_SIMD_H_
#undef SORUS_KERNELS_CPU_CONV_IMAGE_CONV_SIMD_H_
#else
#define SORUS_KERNELS_CPU_CONV_IMAGE_CONV_SIMD_H_
#endif

#include <algorithm>

#include "sorus/kernels/cpu/simd/panel.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::kernels::image_conv::HWY_NAMESPACE {

using namespace panel::HWY_NAMESPACE;

constexpr bool kManyRegisters = kLanes >= 16;  // 32 vector registers rather than 16

/// Positions whose sums, of so many vectors of channels each, are in registers at once: enough chains to hide
/// the latency of one.
constexpr int positions_at_once(int vectors) {
  if (!kManyRegisters) return vectors == 1 ? 8 : 4;
  return vectors == 1 ? 12 : vectors == 2 ? 8 : 6;
}

/// kVectors vectors of channels, from `channel` on, of kCount neighbouring positions from x on, which meet
/// taps [first, end) of each row. kStride is the stride where it is known beforehand, else 0.
template <int kVectors, int kCount, int kStride>
HWY_INLINE void tile(const Line& line, int64_t x, int64_t channel, int64_t first, int64_t end) {
  Tag d;
  const int64_t stride = kStride > 0 ? kStride : line.step;
  Vec sum[kCount][kVectors];
#pragma GCC unroll 16
  for (auto& position : sum) {
#pragma GCC unroll 4
    for (Vec& v : position) v = hn::Zero(d);
  }
  for (int64_t plane = 0; plane < line.planes; ++plane) {
    const float* row = line.source + plane * line.source_plane + x * line.step - line.pad;
    const float* row_weights = line.weights + plane * line.weights_plane + channel;
    for (int64_t ky = 0; ky < line.taps_y; ++ky) {
      for (int64_t kx = first; kx < end; ++kx) {
        const float* from = row + kx * line.tap_step;
        Vec w[kVectors];
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) w[v] = hn::LoadU(d, row_weights + kx * line.channels + v * kLanes);
#pragma GCC unroll 16
        for (int i = 0; i < kCount; ++i) {
          const Vec number = hn::Set(d, from[i * stride]);
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(number, w[v], sum[i][v]);
        }
      }
      row += line.row_step;
      row_weights += line.taps_x * line.channels;
    }
  }
  float* to = line.to + x * line.channels + channel;
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i, to += line.channels) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      Vec result = sum[i][v];
      if (line.bias) result = hn::Add(result, hn::LoadU(d, line.bias + channel + v * kLanes));
      if (line.relu) result = hn::IfThenZeroElse(hn::Lt(result, hn::Zero(d)), result);
      hn::StoreU(result, d, to + v * kLanes);
    }
  }
}

/// Positions [begin, end) whose taps all lie within the image. The last ones are computed with those before
/// them, which some of them are again.
template <int kVectors, int kStride>
void inner_positions(const Line& line, int64_t channel, int64_t begin, int64_t end) {
  constexpr int kCount = positions_at_once(kVectors);
  if (end - begin < kCount) {
    for (int64_t x = begin; x < end; ++x) tile<kVectors, 1, 0>(line, x, channel, 0, line.taps_x);
    return;
  }
  for (int64_t x = begin; x < end; x += kCount)
    tile<kVectors, kCount, kStride>(line, std::min(x, end - kCount), channel, 0, line.taps_x);
}

template <int kVectors>
void border_position(const Line& line, int64_t channel, int64_t x) {
  const int64_t at = x * line.step - line.pad;  // of tap 0
  const int64_t first = at < 0 ? (-at + line.tap_step - 1) / line.tap_step : 0;
  const int64_t end = std::min(line.taps_x, (line.width - at + line.tap_step - 1) / line.tap_step);
  tile<kVectors, 1, 0>(line, x, channel, first, end);
}

/// Blocks of kVectors vectors of channels of a whole row; gives the first channel that is left.
template <int kVectors>
int64_t some_channels(const Line& line, int64_t channel, int64_t positions, int64_t begin, int64_t end) {
  for (; channel + kVectors * kLanes <= line.channels; channel += kVectors * kLanes) {
    for (int64_t x = 0; x < begin; ++x) border_position<kVectors>(line, channel, x);
    if (line.step == 1)
      inner_positions<kVectors, 1>(line, channel, begin, end);
    else if (line.step == 2)
      inner_positions<kVectors, 2>(line, channel, begin, end);
    else
      inner_positions<kVectors, 0>(line, channel, begin, end);
    for (int64_t x = end; x < positions; ++x) border_position<kVectors>(line, channel, x);
  }
  return channel;
}

/// A row of `positions` positions of the result, of which [begin, end) lie off the borders.
void compute_line(const Line& line, int64_t positions, int64_t begin, int64_t end) {
  int64_t channel = 0;
  if constexpr (kManyRegisters) channel = some_channels<4>(line, channel, positions, begin, end);
  channel = some_channels<2>(line, channel, positions, begin, end);
  (void)some_channels<1>(line, channel, positions, begin, end);
}

int64_t lanes() { return kLanes; }

}  // namespace sorus::kernels::image_conv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
