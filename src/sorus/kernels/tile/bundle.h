#pragma once

#include <memory>
#include <span>

#include "sorus/ir/region.h"

/// Small regions that do not need each other, run as one parallel loop over the pieces of all.
namespace sorus::tile {

/// True for a body as the pass `bundle` makes it: calls of regions alone.
[[nodiscard]] bool is_bundle(const Graph& body);

/// Null where a region cannot run tile by tile, or two want an operand in different orders.
[[nodiscard]] std::unique_ptr<RegionProgram> bind_bundle(const Graph& body, std::span<const Array> in);

}  // namespace sorus::tile
