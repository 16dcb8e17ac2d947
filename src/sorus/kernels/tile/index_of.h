#pragma once

#include <algorithm>
#include <span>

#include "sorus/ir/graph.h"

namespace sorus::tile {

/// Place of a value among the operands or results of a call or a body; -1 where it is none of them.
[[nodiscard]] inline int32_t index_of(std::span<const ValueId> values, ValueId v) {
  const auto at = std::find(values.begin(), values.end(), v);
  return at == values.end() ? -1 : static_cast<int32_t>(at - values.begin());
}

}  // namespace sorus::tile
