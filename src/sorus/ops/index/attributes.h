#pragma once

#include <tuple>

#include "sorus/dispatch/attributes.h"

/// Attributes of the ops of this folder. The only header here that kernels include. Axes are counted from the
/// front.
namespace sorus {

/// How an update meets the element that it falls on. Updates of one element are taken in the order of their
/// indices.
enum class ScatterMode : uint8_t { kUpdate, kAdd, kSub, kMul, kDiv, kMax, kMin };

/// gather, gather_elements.
struct GatherAttrs {
  int64_t axis = 0;
  static constexpr auto fields() { return std::tuple{field("axis", &GatherAttrs::axis)}; }
};

/// gather_backward: the axis, and its extent in what was gathered from.
struct GatherBackwardAttrs {
  int64_t axis = 0;
  int64_t extent = 0;
  static constexpr auto fields() {
    return std::tuple{field("axis", &GatherBackwardAttrs::axis),
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

/// searchsorted: the place after equal elements (right) or before them.
struct SearchSortedAttrs {
  bool right = false;
  static constexpr auto fields() { return std::tuple{field("right", &SearchSortedAttrs::right)}; }
};

}  // namespace sorus
