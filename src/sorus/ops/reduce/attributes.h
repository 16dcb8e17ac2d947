#pragma once

#include "sorus/dispatch/attributes.h"

/// Attributes of reductions, scans and sorts.
namespace sorus {

/// Axes to reduce, each within [-rank, rank), none twice; empty means all. With keepdims they stay, with
/// extent 1.
struct ReduceAttrs {
  Ints axes;
  bool keepdims = false;
  static constexpr auto fields() {
    return std::tuple{field("axes", &ReduceAttrs::axes), field("keepdims", &ReduceAttrs::keepdims)};
  }
};

/// argmax, argmin: the axis along which to look.
struct ArgAttrs {
  int64_t axis = -1;
  bool keepdims = false;
  static constexpr auto fields() {
    return std::tuple{field("axis", &ArgAttrs::axis), field("keepdims", &ArgAttrs::keepdims)};
  }
};

/// cumsum, cumprod: from the end with `reverse`; without the element itself with `exclusive`.
struct ScanAttrs {
  int64_t axis = -1;
  bool exclusive = false;
  bool reverse = false;
  static constexpr auto fields() {
    return std::tuple{field("axis", &ScanAttrs::axis), field("exclusive", &ScanAttrs::exclusive),
                      field("reverse", &ScanAttrs::reverse)};
  }
};

/// cummax, cummin.
struct CumulativeAttrs {
  int64_t axis = -1;
  static constexpr auto fields() { return std::tuple{field("axis", &CumulativeAttrs::axis)}; }
};

struct SortAttrs {
  int64_t axis = -1;
  bool descending = false;
  static constexpr auto fields() {
    return std::tuple{field("axis", &SortAttrs::axis), field("descending", &SortAttrs::descending)};
  }
};

/// The k greatest, or least, along an axis.
struct TopkAttrs {
  int64_t k = 1;
  int64_t axis = -1;
  bool largest = true;
  static constexpr auto fields() {
    return std::tuple{field("k", &TopkAttrs::k), field("axis", &TopkAttrs::axis),
                      field("largest", &TopkAttrs::largest)};
  }
};

}  // namespace sorus
