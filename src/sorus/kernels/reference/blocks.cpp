#include "sorus/kernels/reference/blocks.h"

#include <algorithm>
#include <cstring>

#include "sorus/base/thread_pool.h"

namespace sorus::blocks {
namespace {

/// Elements moved by one piece of a parallel loop.
constexpr int64_t kGrain = 32 * 1024;

template <class T>
void copy_typed(const T* x, const std::vector<int64_t>& bases, const Block& block, T* to) {
  auto count = static_cast<int64_t>(bases.size());
  parallel_ranges(count, std::max<int64_t>(kGrain / block.size, 1), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const T* from = x + bases[static_cast<size_t>(n)];
      T* at = to + n * block.size;
      if (block.size == 1)
        *at = *from;
      else if (block.is_run())
        std::memcpy(at, from, static_cast<size_t>(block.size) * sizeof(T));
      else
        for (int64_t i = 0; i < block.size; ++i) at[i] = from[block.offsets[static_cast<size_t>(i)]];
    }
  });
}

}  // namespace

std::vector<int64_t> axis_offsets(const Array& x, int first, int last) {
  std::vector<int64_t> offsets{0};
  for (int axis = first; axis < last; ++axis) {
    std::vector<int64_t> wider;
    wider.reserve(offsets.size() * static_cast<size_t>(x.size(axis)));
    for (int64_t offset : offsets)
      for (int64_t i = 0; i < x.size(axis); ++i) wider.push_back(offset + i * x.strides[axis]);
    offsets = std::move(wider);
  }
  return offsets;
}

Block::Block(const Array& x, int first) {
  bool run = true;
  for (int axis = x.rank(); axis-- > first;) {
    run = run && (x.size(axis) == 1 || x.strides[axis] == size);
    size *= x.size(axis);
  }
  if (!run && size > 1) offsets = axis_offsets(x, first, x.rank());
}

std::vector<int64_t> read_indices(const Array& indices) {
  std::vector<int64_t> out;
  if (indices.numel() == 0) return out;
  out.resize(static_cast<size_t>(indices.numel()));
  bool dense = is_contiguous(*indices.shape, indices.strides);
  std::vector<int64_t> offsets = dense ? std::vector<int64_t>{} : axis_offsets(indices, 0, indices.rank());
  for (size_t i = 0; i < out.size(); ++i) {
    int64_t at = dense ? static_cast<int64_t>(i) : offsets[i];
    out[i] = indices.dtype == DType::kInt32 ? indices.as<int32_t>()[at] : indices.as<int64_t>()[at];
  }
  return out;
}

std::vector<int64_t> gather_bases(const Array& x, int axis, int batch_dims, const Array& indices) {
  std::vector<int64_t> list = read_indices(indices);
  for (int64_t& index : list) index = from_front(index, x.size(axis)) * x.strides[axis];
  if (axis == 0) return list;
  std::vector<int64_t> batches = axis_offsets(x, 0, batch_dims);
  std::vector<int64_t> outer = axis_offsets(x, batch_dims, axis);
  size_t each = batches.empty() ? 0 : list.size() / batches.size();
  std::vector<int64_t> bases;
  bases.reserve(list.size() * outer.size());
  for (size_t b = 0; b < batches.size(); ++b)
    for (int64_t offset : outer)
      for (size_t i = 0; i < each; ++i) bases.push_back(batches[b] + offset + list[b * each + i]);
  return bases;
}

std::vector<int64_t> element_bases(const Array& x, int axis, const Array& indices) {
  std::vector<int64_t> list = read_indices(indices);
  // Positions on the other axes, which the shape of the indices spans, in x's strides.
  Array grid{nullptr, x.dtype, indices.shape, x.strides};
  grid.strides[axis] = 0;
  std::vector<int64_t> bases = axis_offsets(grid, 0, grid.rank());
  for (size_t i = 0; i < list.size(); ++i) bases[i] += from_front(list[i], x.size(axis)) * x.strides[axis];
  return bases;
}

std::vector<int64_t> nd_bases(const Array& x, const Array& indices, int* inner) {
  int width = static_cast<int>(indices.size(indices.rank() - 1));
  *inner = width;
  int64_t count = 1;
  for (int i = 0; i + 1 < indices.rank(); ++i) count *= indices.size(i);
  std::vector<int64_t> list = read_indices(indices);
  std::vector<int64_t> bases(static_cast<size_t>(count));
  for (size_t n = 0; n < bases.size(); ++n)
    for (int axis = 0; axis < width; ++axis)
      bases[n] += from_front(list[n * static_cast<size_t>(width) + static_cast<size_t>(axis)], x.size(axis)) *
                  x.strides[axis];
  return bases;
}

void copy_blocks(const Array& x, const std::vector<int64_t>& bases, const Block& block, const Array& to) {
  if (bases.empty() || block.size == 0) return;
  switch (dtype_size(to.dtype)) {
    case 1:
      return copy_typed(x.as<uint8_t>(), bases, block, to.as<uint8_t>());
    case 2:
      return copy_typed(x.as<uint16_t>(), bases, block, to.as<uint16_t>());
    case 4:
      return copy_typed(x.as<uint32_t>(), bases, block, to.as<uint32_t>());
    default:
      return copy_typed(x.as<uint64_t>(), bases, block, to.as<uint64_t>());
  }
}

}  // namespace sorus::blocks
