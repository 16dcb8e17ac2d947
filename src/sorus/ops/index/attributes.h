#pragma once

#include <tuple>

#include "sorus/dispatch/attributes.h"

/// Attributes of the ops of this folder. The only header here that kernels include. Axes are counted from the
/// front.
namespace sorus {

/// How an update meets the element that it falls on. Updates of one element are taken in the order of their
/// indices.
enum class ScatterMode : uint8_t { kUpdate, kAdd, kSub, kMul, kDiv, kMax, kMin };

/// gather: the axis, and how many leading axes x and the indices share.
struct GatherAttrs {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  static constexpr auto fields() {
    return std::tuple{field("axis", &GatherAttrs::axis), field("batch_dims", &GatherAttrs::batch_dims)};
  }
};

/// gather_elements.
struct GatherElementsAttrs {
  int64_t axis = 0;
  static constexpr auto fields() { return std::tuple{field("axis", &GatherElementsAttrs::axis)}; }
};

/// gather_backward: as GatherAttrs, and the extent of the axis in what was gathered from.
struct GatherBackwardAttrs {
  int64_t axis = 0;
  int64_t batch_dims = 0;
  int64_t extent = 0;
  static constexpr auto fields() {
    return std::tuple{field("axis", &GatherBackwardAttrs::axis),
                      field("batch_dims", &GatherBackwardAttrs::batch_dims),
                      field("extent", &GatherBackwardAttrs::extent)};
  }
};

/// scatter_elements.
struct ScatterElementsAttrs {
  int64_t axis = 0;
  ScatterMode mode = ScatterMode::kUpdate;
  static constexpr auto fields() {
    return std::tuple{field("axis", &ScatterElementsAttrs::axis), field("mode", &ScatterElementsAttrs::mode)};
  }
};

/// scatter_nd.
struct ScatterNdAttrs {
  ScatterMode mode = ScatterMode::kUpdate;
  static constexpr auto fields() { return std::tuple{field("mode", &ScatterNdAttrs::mode)}; }
};

/// nonzero: how many elements are not zero.
struct NonzeroAttrs {
  int64_t count = 0;
  static constexpr auto fields() { return std::tuple{field("count", &NonzeroAttrs::count)}; }
};

/// In which order unique() gives the values it finds: ascending, as they first occur, or as runs of equal
/// neighbours, each run by itself.
enum class UniqueOrder : uint8_t { kSorted, kFirst, kRuns };

/// unique.
struct UniqueAttrs {
  UniqueOrder order = UniqueOrder::kSorted;
  static constexpr auto fields() { return std::tuple{field("order", &UniqueAttrs::order)}; }
};

/// searchsorted: the place after equal elements (right) or before them.
struct SearchSortedAttrs {
  bool right = false;
  static constexpr auto fields() { return std::tuple{field("right", &SearchSortedAttrs::right)}; }
};

}  // namespace sorus
