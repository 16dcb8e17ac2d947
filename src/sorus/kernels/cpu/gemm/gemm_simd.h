// The inner loops of gemm.cpp, compiled once per target. Included by it alone.

#if defined(SORUS_KERNELS_CPU_GEMM_GEMM_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SORUS_KERNELS_CPU_GEMM_GEMM_SIMD_H_
#undef SORUS_KERNELS_CPU_GEMM_GEMM_SIMD_H_
#else
#define SORUS_KERNELS_CPU_GEMM_GEMM_SIMD_H_
#endif

#include <immintrin.h>

#include <cmath>
#include <cstring>

#include "sorus/kernels/cpu/simd/panel.h"
#include "sorus/kernels/cpu/simd/transpose.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::kernels::gemm::HWY_NAMESPACE {

using namespace panel::HWY_NAMESPACE;
constexpr int64_t kMostOfMany = kLanes * (kLanes >= 16 ? 2 : 1);  // columns of a block of 8 rows

enum class Ask : uint8_t { kNothing, kRowsOfA, kAhead };

/// Sums of kRows rows and kCount vectors of columns, of which `width` columns count when kTail. Each sum runs
/// over k from its first element to its last, from what c holds unless the block is the first of its sums.
/// With kAsk memory that is needed later is asked for meanwhile.
template <int kRows, int kCount, bool kTail, bool kPackedA, Ask kAsk = Ask::kNothing>
void multiply_rows(const Block& block, const float* a, float* c) {
  Tag d;
  Vec acc[kRows][kCount];
  auto mask = [&](int v) HWY_ATTR {
    return hn::FirstN(d, static_cast<size_t>(std::clamp<int64_t>(block.width - v * kLanes, 0, kLanes)));
  };
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kCount; ++v) {
      const float* from = c + r * block.c_row + v * kLanes;
      // The rows that come next, wherever they are: a prefetch of no memory of ours does no harm. Rows that
      // are only written need none.
      if constexpr (!kTail) {
        if (!block.first) hwy::Prefetch(from + kRows * block.c_row);
      }
      if (block.first) {
        acc[r][v] = hn::Zero(d);
      } else if constexpr (kTail) {
        acc[r][v] = hn::MaskedLoad(mask(v), d, from);
      } else {
        acc[r][v] = hn::LoadU(d, from);
      }
    }
  }
  const float* rows[kRows];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) rows[r] = a + r * block.a_row;
  const float* b = block.b;
  [[maybe_unused]] const float* column = a;
  auto add_column = [&](int64_t p) HWY_ATTR {
    Vec x[kCount];
#pragma GCC unroll 16
    for (int v = 0; v < kCount; ++v) x[v] = hn::LoadU(d, b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      Vec y = hn::Set(d, kPackedA ? column[r] : rows[r][p]);
#pragma GCC unroll 16
      for (int v = 0; v < kCount; ++v) acc[r][v] = hn::MulAdd(y, x[v], acc[r][v]);
    }
    b += block.b_row;
    if constexpr (kPackedA) column += block.a_column;
  };
  int64_t p = 0;
  if constexpr (kAsk == Ask::kAhead) {
    Ahead& ahead = *block.ahead;
    for (; p + Ahead::kColumns <= block.k; p += Ahead::kColumns) {
      for (int64_t i = 0; i < ahead.rate; ++i) {
        if (const float* line = ahead.next()) _mm_prefetch(reinterpret_cast<const char*>(line), _MM_HINT_T1);
      }
#pragma GCC unroll 8
      for (int64_t q = 0; q < Ahead::kColumns; ++q) add_column(p + q);
    }
  }
  if constexpr (kAsk == Ask::kRowsOfA) {
    constexpr int64_t kLine = 16;
    for (; p + kLine <= block.k; p += kLine) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) hwy::Prefetch(rows[r] + kRows * block.a_row + p);
