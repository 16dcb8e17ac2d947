#pragma once

#include <cstdint>

#include "sorus/core/shape.h"
#include "sorus/dispatch/kernel.h"

/// How one operand of a region lies under the numbering of the region's elements.
namespace sorus::tile {

/// Axes from the outermost to the innermost of the numbering, adjacent ones joined. An axis along which the
/// operand is broadcast has step 0.
struct Walk {
  int rank = 0;
  int64_t sizes[kMaxRank] = {};
  int64_t steps[kMaxRank] = {};  ///< in elements

  /// The walk of `array`, broadcast to `shape`, whose elements are numbered along `order`.
  Walk(const Array& array, const Shape& shape, const Ints& order);

  /// Elements [begin, begin + count) of the numbering, copied side by side. `size` is that of an element.
  void gather(const std::byte* from, int64_t begin, int64_t count, int64_t size, std::byte* to) const;
  /// Offset of element `index` in elements.
  [[nodiscard]] int64_t offset(int64_t index) const;

  /// Every element of the numbering is the next one in memory.
  [[nodiscard]] bool is_direct() const { return rank == 1 && (steps[0] == 1 || sizes[0] == 1); }
  [[nodiscard]] bool is_one_value() const { return rank == 1 && steps[0] == 0; }
  /// Elements after which the same ones come again, where those lie side by side; 0 otherwise.
  [[nodiscard]] int64_t period() const { return rank == 2 && steps[0] == 0 && steps[1] == 1 ? sizes[1] : 0; }
  /// Elements that lie side by side; 1 where none do.
  [[nodiscard]] int64_t run() const { return steps[rank - 1] == 1 ? sizes[rank - 1] : 1; }
  /// Single elements have to be picked from memory one by one.
  [[nodiscard]] bool is_scattered() const { return steps[rank - 1] != 1 && steps[rank - 1] != 0; }
};

}  // namespace sorus::tile
