#include "sorus/kernels/cpu/onednn/detail/pack.h"

#include <emmintrin.h>

#include <algorithm>
#include <cstring>

// SSE2 is part of every x86-64, so nothing here is chosen at run time; these copies are bound by memory.
namespace sorus::kernels::onednn::detail {
namespace {

/// to[j][i] = from[i][j] for 4 x 4 words of 32 bits.
inline void transpose_4x4(const uint32_t* from, int64_t from_stride, uint32_t* to, int64_t to_stride) {
  auto load = [&](int64_t i) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_stride));
  };
  auto store = [&](int64_t i, __m128i v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_stride), v);
  };
  __m128i a = load(0), b = load(1), c = load(2), d = load(3);
  __m128i ab_low = _mm_unpacklo_epi32(a, b), ab_high = _mm_unpackhi_epi32(a, b);
  __m128i cd_low = _mm_unpacklo_epi32(c, d), cd_high = _mm_unpackhi_epi32(c, d);
  store(0, _mm_unpacklo_epi64(ab_low, cd_low));
  store(1, _mm_unpackhi_epi64(ab_low, cd_low));
  store(2, _mm_unpacklo_epi64(ab_high, cd_high));
  store(3, _mm_unpackhi_epi64(ab_high, cd_high));
}

/// to[j][i] = from[i][j] for 8 x 8 halves of 16 bits.
inline void transpose_8x8(const uint16_t* from, int64_t from_stride, uint16_t* to, int64_t to_stride) {
  __m128i a[8], b[8];
  for (int i = 0; i < 8; ++i)
    a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_stride));
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = _mm_unpacklo_epi16(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    a[4 * i] = _mm_unpacklo_epi32(b[4 * i], b[4 * i + 2]);
    a[4 * i + 1] = _mm_unpackhi_epi32(b[4 * i], b[4 * i + 2]);
    a[4 * i + 2] = _mm_unpacklo_epi32(b[4 * i + 1], b[4 * i + 3]);
    a[4 * i + 3] = _mm_unpackhi_epi32(b[4 * i + 1], b[4 * i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + (2 * i) * to_stride),
                     _mm_unpacklo_epi64(a[i], a[i + 4]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + (2 * i + 1) * to_stride),
                     _mm_unpackhi_epi64(a[i], a[i + 4]));
  }
}

/// to[j][i] = from[i][j], in tiles so that both sides stay in the first-level cache.
template <class T>
void transpose(int64_t rows, int64_t cols, const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  constexpr int64_t kBlock = 16 / sizeof(T);
  constexpr int64_t kTile = 64;
  for (int64_t i0 = 0; i0 < rows; i0 += kTile) {
    int64_t i_end = std::min(rows, i0 + kTile);
    for (int64_t j = 0; j < cols; j += kBlock) {
      int64_t i = i0;
      if (j + kBlock <= cols) {
        for (; i + kBlock <= i_end; i += kBlock) {
          const T* source = from + i * from_stride + j;
          T* target = to + j * to_stride + i;
          if constexpr (sizeof(T) == 4) {
            transpose_4x4(source, from_stride, target, to_stride);
          } else {
            transpose_8x8(source, from_stride, target, to_stride);
          }
        }
      }
      for (; i < i_end; ++i) {
        for (int64_t jj = j; jj < std::min(cols, j + kBlock); ++jj)
          to[jj * to_stride + i] = from[i * from_stride + jj];
      }
    }
  }
}

template <class T>
void copy(int64_t rows, int64_t cols, MatrixView from, T* to, int64_t to_stride) {
  const T* data = static_cast<const T*>(from.data);
  if (from.col_stride == 1) {
    for (int64_t i = 0; i < rows; ++i) {
      std::memcpy(to + i * to_stride, data + i * from.row_stride, static_cast<size_t>(cols) * sizeof(T));
    }
  } else if (from.row_stride == 1) {
    transpose(cols, rows, data, from.col_stride, to, to_stride);
  } else {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j)
        to[i * to_stride + j] = data[i * from.row_stride + j * from.col_stride];
    }
  }
}

int64_t round_up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

