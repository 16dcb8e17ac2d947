#include "sorus/kernels/cpu/copy/strided_copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "sorus/base/thread_pool.h"
#include "sorus/base/tunable.h"
#include "sorus/core/strided_copy.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sorus {
namespace {

const Tunable piece_bytes({.name = "copy.piece_bytes",
                           .initial = 256 << 10,
                           .least = 32 << 10,
                           .most = 4 << 20,
                           .doc = "bytes of a piece of a copy; smaller ones run on the calling thread"});
/// Edge of a tile of a transposition, in elements. Two tiles of 8-byte elements fill half of a 32 kB cache.
constexpr int64_t kTile = 32;

struct Axis {
  int64_t extent;
  int64_t from;  ///< strides in elements
  int64_t to;
};

/// Axes of a copy, outermost first in the order of the target, alike neighbours merged.
struct Plan {
  Axis axes[kMaxRank];
  int rank = 0;
};

Plan make_plan(const Strides& from, const Strides& to, const Shape& shape) {
  Plan p;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape.size(i) != 1) p.axes[p.rank++] = {shape.size(i), from[i], to[i]};
  std::stable_sort(p.axes, p.axes + p.rank,
                   [](const Axis& a, const Axis& b) { return std::abs(a.to) > std::abs(b.to); });
  int last = 0;
  for (int i = 1; i < p.rank; ++i) {
    Axis& outer = p.axes[last];
    const Axis& inner = p.axes[i];
    if (outer.to == inner.to * inner.extent && outer.from == inner.from * inner.extent)
      outer = {outer.extent * inner.extent, inner.from, inner.to};
    else
      p.axes[++last] = inner;
  }
  if (p.rank > 0) p.rank = last + 1;
  return p;
}

/// Offsets of the index-th combination of the outer axes [0, count).
void outer_offsets(const Plan& p, int count, int64_t index, int64_t* from, int64_t* to) {
  *from = 0;
  *to = 0;
  for (int i = count; i-- > 0;) {
    int64_t at = index % p.axes[i].extent;
    index /= p.axes[i].extent;
    *from += at * p.axes[i].from;
    *to += at * p.axes[i].to;
  }
}

int64_t outer_count(const Plan& p, int count) {
  int64_t n = 1;
  for (int i = 0; i < count; ++i) n *= p.axes[i].extent;
  return n;
}

template <class T>
void copy_row(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t n) {
  if (to_step == 1 && from_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  } else if (to_step == 1 && from_step == 0) {
    std::fill_n(to, n, *from);
  } else if (to_step == 1 && from_step == -1) {
    std::reverse_copy(from - (n - 1), from + 1, to);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

/// Of `count` parts of so many bytes: how many make a piece, such that two threads get as much.
int64_t parts_of_piece(int64_t count, int64_t bytes) {
  const int64_t most = piece_bytes.get();
  const int64_t pieces = std::min(count, (count * bytes + most - 1) / most);
  if (pieces <= 1) return std::max<int64_t>(count, 1);
  const int64_t even = (pieces + 1) / 2 * 2;
  return (count + even - 1) / even;
}

/// Row by row along the innermost axis.
template <class T>
void copy_rows(const Plan& p, const T* from, T* to) {
  const Axis inner = p.rank > 0 ? p.axes[p.rank - 1] : Axis{1, 1, 1};
  int outer = std::max(p.rank - 1, 0);
  int64_t rows = outer_count(p, outer);
  auto bytes = static_cast<int64_t>(sizeof(T)) * inner.extent;
  if (rows == 1) {
    // One long row is cut along itself.
    const int64_t grain = parts_of_piece(inner.extent, static_cast<int64_t>(sizeof(T)));
    parallel_ranges(inner.extent, grain, [&](int64_t begin, int64_t end) {
      copy_row(from + begin * inner.from, inner.from, to + begin * inner.to, inner.to, end - begin);
    });
    return;
  }
  parallel_ranges(rows, parts_of_piece(rows, bytes), [&](int64_t begin, int64_t end) {
    int64_t index[kMaxRank];
    int64_t rest = begin;
    int64_t f;
    int64_t t;
    outer_offsets(p, outer, begin, &f, &t);
    for (int i = outer; i-- > 0;) {
      index[i] = rest % p.axes[i].extent;
      rest /= p.axes[i].extent;
    }
    for (int64_t row = begin; row < end; ++row) {
      copy_row(from + f, inner.from, to + t, inner.to, inner.extent);
      for (int i = outer; i-- > 0;) {
        f += p.axes[i].from;
        t += p.axes[i].to;
        if (++index[i] < p.axes[i].extent) break;
        f -= index[i] * p.axes[i].from;
        t -= index[i] * p.axes[i].to;
        index[i] = 0;
      }
    }
  });
}

#if defined(__SSE2__)
/// to[j][i] = from[i][j] for a block of 4 by 4 elements of 4 bytes; steps are from row to row.
inline void transpose_block(const uint32_t* from, int64_t from_step, uint32_t* to, int64_t to_step) {
  auto row = [&](int64_t i) {
    return _mm_castsi128_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_step)));
  };
  __m128 a = row(0);
  __m128 b = row(1);
  __m128 c = row(2);
  __m128 d = row(3);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  auto put = [&](int64_t i, __m128 v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_step), _mm_castps_si128(v));
  };
  put(0, a);
  put(1, b);
  put(2, c);
  put(3, d);
}

