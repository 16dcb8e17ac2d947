// The transforms of winograd_weights.cpp, compiled once per target. Included by it alone.

#if defined(SORUS_KERNELS_CPU_CONV_WINOGRAD_WEIGHTS_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_CONV_WINOGRAD_WEIGHTS_SIMD_H_
#undef SORUS_KERNELS_CPU_CONV_WINOGRAD_WEIGHTS_SIMD_H_
#else
#define SORUS_KERNELS_CPU_CONV_WINOGRAD_WEIGHTS_SIMD_H_
#endif

#include "sorus/kernels/cpu/simd/panel.h"
#include "sorus/kernels/cpu/simd/transpose.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::kernels::winograd::weights::HWY_NAMESPACE {

using namespace panel::HWY_NAMESPACE;

/// One dimension of the gradient's transform, without the halves of the two in the middle, which come last.
HWY_INLINE void transform_two(Vec g0, Vec g1, Vec* to) {
  to[0] = g0;
  to[1] = hn::Add(g0, g1);
  to[2] = hn::Sub(g0, g1);
  to[3] = g1;
}

/// A tile of 2x2 of the gradient, positions `column` floats apart in rows `row` apart, into its 16 places.
void transform_gradient(int64_t channels, const float* from, int64_t row, int64_t column, float* to,
                        int64_t place) {
  Tag d;
  constexpr int64_t kAhead = 8;  // positions
  for (int64_t c = 0; c < channels; c += kLanes) {
    Vec half[2][4];
#pragma GCC unroll 2
    for (int x = 0; x < 2; ++x) {
      const float* at = from + x * column + c;
      hwy::Prefetch(at + kAhead * column);
      hwy::Prefetch(at + row + kAhead * column);
      transform_two(hn::LoadU(d, at), hn::LoadU(d, at + row), half[x]);
    }
#pragma GCC unroll 4
    for (int y = 0; y < 4; ++y) {
      Vec out[4];
      transform_two(half[0][y], half[1][y], out);
#pragma GCC unroll 4
      for (int x = 0; x < 4; ++x) hn::StoreU(out[x], d, to + (y * 4 + x) * place + c);
    }
  }
}

/// to += from, in rows of `width` numbers.
void add_rows(int64_t rows, int64_t width, const float* from, int64_t from_row, float* to, int64_t to_row) {
  Tag d;
  for (int64_t i = 0; i < rows; ++i, from += from_row, to += to_row) {
    for (int64_t j = 0; j < width; j += kLanes)
      hn::StoreU(hn::Add(hn::LoadU(d, to + j), hn::LoadU(d, from + j)), d, to + j);
  }
}

/// One dimension of the way from four sums to three taps.
HWY_INLINE void transform_sums(const Vec* m, int64_t step, Vec* to) {
  Tag d;
  const Vec half = hn::Set(d, 0.5F);
  const Vec outer = hn::Mul(hn::Add(m[step], m[2 * step]), half);
  to[0] = hn::Add(m[0], outer);
  to[1] = hn::Mul(hn::Sub(m[step], m[2 * step]), half);
  to[2] = hn::Sub(outer, m[3 * step]);
}

/// Nine taps of each channel, side by side in `to`, from the sums of its 16 places, which are those of
/// `parts` parts, `part` floats apart, added in order. `taps` has room for the same. False when a tap is not
/// finite.
bool finish(int64_t channels, int64_t parts, const float* from, int64_t part, int64_t place, float* taps,
            float* to) {
  Tag d;
  const Vec zero = hn::Zero(d);
  Vec seen = zero;  // NaN where a tap was not finite
  for (int64_t c = 0; c < channels; c += kLanes) {
    Vec half[4][3];
#pragma GCC unroll 4
    for (int x = 0; x < 4; ++x) {
      Vec m[4];
#pragma GCC unroll 4
      for (int y = 0; y < 4; ++y) {
        const float* at = from + (y * 4 + x) * place + c;
        m[y] = hn::LoadU(d, at);
        for (int64_t i = 1; i < parts; ++i) m[y] = hn::Add(m[y], hn::LoadU(d, at + i * part));
      }
      transform_sums(m, 1, half[x]);
    }
#pragma GCC unroll 3
    for (int y = 0; y < 3; ++y) {
      Vec out[3];
      transform_sums(&half[0][y], 3, out);
#pragma GCC unroll 3
      for (int x = 0; x < 3; ++x) {
        seen = hn::MulAdd(out[x], zero, seen);
        hn::StoreU(out[x], d, taps + (y * 3 + x) * channels + c);
      }
    }
  }
  matrix::HWY_NAMESPACE::transpose(9, channels, taps, channels, to, 9);
  return hn::AllTrue(d, hn::Eq(seen, zero));
}

}  // namespace sorus::kernels::winograd::weights::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