/// One panel of single rows: k x width, each row `panel` elements long.
void pack_float_panel(int64_t k, int64_t width, MatrixView from, int64_t panel, uint32_t* to) {
  copy(k, width, from, to, panel);
  if (width < panel) {
    for (int64_t i = 0; i < k; ++i) std::fill(to + i * panel + width, to + (i + 1) * panel, 0U);
  }
  std::fill(to + k * panel, to + round_up(k, 16) * panel, 0U);
}

/// Two neighbouring rows into one row of pairs.
void interleave_rows(const uint16_t* first, const uint16_t* second, int64_t width, uint16_t* to) {
  int64_t j = 0;
  for (; j + 8 <= width; j += 8) {
    __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(first + j));
    __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(second + j));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * j), _mm_unpacklo_epi16(a, b));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * j + 8), _mm_unpackhi_epi16(a, b));
  }
  for (; j < width; ++j) {
    to[2 * j] = first[j];
    to[2 * j + 1] = second[j];
  }
}

void pack_half_panel(int64_t k, int64_t width, MatrixView from, int64_t panel, uint16_t* to) {
  const uint16_t* data = static_cast<const uint16_t*>(from.data);
  int64_t pairs = k / 2;
  uint32_t* to_pairs = reinterpret_cast<uint32_t*>(to);
  if (from.col_stride == 1) {
    for (int64_t i = 0; i < pairs; ++i) {
      const uint16_t* row = data + 2 * i * from.row_stride;
      interleave_rows(row, row + from.row_stride, width, to + 2 * i * panel);
    }
  } else if (from.row_stride == 1 && from.col_stride % 2 == 0 && reinterpret_cast<uintptr_t>(data) % 4 == 0) {
    // A column's pairs lie next to each other: a transposition of 32-bit words.
    transpose(width, pairs, reinterpret_cast<const uint32_t*>(data), from.col_stride / 2, to_pairs, panel);
  } else {
    for (int64_t j = 0; j < width; ++j) {
      for (int64_t i = 0; i < 2 * pairs; ++i) {
        to[(i / 2 * panel + j) * 2 + i % 2] = data[i * from.row_stride + j * from.col_stride];
      }
    }
  }
  if (k % 2 != 0) {
    for (int64_t j = 0; j < width; ++j) {
      to[(pairs * panel + j) * 2] = data[(k - 1) * from.row_stride + j * from.col_stride];
      to[(pairs * panel + j) * 2 + 1] = 0;
    }
  }
  int64_t used = (k + 1) / 2;
  if (width < panel) {
    for (int64_t i = 0; i < used; ++i)
      std::fill(to_pairs + i * panel + width, to_pairs + (i + 1) * panel, 0U);
  }
  std::fill(to_pairs + used * panel, to_pairs + round_up(k, 32) / 2 * panel, 0U);
}

}  // namespace

void copy_matrix(ElementType type, int64_t rows, int64_t cols, MatrixView from, void* to,
                 int64_t to_row_stride) {
  if (type == ElementType::kFloat32) {
    copy(rows, cols, from, static_cast<uint32_t*>(to), to_row_stride);
  } else {
    copy(rows, cols, from, static_cast<uint16_t*>(to), to_row_stride);
  }
}

void pack_panels(ElementType type, int64_t k, int64_t n, MatrixView from, int64_t panel, void* to) {
  size_t size = element_size(type);
  int64_t rows = round_up(k, type == ElementType::kFloat32 ? 16 : 32);
  for (int64_t j = 0; j < n; j += panel) {
    int64_t width = std::min(panel, n - j);
    MatrixView part{static_cast<const char*>(from.data) + j * from.col_stride * static_cast<int64_t>(size),
                    from.row_stride, from.col_stride};
    char* target = static_cast<char*>(to) + j * rows * static_cast<int64_t>(size);
    if (type == ElementType::kFloat32) {
      pack_float_panel(k, width, part, panel, reinterpret_cast<uint32_t*>(target));
    } else {
      pack_half_panel(k, width, part, panel, reinterpret_cast<uint16_t*>(target));
    }
  }
}

int64_t packed_elements(ElementType type, int64_t k, int64_t n, int64_t panel) {
  return round_up(k, type == ElementType::kFloat32 ? 16 : 32) * round_up(n, panel);
}

}  // namespace sorus::kernels::onednn::detail