#pragma GCC unroll 1
      for (int64_t q = p; q < p + kLine; ++q) add_column(q);
    }
  }
  for (; p < block.k; ++p) add_column(p);
  if constexpr (!kTail) {
    if (block.stream) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
        for (int v = 0; v < kCount; ++v) hn::Stream(acc[r][v], d, c + r * block.c_row + v * kLanes);
      }
      return;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < kCount; ++v) {
      float* to = c + r * block.c_row + v * kLanes;
      if constexpr (kTail) {
        hn::BlendedStore(acc[r][v], mask(v), d, to);
      } else {
        hn::StoreU(acc[r][v], d, to);
      }
    }
  }
}

template <int kRows, bool kPackedA>
void multiply_width(const Block& block, const float* a, float* c) {
  if constexpr (kRows == kBlockRows && !kPackedA) {
    if (block.far_a && block.width == kWidth)
      return multiply_rows<kRows, kVecs, false, kPackedA, Ask::kRowsOfA>(block, a, c);
  }
  if constexpr (kRows == kBlockRows) {
    if (block.ahead && block.width == kWidth)
      return multiply_rows<kRows, kVecs, false, kPackedA, Ask::kAhead>(block, a, c);
  }
  if (block.width == kWidth) return multiply_rows<kRows, kVecs, false, kPackedA>(block, a, c);
  if (block.width <= kLanes) return multiply_rows<kRows, 1, true, kPackedA>(block, a, c);
  if (kVecs == 2 || block.width > 2 * kLanes) {
    return multiply_rows<kRows, kVecs, true, kPackedA>(block, a, c);
  }
  multiply_rows<kRows, 2, true, kPackedA>(block, a, c);
}

/// to[j * kLanes + i] = from[i * row + j] for a square of kLanes.
inline void transpose_square(const float* from, int64_t row, float* to) {
#if HWY_TARGET <= HWY_AVX3
  matrix::HWY_NAMESPACE::transpose_16x16(from, row, to, kLanes);
#else
  matrix::HWY_NAMESPACE::transpose(kLanes, kLanes, from, row, to, kLanes);
#endif
}

template <bool kPackedA>
void multiply_block_as(const Block& block) {
  int64_t i = 0;
  const float* a = block.a;
  int64_t step = kPackedA ? block.a_panel : kBlockRows * block.a_row;
  if constexpr (!kPackedA) {
    // Narrow blocks have registers left for more rows.
    constexpr int64_t kMany = 8;
    for (; i + kMany <= block.rows && block.width <= kMostOfMany; i += kMany, a += kMany * block.a_row) {
      block.width <= kLanes
          ? multiply_rows<kMany, 1, true, false>(block, a, block.c + i * block.c_row)
          : multiply_rows<kMany, kMostOfMany / kLanes, true, false>(block, a, block.c + i * block.c_row);
    }
  }
  for (; i + kBlockRows <= block.rows; i += kBlockRows, a += step)
    multiply_width<kBlockRows, kPackedA>(block, a, block.c + i * block.c_row);
  float* c = block.c + i * block.c_row;
  switch (block.rows - i) {
    case 1:
      return multiply_width<1, kPackedA>(block, a, c);
    case 2:
      return multiply_width<2, kPackedA>(block, a, c);
    case 3:
      return multiply_width<3, kPackedA>(block, a, c);
    case 4:
      return multiply_width<4, kPackedA>(block, a, c);
    case 5:
      return multiply_width<5, kPackedA>(block, a, c);
    default:
      return;
  }
}

void multiply_block(const Block& block) {
  block.a_panel != 0 ? multiply_block_as<true>(block) : multiply_block_as<false>(block);
}

