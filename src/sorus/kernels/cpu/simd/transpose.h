// Transposition of float32 matrices, compiled once per target. Include it where a file of kernels is compiled
// for all targets (simd/targets.h).

#if defined(SORUS_KERNELS_CPU_SIMD_TRANSPOSE_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_SIMD_TRANSPOSE_H_
#undef SORUS_KERNELS_CPU_SIMD_TRANSPOSE_H_
#else
#define SORUS_KERNELS_CPU_SIMD_TRANSPOSE_H_
#endif

#include <immintrin.h>

#include <cstdint>

#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::kernels::matrix::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// to[j][i] = from[i][j] for 8 x 8 floats.
HWY_INLINE void transpose_8x8(const float* from, int64_t from_row, float* to, int64_t to_row) {
  auto load = [&](int64_t i, int64_t j) HWY_ATTR {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * from_row + j)),
                                _mm_loadu_ps(from + (i + 4) * from_row + j), 1);
  };
#pragma GCC unroll 2
  for (int64_t j = 0; j < 8; j += 4) {
    __m256 a = load(0, j), b = load(1, j), c = load(2, j), e = load(3, j);
    __m256d ab_low = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)),
            ab_high = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
    __m256d ce_low = _mm256_castps_pd(_mm256_unpacklo_ps(c, e)),
            ce_high = _mm256_castps_pd(_mm256_unpackhi_ps(c, e));
    float* t = to + j * to_row;
    _mm256_storeu_ps(t, _mm256_castpd_ps(_mm256_unpacklo_pd(ab_low, ce_low)));
    _mm256_storeu_ps(t + to_row, _mm256_castpd_ps(_mm256_unpackhi_pd(ab_low, ce_low)));
    _mm256_storeu_ps(t + 2 * to_row, _mm256_castpd_ps(_mm256_unpacklo_pd(ab_high, ce_high)));
    _mm256_storeu_ps(t + 3 * to_row, _mm256_castpd_ps(_mm256_unpackhi_pd(ab_high, ce_high)));
  }
}
#endif

#if HWY_TARGET <= HWY_AVX3
/// to[j][i] = from[i][j] for 16 x 16 floats: four columns at a time, put together in lanes as they are read.
/// Not inlined, since the compiler would keep the addresses of all rows for the loops around it, and spill
/// them.
HWY_NOINLINE inline void transpose_16x16(const float* from, int64_t from_row, float* to, int64_t to_row) {
  const int64_t from_three = 3 * from_row, to_three = 3 * to_row;
  const float* low = from + 4 * from_row;  // the middle of either half, from which all rows are in reach
  const float* high = from + 12 * from_row;
  auto load = [&](int64_t at) HWY_ATTR {
    __m512 rows = _mm512_castps128_ps512(_mm_loadu_ps(low - 4 * from_row + at));
    rows = _mm512_insertf32x4(rows, _mm_loadu_ps(low + at), 1);
    rows = _mm512_insertf32x4(rows, _mm_loadu_ps(high - 4 * from_row + at), 2);
    return _mm512_insertf32x4(rows, _mm_loadu_ps(high + at), 3);
  };
#pragma GCC unroll 1
  for (int j = 0; j < 4; ++j, low += 4, high += 4) {
    __m512 a = load(0), b = load(from_row), c = load(2 * from_row), e = load(from_three);
    __m512d ab_low = _mm512_castps_pd(_mm512_unpacklo_ps(a, b)),
            ab_high = _mm512_castps_pd(_mm512_unpackhi_ps(a, b));
    __m512d ce_low = _mm512_castps_pd(_mm512_unpacklo_ps(c, e)),
            ce_high = _mm512_castps_pd(_mm512_unpackhi_ps(c, e));
    _mm512_storeu_ps(to, _mm512_castpd_ps(_mm512_unpacklo_pd(ab_low, ce_low)));
    _mm512_storeu_ps(to + to_row, _mm512_castpd_ps(_mm512_unpackhi_pd(ab_low, ce_low)));
    _mm512_storeu_ps(to + 2 * to_row, _mm512_castpd_ps(_mm512_unpacklo_pd(ab_high, ce_high)));
    _mm512_storeu_ps(to + to_three, _mm512_castpd_ps(_mm512_unpackhi_pd(ab_high, ce_high)));
    to += 4 * to_row;
  }
}
#endif

/// to[j][i] = from[i][j], rows of neighbours on both sides.
inline void transpose(int64_t rows, int64_t columns, const float* from, int64_t from_row, float* to,
                      int64_t to_row) {
  int64_t j = 0;
#if HWY_TARGET <= HWY_AVX3
  constexpr int64_t kAhead = 32;  // floats of a row: the processor itself follows only so many rows
  for (; j + 16 <= columns; j += 16) {
    int64_t i = 0;
    for (; i + 16 <= rows; i += 16) {
      const float* f = from + i * from_row + j;
#pragma GCC unroll 16
      for (int64_t r = 0; r < 16; ++r) hwy::Prefetch(f + r * from_row + kAhead);
      transpose_16x16(f, from_row, to + j * to_row + i, to_row);
    }
    for (; i + 8 <= rows; i += 8) {
      for (int64_t q = j; q < j + 16; q += 8)
        transpose_8x8(from + i * from_row + q, from_row, to + q * to_row + i, to_row);
    }
    for (; i < rows; ++i) {
      for (int64_t q = j; q < j + 16; ++q) to[q * to_row + i] = from[i * from_row + q];
    }
  }
#endif
#if HWY_TARGET != HWY_SCALAR
  for (; j + 8 <= columns; j += 8) {
    int64_t i = 0;
    for (; i + 8 <= rows; i += 8)
      transpose_8x8(from + i * from_row + j, from_row, to + j * to_row + i, to_row);
    for (; i < rows; ++i) {
      for (int64_t q = j; q < j + 8; ++q) to[q * to_row + i] = from[i * from_row + q];
    }
  }
#endif
  for (; j < columns; ++j) {
    for (int64_t i = 0; i < rows; ++i) to[j * to_row + i] = from[i * from_row + j];
  }
}

}  // namespace sorus::kernels::matrix::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
