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
  while (count > 0) {
    const int64_t n = std::min(count, w.sizes[inner] - index[inner]);
    next = copy_run(source + at, w.steps[inner], next, n);
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
