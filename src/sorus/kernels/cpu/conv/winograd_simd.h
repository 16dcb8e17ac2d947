// The transforms of winograd.cpp, compiled once per target. Included by it alone.

#if defined(SORUS_KERNELS_CPU_CONV_WINOGRAD_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_CONV_WINOGRAD_SIMD_H_
#undef SORUS_KERNELS_CPU_CONV_WINOGRAD_SIMD_H_
#else
#define SORUS_KERNELS_CPU_CONV_WINOGRAD_SIMD_H_
#endif

#include "sorus/kernels/cpu/simd/panel.h"
#include "sorus/kernels/cpu/simd/transpose.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::kernels::winograd::HWY_NAMESPACE {

using namespace panel::HWY_NAMESPACE;

/// One dimension of the source's transform.
HWY_INLINE void transform_four(const Vec* d, int64_t step, Vec* to) {
  to[0] = hn::Sub(d[0], d[2 * step]);
  to[1] = hn::Add(d[step], d[2 * step]);
  to[2] = hn::Sub(d[2 * step], d[step]);
  to[3] = hn::Sub(d[step], d[3 * step]);
}

/// A tile of the source, positions `column` floats apart in rows `row` apart, into its 16 places.
void transform_source(int64_t channels, const float* from, int64_t row, int64_t column, float* to,
                      int64_t place) {
  Tag d;
  constexpr int64_t kAhead = 8;  // positions
  for (int64_t c = 0; c < channels; c += kLanes) {
    Vec half[4][4];
#pragma GCC unroll 4
    for (int x = 0; x < 4; ++x) {
      Vec in[4];
#pragma GCC unroll 4
      for (int y = 0; y < 4; ++y) {
        const float* at = from + y * row + x * column + c;
        if (x >= 2) hwy::Prefetch(at + kAhead * column);
        in[y] = hn::LoadU(d, at);
      }
      transform_four(in, 1, half[x]);
    }
#pragma GCC unroll 4
    for (int y = 0; y < 4; ++y) {
      Vec out[4];
      transform_four(&half[0][y], 4, out);
#pragma GCC unroll 4
      for (int x = 0; x < 4; ++x) hn::StoreU(out[x], d, to + (y * 4 + x) * place + c);
    }
  }
}

/// A tile of 2x2 results, positions `column` floats apart in rows `row` apart, from its 16 places. False when
/// one of them, before bias and activation, is not finite.
bool transform_result(int64_t channels, const float* from, int64_t place, const float* bias, bool relu,
                      float* to, int64_t row, int64_t column) {
  Tag d;
  const Vec zero = hn::Zero(d);
  Vec seen[2] = {zero, zero};  // NaN where a result was not finite
  for (int64_t c = 0; c < channels; c += kLanes) {
    Vec half[2][4];
#pragma GCC unroll 4
    for (int x = 0; x < 4; ++x) {
      Vec m[4];
#pragma GCC unroll 4
      for (int y = 0; y < 4; ++y) m[y] = hn::LoadU(d, from + (y * 4 + x) * place + c);
      half[0][x] = hn::Add(hn::Add(m[0], m[1]), m[2]);
      half[1][x] = hn::Sub(hn::Sub(m[1], m[2]), m[3]);
    }
#pragma GCC unroll 2
    for (int y = 0; y < 2; ++y) {
      Vec out[2] = {hn::Add(hn::Add(half[y][0], half[y][1]), half[y][2]),
                    hn::Sub(hn::Sub(half[y][1], half[y][2]), half[y][3])};
#pragma GCC unroll 2
      for (int x = 0; x < 2; ++x) {
        seen[x] = hn::MulAdd(out[x], zero, seen[x]);
        if (bias) out[x] = hn::Add(out[x], hn::LoadU(d, bias + c));
        if (relu) out[x] = hn::IfThenZeroElse(hn::Lt(out[x], zero), out[x]);
        hn::StoreU(out[x], d, to + y * row + x * column + c);
      }
    }
  }
  const Vec all = hn::Add(seen[0], seen[1]);
  return hn::AllTrue(d, hn::Eq(all, zero));
}

/// One dimension of the weights' transform.
HWY_INLINE void transform_three(const Vec* g, int64_t step, Vec* to) {
  Tag d;
  const Vec half = hn::Set(d, 0.5F);
  const Vec outer = hn::Add(g[0], g[2 * step]);
  to[0] = g[0];
  to[1] = hn::Mul(hn::Add(outer, g[step]), half);
  to[2] = hn::Mul(hn::Sub(outer, g[step]), half);
  to[3] = g[2 * step];
}

/// Weights of `width` channels of the result, at most a panel's, and one of the source, 9 taps each `column`
/// floats apart, into rows of a panel for each of the 16 places, with zeros behind them.
void transform_weights(int64_t width, const float* from, int64_t column, bool reversed, float* to,
                       int64_t place) {
  Tag d;
  HWY_ALIGN float taps[9 * kWidth] = {};
  matrix::HWY_NAMESPACE::transpose(width, 9, from, column, taps, kWidth);
  for (int64_t j = 0; j < kWidth; j += kLanes) {
    Vec half[3][4];
#pragma GCC unroll 4
    for (int x = 0; x < 3; ++x) {
      Vec g[3];
#pragma GCC unroll 4
      for (int y = 0; y < 3; ++y) {
        const int tap = y * 3 + x;
        g[y] = hn::Load(d, taps + (reversed ? 8 - tap : tap) * kWidth + j);
      }
      transform_three(g, 1, half[x]);
    }
#pragma GCC unroll 4
    for (int y = 0; y < 4; ++y) {
      Vec out[4];
      transform_three(&half[0][y], 4, out);
#pragma GCC unroll 4
      for (int x = 0; x < 4; ++x) hn::StoreU(out[x], d, to + (y * 4 + x) * place + j);
    }
  }
}

}  // namespace sorus::kernels::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
