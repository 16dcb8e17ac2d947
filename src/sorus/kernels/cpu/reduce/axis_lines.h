#pragma once

#include <algorithm>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"

/// Row-major arrays as (outer, extent, inner) around an axis, for kernels that walk along it.
namespace sorus::cpu {

struct AxisLines {
  int64_t outer = 1, extent = 1, inner = 1;

  AxisLines(const KernelCall& call, int64_t axis) {
    const Array& x = call.in[0];
    const int at = normalize_axis(call.op.name, axis, x.rank());
    for (int i = 0; i < at; ++i) outer *= x.size(i);
    extent = x.size(at);
    for (int i = at + 1; i < x.rank(); ++i) inner *= x.size(i);
  }

  /// Calls f(first row, end row) for pieces of the rows of an array whose axis is the last, `together` rows
  /// or a multiple of them in each but the last.
  template <class F>
  void for_rows(int64_t together, F f) const {
    constexpr int64_t kGrain = 32768;
    const int64_t wanted = std::max<int64_t>(1, kGrain / std::max<int64_t>(1, extent));
    parallel_ranges(outer, (wanted + together - 1) / together * together, f);
  }

  /// Calls f(offset of the first element, line number of the first, count) for groups of up to kSideBySide
  /// lines that are neighbours in memory, of an array whose axis is not the last.
  static constexpr int64_t kSideBySide = 128;
  template <class F>
  void for_groups(F f) const {
    const int64_t groups = (inner + kSideBySide - 1) / kSideBySide;
    const int64_t grain =
        std::max<int64_t>(1, 32768 / std::max<int64_t>(1, extent * std::min(inner, kSideBySide)));
    parallel_ranges(outer * groups, grain, [&](int64_t begin, int64_t end) {
      for (int64_t g = begin; g < end; ++g) {
        const int64_t o = g / groups, first = g % groups * kSideBySide;
        f(o * extent * inner + first, o * inner + first, std::min(kSideBySide, inner - first));
      }
    });
  }
};

}  // namespace sorus::cpu
