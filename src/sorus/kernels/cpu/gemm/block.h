#pragma once

#include <cstdint>

namespace sorus::kernels::gemm {

/// Rows that the inner loop takes at once.
inline constexpr int64_t kBlockRows = 6;

/// A block of a product for the inner loops: c[i, j] (+)= sum over p of a[i, p] * b[p, j] for `rows` rows and
/// `width` columns, at most a panel's. a lies in rows of neighbours `a_row` apart, or, when a_panel is not 0,
/// in panels of kBlockRows rows, `a_panel` floats apart, in which element (i, p) is at p * kBlockRows + i. b
/// has rows of `b_row` floats, of which a whole panel's width must be readable.
struct Block {
  int64_t rows, k, width;
  const float* a;
  int64_t a_row, a_panel;
  const float* b;
  int64_t b_row;
  float* c;
  int64_t c_row;
  bool first;           // c holds no earlier part of the sums
  bool far_a = false;   // a's rows are in no near cache
  bool stream = false;  // c, aligned to 64 bytes, is written past the caches
};

}  // namespace sorus::kernels::gemm
