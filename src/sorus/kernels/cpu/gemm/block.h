#pragma once

#include <cstdint>

namespace sorus::kernels::gemm {

/// Rows that the inner loop takes at once.
inline constexpr int64_t kBlockRows = 6;

/// Memory that is read next, asked for line by line while the inner loops compute: arithmetic leaves the way
/// to memory free, copying what no near cache holds has to wait for it.
struct Ahead {
  static constexpr int64_t kLine = 16;    // floats
  static constexpr int64_t kColumns = 8;  // of a, after which `rate` lines are asked for
  struct Rows {
    const float* at = nullptr;
    int64_t rows = 0, length = 0, step = 0;  // rows of `length` floats, `step` floats apart
  };
  Rows parts[2];
  int64_t rate = 0;

  [[nodiscard]] int64_t lines() const {
    int64_t sum = 0;
    for (const Rows& part : parts) sum += part.rows * ((part.length + kLine - 1) / kLine);
    return sum;
  }
  /// Null when all has been asked for.
  const float* next() {
    while (parts[part_].rows == 0) {
      if (part_ == 1) return nullptr;
      ++part_;
    }
    Rows& rows = parts[part_];
    const float* line = rows.at + column_;
    column_ += kLine;
    if (column_ >= rows.length) column_ = 0, rows.at += rows.step, --rows.rows;
    return line;
  }

 private:
  int part_ = 0;
  int64_t column_ = 0;
};

/// A block of a product for the inner loops: c[i, j] (+)= sum over p of a[i, p] * b[p, j] for `rows` rows and
/// `width` columns, at most a panel's. a lies in rows of neighbours `a_row` apart, or, when a_panel is not 0,
/// in panels of kBlockRows rows, `a_panel` floats apart, in which element (i, p) is at p * a_column + i. b
/// has rows of `b_row` floats, of which a whole panel's width must be readable.
struct Block {
  int64_t rows, k, width;
  const float* a;
  int64_t a_row, a_panel, a_column;
  const float* b;
  int64_t b_row;
  float* c;
  int64_t c_row;
  bool first;          // c holds no earlier part of the sums
  bool far_a = false;  // a's rows are in no near cache
  Ahead* ahead = nullptr;
  bool stream = false;  // c, aligned to 64 bytes, is written past the caches
};

/// Columns of a panel of b on this processor.
[[nodiscard]] int64_t panel();
void multiply_block(const Block& block);

}  // namespace sorus::kernels::gemm