/// The same for 8 by 8 elements of 2 bytes.
inline void transpose_block(const uint16_t* from, int64_t from_step, uint16_t* to, int64_t to_step) {
  __m128i r[8];
  __m128i s[8];
  for (int i = 0; i < 8; ++i) r[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_step));
  for (int i = 0; i < 4; ++i) {
    s[2 * i] = _mm_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
    s[2 * i + 1] = _mm_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
  }
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 2; ++i) {
      r[4 * h + 2 * i] = _mm_unpacklo_epi32(s[4 * h + i], s[4 * h + 2 + i]);
      r[4 * h + 2 * i + 1] = _mm_unpackhi_epi32(s[4 * h + i], s[4 * h + 2 + i]);
    }
  for (int i = 0; i < 4; ++i) {
    auto* at = reinterpret_cast<__m128i*>(to + 2 * i * to_step);
    _mm_storeu_si128(at, _mm_unpacklo_epi64(r[i], r[4 + i]));
    at = reinterpret_cast<__m128i*>(to + (2 * i + 1) * to_step);
    _mm_storeu_si128(at, _mm_unpackhi_epi64(r[i], r[4 + i]));
  }
}

/// Edge of the block that transpose_block moves; 0 when there is none for this size.
template <class T>
constexpr int64_t kBlock = sizeof(T) == 4   ? 4
                           : sizeof(T) == 2 ? 8
                                            : 0;
#else
template <class T>
constexpr int64_t kBlock = 0;
#endif

#if defined(__SSE2__)
/// Three planes of 4-byte elements, as the colours of an image, to elements that stand together; gives the
/// number of columns done. A vector holds one element too many, over which the next one is written.
inline int64_t interleave_three(const uint32_t* from, int64_t from_step, uint32_t* to, int64_t columns) {
  int64_t j = 0;
  for (; j + 4 < columns; j += 4) {
    auto row = [&](int64_t i) {
      return _mm_castsi128_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_step + j)));
    };
    __m128 a = row(0);
    __m128 b = row(1);
    __m128 c = row(2);
    __m128 spare = c;
    _MM_TRANSPOSE4_PS(a, b, c, spare);
    const __m128 all[4] = {a, b, c, spare};
    for (int64_t k = 0; k < 4; ++k)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3 * (j + k)), _mm_castps_si128(all[k]));
  }
  return j;
}
#endif

/// to[j * to_step + i] = from[i * from_step + j] for i < rows, j < columns.
template <class T>
void transpose_tile(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  int64_t full_rows = 0;
  int64_t full_columns = 0;
#if defined(__SSE2__)
  if constexpr (sizeof(T) == 4) {
    if (rows == 3 && to_step == 3) {
      const int64_t done = interleave_three(from, from_step, to, columns);
      from += done, to += 3 * done, columns -= done;
    }
  }
#endif
  if constexpr (kBlock < T >> 0) {
    full_rows = rows / kBlock<T> * kBlock<T>;
    full_columns = columns / kBlock<T> * kBlock<T>;
    for (int64_t j = 0; j < full_columns; j += kBlock<T>)
      for (int64_t i = 0; i < full_rows; i += kBlock<T>)
        transpose_block(from + i * from_step + j, from_step, to + j * to_step + i, to_step);
  }
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = j < full_columns ? full_rows : 0; i < rows; ++i)
      to[j * to_step + i] = from[i * from_step + j];
}

/// Axis `source` runs along the source's memory, the innermost one along the target's: moved tile by tile.
template <class T>
void copy_tiles(Plan p, int source, const T* from, T* to) {
  const Axis columns = p.axes[source];
  const Axis rows = p.axes[p.rank - 1];
  std::copy(p.axes + source + 1, p.axes + p.rank - 1, p.axes + source);
  int outer = p.rank - 2;
  int64_t strips = (columns.extent + kTile - 1) / kTile;
  int64_t work = outer_count(p, outer) * strips;
  auto strip_bytes = static_cast<int64_t>(sizeof(T)) * kTile * rows.extent;
  parallel_ranges(work, parts_of_piece(work, strip_bytes), [&](int64_t begin, int64_t end) {
    for (int64_t w = begin; w < end; ++w) {
      int64_t f;
      int64_t t;
      outer_offsets(p, outer, w / strips, &f, &t);
      int64_t j = w % strips * kTile;
      int64_t width = std::min(kTile, columns.extent - j);
      for (int64_t i = 0; i < rows.extent; i += kTile)
        transpose_tile(from + f + i * rows.from + j, rows.from, to + t + j * columns.to + i, columns.to,
                       std::min(kTile, rows.extent - i), width);
    }
  });
}

template <class T>
void copy_typed(const Plan& p, const std::byte* from, std::byte* to) {
  const T* f = reinterpret_cast<const T*>(from);
  T* t = reinterpret_cast<T*>(to);
  if (p.rank >= 2 && p.axes[p.rank - 1].to == 1 && p.axes[p.rank - 1].from != 1) {
    for (int i = p.rank - 1; i-- > 0;)
      if (p.axes[i].from == 1) return copy_tiles(p, i, f, t);
  }
  copy_rows(p, f, t);
}

void copy_quickly(const std::byte* from, const Strides& from_strides, std::byte* to,
                  const Strides& to_strides, const Shape& shape, size_t element_size) {
  if (shape.numel() == 0) return;
  Plan p = make_plan(from_strides, to_strides, shape);
  switch (element_size) {
    case 1:
      return copy_typed<uint8_t>(p, from, to);
    case 2:
      return copy_typed<uint16_t>(p, from, to);
    case 4:
      return copy_typed<uint32_t>(p, from, to);
    default:
      return copy_typed<uint64_t>(p, from, to);
  }
}

[[maybe_unused]] const bool installed = [] {
  set_strided_copy(copy_quickly);
  return true;
}();

}  // namespace

void copy_array(const Array& from, const Array& to) {
  copy_quickly(from.data, from.strides, to.data, to.strides, *to.shape, dtype_size(to.dtype));
}

}  // namespace sorus
