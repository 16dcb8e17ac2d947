#pragma once

#include <algorithm>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/reference/element.h"

/// Kernels that walk along one axis of row-major arrays.
namespace sorus::reference {

/// The array as (outer, extent, inner) around the axis.
struct AxisView {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
  AxisView(std::string_view op, const Array& x, int64_t axis) {
    const int at = normalize_axis(op, axis, x.rank());
    for (int i = 0; i < at; ++i) outer *= x.size(i);
    extent = x.size(at);
    for (int i = at + 1; i < x.rank(); ++i) inner *= x.size(i);
  }
  /// Calls body(begin, end) for ranges of [0, outer), cut by the shape alone.
  template <class Body>
  void for_outer(Body body) const {
    constexpr int64_t kGrain = 32768;
    parallel_ranges(outer, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, extent * inner)), body);
  }
  /// The same for each of the outer * inner lines: body(offset of the first element).
  template <class Body>
  void for_lines(Body body) const {
    constexpr int64_t kGrain = 8192;
    parallel_ranges(outer * inner, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, extent)),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) body(i / inner * extent * inner + i % inner, i);
                    });
  }
};

/// One element of an array of T.
template <class T>
auto load_at(const Array& a, int64_t i) {
  return load_element<T>(a.data + i * static_cast<int64_t>(sizeof(T)));
}

}  // namespace sorus::reference
