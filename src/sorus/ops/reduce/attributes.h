#pragma once

#include "sorus/dispatch/attributes.h"

/// Attributes of reductions.
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

}  // namespace sorus
