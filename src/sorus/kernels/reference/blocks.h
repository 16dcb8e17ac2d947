#pragma once

#include <vector>

#include "sorus/dispatch/kernel.h"

/// What the kernels of gathers and scatters share: index tensors become a list of the places in memory where
/// equally shaped blocks begin. The ops have checked that indices are in range.
namespace sorus::blocks {

/// An index counted from the front.
[[nodiscard]] inline int64_t from_front(int64_t index, int64_t extent) {
  return index < 0 ? index + extent : index;
}

/// The elements of an int32 or int64 array, row-major.
[[nodiscard]] std::vector<int64_t> read_indices(const Array& indices);

/// The offsets in elements of every index of the axes [first, last) of an array, row-major.
[[nodiscard]] std::vector<int64_t> axis_offsets(const Array& x, int first, int last);

/// A block: the axes of an array from `first` on, and where its elements lie relative to the first one.
struct Block {
  int64_t size = 1;
  std::vector<int64_t> offsets;  ///< row-major; empty when the elements are one run of memory

  Block() = default;
  Block(const Array& x, int first);
  [[nodiscard]] bool is_run() const { return offsets.empty(); }
};

/// Where the blocks of gather and gather_backward begin in `x` (the operand, or the sum): for every index of
/// the axes before `axis`, one for each of `indices`; the first batch_dims axes of both run together.
[[nodiscard]] std::vector<int64_t> gather_bases(const Array& x, int axis, int batch_dims,
                                                const Array& indices);
/// The same for the elements of gather_elements and scatter_elements.
[[nodiscard]] std::vector<int64_t> element_bases(const Array& x, int axis, const Array& indices);
/// The same for the blocks of gather_nd and tensor_scatter; `inner` receives the first axis of a block.
[[nodiscard]] std::vector<int64_t> nd_bases(const Array& x, const Array& indices, int* inner);

/// to[n, :] = the block of x that begins at bases[n].
void copy_blocks(const Array& x, const std::vector<int64_t>& bases, const Block& block, const Array& to);

}  // namespace sorus::blocks