/// Sums of kBlocks * kLanes rows of a times x. Squares of a are turned round in the nearest cache, so that
/// each row has a lane of its own, in which its sum runs over k in order.
template <int kBlocks>
void multiply_vector_rows(int64_t k, const float* a, int64_t a_row, const float* x, bool first, float* c,
                          int64_t c_row) {
  constexpr int64_t kAhead = 64;  // floats of a row: the processor itself follows only so many rows
  Tag d;
  HWY_ALIGN float square[kLanes * kLanes];
  Vec acc[kBlocks];
  for (int b = 0; b < kBlocks; ++b) {
    for (int64_t r = 0; r < kLanes; ++r) square[r] = first ? 0.F : c[(b * kLanes + r) * c_row];
    acc[b] = hn::Load(d, square);
  }
  int64_t p = 0;
  for (; p + kLanes <= k; p += kLanes) {
#pragma GCC unroll 2
    for (int b = 0; b < kBlocks; ++b) {
      const float* from = a + b * kLanes * a_row + p;
      for (int64_t r = 0; r < kLanes; ++r) hwy::Prefetch(from + r * a_row + kAhead);
      transpose_square(from, a_row, square);
      for (int64_t q = 0; q < kLanes; ++q)
        acc[b] = hn::MulAdd(hn::Set(d, x[p + q]), hn::Load(d, square + q * kLanes), acc[b]);
    }
  }
  for (; p < k; ++p) {
    for (int b = 0; b < kBlocks; ++b) {
      for (int64_t r = 0; r < kLanes; ++r) square[r] = a[(b * kLanes + r) * a_row + p];
      acc[b] = hn::MulAdd(hn::Set(d, x[p]), hn::Load(d, square), acc[b]);
    }
  }
  for (int b = 0; b < kBlocks; ++b) {
    hn::Store(acc[b], d, square);
    for (int64_t r = 0; r < kLanes; ++r) c[(b * kLanes + r) * c_row] = square[r];
  }
}

/// c[i * c_row] = sum over p of a[i * a_row + p] * x[p], from what c holds unless it is `first`.
void multiply_vector(int64_t rows, int64_t k, const float* a, int64_t a_row, const float* x, bool first,
                     float* c, int64_t c_row) {
  int64_t i = 0;
  for (; i + 2 * kLanes <= rows; i += 2 * kLanes)
    multiply_vector_rows<2>(k, a + i * a_row, a_row, x, first, c + i * c_row, c_row);
  for (; i + kLanes <= rows; i += kLanes)
    multiply_vector_rows<1>(k, a + i * a_row, a_row, x, first, c + i * c_row, c_row);
  for (; i < rows; ++i) {
    float sum = first ? 0.F : c[i * c_row];
    for (int64_t p = 0; p < k; ++p) sum = std::fma(a[i * a_row + p], x[p], sum);
    c[i * c_row] = sum;
  }
}

int64_t panel_width() { return kWidth; }

using matrix::HWY_NAMESPACE::transpose;

/// Floats that multiply_block reads of each row of a panel.
int64_t row_width(int64_t width) {
  return width <= kLanes ? kLanes : width <= 2 * kLanes ? std::min(2 * kLanes, kWidth) : kWidth;
}

/// Rows [0, k) of one panel's `width` columns into rows `to_row` floats apart, with zeros behind the columns
/// up to there.
void pack_b(int64_t k, int64_t width, const float* from, int64_t row, int64_t column, float* to,
            int64_t to_row) {
  Tag d;
  if (column == 1) {
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t j = 0; j < to_row; j += kLanes) {
        auto mask = hn::FirstN(d, static_cast<size_t>(std::clamp<int64_t>(width - j, 0, kLanes)));
        hn::StoreU(hn::MaskedLoad(mask, d, from + p * row + j), d, to + p * to_row + j);
      }
    }
    return;
  }
  for (int64_t p = 0; p < k && width < to_row; ++p) {
    for (int64_t j = width / kLanes * kLanes; j < to_row; j += kLanes)
      hn::StoreU(hn::Zero(d), d, to + p * to_row + j);
  }
  if (row == 1) return transpose(width, k, from, column, to, to_row);
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t j = 0; j < width; ++j) to[p * to_row + j] = from[p * row + j * column];
  }
}

