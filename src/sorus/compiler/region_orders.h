#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sorus/dispatch/kernel.h"
#include "sorus/ir/graph.h"

namespace sorus {

/// An elementwise region goes through memory in one order, that of its first operand; operands that lie in
/// another one are picked element by element. Single calls follow the order of their own first operands, so a
/// region of calls on differently ordered operands can lose more than it saves.
///
/// The part of each node of a region's body, such that each part keeps to one order; parts can run one after
/// the other. Empty when the region should run whole. `in` are its operands, without data.
[[nodiscard]] std::vector<int32_t> parts_by_order(const Graph& body, std::span<const Array> in);

}  // namespace sorus
