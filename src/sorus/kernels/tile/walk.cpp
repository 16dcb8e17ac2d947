#include "sorus/kernels/tile/walk.h"

#include <algorithm>
#include <cstring>

namespace sorus::tile {
namespace {

template <class W>
W* copy_run(const W* from, int64_t step, W* to, int64_t n) {
  if (step == 1)
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(W));
  else if (step == 0)
    std::fill_n(to, n, *from);
  else
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * step];
  return to + n;
}

/// Rows of `n` elements that lie `step` apart, where the next row is one element further: read along the
/// other axis, so that each line of memory is read once.
template <class W>
W* copy_transposed(const W* from, int64_t step, W* to, int64_t rows, int64_t n) {
  for (int64_t j = 0; j < n; ++j)
    for (int64_t r = 0; r < rows; ++r) to[r * n + j] = from[j * step + r];
  return to + rows * n;
}

/// Words of the element's size stand for its dtype.
template <class W>
void gather_words(const Walk& w, const std::byte* from, int64_t begin, int64_t count, std::byte* to) {
  const int inner = w.rank - 1;
  int64_t index[kMaxRank];
  int64_t left = begin;
  int64_t at = 0;
  for (int axis = inner; axis >= 0; --axis) {
    index[axis] = left % w.sizes[axis];
    left /= w.sizes[axis];
    at += index[axis] * w.steps[axis];
  }
  const W* source = reinterpret_cast<const W*>(from);
  W* next = reinterpret_cast<W*>(to);
  const bool is_transposed = w.is_scattered() && w.rank > 1 && w.steps[inner - 1] == 1;
  while (count > 0) {
    const int64_t n = std::min(count, w.sizes[inner] - index[inner]);
    if (is_transposed && n == w.sizes[inner]) {
      const int64_t rows = std::min(count / n, w.sizes[inner - 1] - index[inner - 1]);
      next = copy_transposed(source + at, w.steps[inner], next, rows, n);
      // The last of the rows is left behind below.
      count -= (rows - 1) * n;
      index[inner - 1] += rows - 1;
      at += rows - 1;
    } else {
      next = copy_run(source + at, w.steps[inner], next, n);
    }
    count -= n;
    index[inner] += n;
    at += n * w.steps[inner];
    for (int axis = inner; axis > 0 && index[axis] == w.sizes[axis]; --axis) {
      index[axis] = 0;
      ++index[axis - 1];
      at += w.steps[axis - 1] - w.sizes[axis] * w.steps[axis];
    }
  }
}

}  // namespace

Walk::Walk(const Array& array, const Shape& shape, const Ints& order) {
  for (int64_t a : order) {
    const int axis = static_cast<int>(a);
    const int64_t size = shape.size(axis);
    if (size == 1) continue;
    const int own = axis - (shape.rank() - array.rank());
    const int64_t step = own < 0 || array.size(own) == 1 ? 0 : array.strides[own];
    if (rank > 0 && steps[rank - 1] == step * size) {
      sizes[rank - 1] *= size;
      steps[rank - 1] = step;
    } else {
      sizes[rank] = size;
      steps[rank++] = step;
    }
  }
  if (rank > 0) return;
  rank = 1;
  sizes[0] = 1;
  steps[0] = 1;
}

int64_t Walk::offset(int64_t index) const {
  int64_t sum = 0;
  for (int axis = rank; axis-- > 0;) {
    sum += index % sizes[axis] * steps[axis];
    index /= sizes[axis];
  }
  return sum;
}

void Walk::gather(const std::byte* from, int64_t begin, int64_t count, int64_t size, std::byte* to) const {
  switch (size) {
    case 1:
      return gather_words<uint8_t>(*this, from, begin, count, to);
    case 2:
      return gather_words<uint16_t>(*this, from, begin, count, to);
    case 4:
      return gather_words<uint32_t>(*this, from, begin, count, to);
    default:
      return gather_words<uint64_t>(*this, from, begin, count, to);
  }
}

}  // namespace sorus::tile
