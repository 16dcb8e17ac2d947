// The inner loops of tap_conv.cpp, compiled once per target. Included by it alone.

#if defined(SORUS_KERNELS_CPU_CONV_TAP_CONV_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_CONV_TAP_CONV_SIMD_H_
#undef SORUS_KERNELS_CPU_CONV_TAP_CONV_SIMD_H_
#else
#define SORUS_KERNELS_CPU_CONV_TAP_CONV_SIMD_H_
#endif

#include "sorus/kernels/cpu/simd/panel.h"
#include "sorus/kernels/cpu/simd/transpose.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::kernels::tap_conv::HWY_NAMESPACE {

using namespace panel::HWY_NAMESPACE;
constexpr int kRowsAtOnce = 6;

/// c[r][j] += sum over p of a[r][p] * b[p, j] for kRows rows and a panel's columns j.
template <int kRows>
void add_rows(const float* const* a, float* const* c, int64_t k, const float* b) {
  Tag d;
  Vec acc[kRows][kVecs];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVecs; ++v) acc[r][v] = hn::LoadU(d, c[r] + v * kLanes);
  }
  const float* rows[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) rows[r] = a[r];
  for (int64_t p = 0; p < k; ++p, b += kWidth) {
    Vec x[kVecs];
#pragma GCC unroll 16
    for (int v = 0; v < kVecs; ++v) x[v] = hn::LoadU(d, b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      Vec y = hn::Set(d, rows[r][p]);
#pragma GCC unroll 16
      for (int v = 0; v < kVecs; ++v) acc[r][v] = hn::MulAdd(y, x[v], acc[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kVecs; ++v) hn::StoreU(acc[r][v], d, c[r] + v * kLanes);
  }
}

/// The product of one tap for `count` rows.
void add_tap(int64_t count, const float* const* a, float* const* c, int64_t k, const float* b) {
  int64_t i = 0;
  for (; i + kRowsAtOnce <= count; i += kRowsAtOnce) add_rows<kRowsAtOnce>(a + i, c + i, k, b);
  switch (count - i) {
    case 1:
      return add_rows<1>(a + i, c + i, k, b);
    case 2:
      return add_rows<2>(a + i, c + i, k, b);
    case 3:
      return add_rows<3>(a + i, c + i, k, b);
    case 4:
      return add_rows<4>(a + i, c + i, k, b);
    case 5:
      return add_rows<5>(a + i, c + i, k, b);
    default:
      return;
  }
}

/// Bias and activation of a panel's columns of `count` rows.
void finish(int64_t count, float* c, int64_t c_row, const float* bias, bool relu) {
  Tag d;
  for (int64_t i = 0; i < count; ++i, c += c_row) {
    for (int64_t j = 0; j < kWidth; j += kLanes) {
      Vec sum = hn::LoadU(d, c + j);
      if (bias) sum = hn::Add(sum, hn::LoadU(d, bias + j));
      if (relu) sum = hn::IfThenZeroElse(hn::Lt(sum, hn::Zero(d)), sum);
      hn::StoreU(sum, d, c + j);
    }
  }
}

/// A panel of the weights: to[tap][i][j] = from[i * row + j * column + tap] for its first `width` columns j.
void pack(int64_t width, int64_t rows, int64_t taps, const float* from, int64_t row, int64_t column,
          float* to) {
  for (int64_t i = 0; i < rows; ++i)
    matrix::HWY_NAMESPACE::transpose(width, taps, from + i * row, column, to + i * kWidth, rows * kWidth);
}

int64_t panel_width() { return kWidth; }

}  // namespace sorus::kernels::tap_conv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
