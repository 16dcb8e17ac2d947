#pragma once

#include <memory>
#include <span>

#include "sorus/ir/region.h"

/// Two convolutions, each with the calls that follow it, run depth first: a few rows of the first one's
/// result at a time, in memory of the thread that computes from them what the second one makes of them. The
/// whole result of the first one is nowhere.
namespace sorus::tile {

/// True for a body as the pass `depth_first` makes it: two headed regions, of which the second one reads the
/// result of the first.
[[nodiscard]] bool is_depth_first(const Graph& body);

/// Null where a kernel does not work by rows, or two operands are wanted in different orders.
[[nodiscard]] std::unique_ptr<RegionProgram> bind_depth_first(const Graph& body, std::span<const Array> in);

}  // namespace sorus::tile
