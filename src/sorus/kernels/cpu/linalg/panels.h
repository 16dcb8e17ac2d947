#pragma once

#include <cstdint>

namespace sorus {

/// Rows of a tile of the product: each is held in two vectors while the sum runs.
inline constexpr int64_t kTileRows = 6;

/// Products of packed panels, for the element types that oneDNN does not multiply. `a` holds row_panels
/// panels of kTileRows rows, `b` column_panels panels of width() columns, each panel as depth vectors (all
/// rows, or columns, of one p); `sums` holds the tiles of the result row-major over the panels, each
/// row-major inside. Adds to them, or sets them when `first`. Each sum runs over p in order, with fused
/// multiply-adds where the CPU has them; integers wrap. Any thread.
template <class T>
struct Panels {
  /// Columns of a panel of b on this CPU.
  static int64_t width();
  static void multiply(const T* a, const T* b, T* sums, int64_t depth, int64_t row_panels,
                       int64_t column_panels, bool first);
};
/// T is double, uint32_t or uint64_t.

}  // namespace sorus