/// Rows of k x `width` neighbours into whole panels `to_panel` floats apart: row by row, which is how memory
/// is read fastest, but no more panels at once than the processor keeps addresses of pages to write to.
void pack_b_rows(int64_t k, int64_t width, const float* from, int64_t row, float* to, int64_t to_panel) {
  Tag d;
  constexpr int64_t kGroup = 8 * kWidth;
  constexpr int64_t kAhead = 512;  // floats, as much as the processor fetches at once
  for (int64_t begin = 0; begin < width; begin += kGroup) {
    int64_t columns = std::min(kGroup, width - begin) / kWidth * kWidth;
    const int64_t ahead = std::max<int64_t>(1, kAhead / std::max(columns, kWidth)) * row;
    for (int64_t p = 0; p < k; ++p) {
      const float* f = from + p * row + begin;
      float* t = to + begin / kWidth * to_panel + p * kWidth;
      for (int64_t j = 0; j < columns; j += kWidth, t += to_panel) {
        for (int64_t v = 0; v < kWidth; v += kLanes) {
          hwy::Prefetch(f + ahead + j + v);
          hn::StoreU(hn::LoadU(d, f + j + v), d, t + v);
        }
      }
    }
  }
  int64_t whole = width / kWidth * kWidth;
  if (whole < width) pack_b(k, width - whole, from + whole, row, 1, to + whole / kWidth * to_panel, kWidth);
}

/// Panels of kBlockRows rows, `panel` floats apart, in each the elements of one column side by side. The last
/// panel may be only partly filled.
void pack_a(int64_t rows, int64_t k, const float* from, int64_t row, int64_t column, float* to,
            int64_t panel) {
  constexpr int64_t kGroup = 8;  // panels written side by side: three cache lines of each row
  constexpr int64_t kLine = 16;
  constexpr int64_t kAhead = 8;
  constexpr hn::CappedTag<float, 8> w;
  constexpr auto kWide = static_cast<int64_t>(hn::MaxLanes(w));
  int64_t whole = row == 1 ? rows / kBlockRows : 0;
  for (int64_t i = 0; i < whole; i += kGroup) {
    int64_t count = std::min(kGroup, whole - i);
    for (int64_t p = 0; p < k; ++p) {
      const float* f = from + p * column + i * kBlockRows;
      float* t = to + i * panel + p * kBlockRows;
      for (int64_t at = 0; at < count * kBlockRows; at += kLine) hwy::Prefetch(f + kAhead * column + at);
      int64_t g = 0;
      if constexpr (kWide > kBlockRows) {
        // What is written too much is written again for the next column.
        const int64_t wide =
            p + 1 < k ? std::min(count, (rows - i * kBlockRows - (kWide - kBlockRows)) / kBlockRows) : 0;
        for (; g < wide; ++g, f += kBlockRows, t += panel) hn::StoreU(hn::LoadU(w, f), w, t);
      }
      for (; g < count; ++g, f += kBlockRows, t += panel) std::memcpy(t, f, kBlockRows * sizeof(float));
    }
  }
  for (int64_t i = whole * kBlockRows; i < rows; i += kBlockRows) {
    int64_t count = std::min(kBlockRows, rows - i);
    float* t = to + i / kBlockRows * panel;
    for (int64_t p = 0; p < k; ++p) {
      for (int64_t r = 0; r < count; ++r) t[p * kBlockRows + r] = from[(i + r) * row + p * column];
    }
  }
}

/// to[j] = activation(sum over parts of from[part * step + j] + bias[j]), the parts in order.
void finish_row(int64_t n, int64_t parts, const float* from, int64_t step, const float* bias, bool relu,
                float* to) {
  Tag d;
  int64_t j = 0;
  for (; j + kLanes <= n; j += kLanes) {
    Vec sum = hn::LoadU(d, from + j);
    for (int64_t part = 1; part < parts; ++part) sum = hn::Add(sum, hn::LoadU(d, from + part * step + j));
    if (bias) sum = hn::Add(sum, hn::LoadU(d, bias + j));
    if (relu) sum = hn::IfThenZeroElse(hn::Lt(sum, hn::Zero(d)), sum);
    hn::StoreU(sum, d, to + j);
  }
  for (; j < n; ++j) {
    float sum = from[j];
    for (int64_t part = 1; part < parts; ++part) sum += from[part * step + j];
    if (bias) sum += bias[j];
    if (relu && sum < 0) sum = 0;
    to[j] = sum;
  }
}

}  // namespace sorus::kernels::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
