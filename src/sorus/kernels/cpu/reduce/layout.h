#pragma once

#include "sorus/core/shape.h"
#include "sorus/dispatch/kernel.h"

/// How a reduction looks in memory. Adjacent axes of the same kind are joined.
namespace sorus::cpu {

struct ReduceAxes {
  int rank = 0;
  int64_t sizes[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};  ///< in elements

  void push(int64_t size, int64_t stride);
  /// Offset in elements of a row-major index.
  [[nodiscard]] int64_t offset(int64_t linear) const;
};

struct ReduceLayout {
  ReduceAxes kept;      ///< of the results, in order; without `columns`
  ReduceAxes reduced;   ///< without `run`
  int64_t results = 1;  ///< of `kept` alone
  int64_t columns = 1;  ///< results that lie side by side: the innermost axes are kept
  int64_t run = 1;      ///< elements of one result that lie side by side: the innermost axes are reduced
  int64_t count = 1;    ///< elements that go into one result
};

/// Of a row-major array.
[[nodiscard]] ReduceLayout reduce_layout(const Array& x, const Ints& axes, std::string_view op);
/// Whether all axes from the third on are reduced, and the second is kept: then results lie in the same order
/// whether the array is row-major or channels-last, and so do the elements of each.
[[nodiscard]] bool reduces_pixels(const Array& x, const Ints& axes, std::string_view op);
/// Of a channels-last array whose pixels are reduced.
[[nodiscard]] ReduceLayout pixel_layout(const Array& x, const Ints& axes, std::string_view op);

}  // namespace sorus::cpu
