#pragma once

#include <memory>
#include <span>

#include "sorus/ir/region.h"

/// Regions that begin with a product or a convolution: each piece of its result goes through the calls that
/// follow, a tile program, on the thread and in the caches where it was computed.
namespace sorus::tile {

/// True for a body as the pass `epilogue` makes it: a call whose kernel has pieces, maybe a reshape of its
/// result, and a call of what follows.
[[nodiscard]] bool is_headed(const Graph& body);

/// Null where the kernel has no pieces for the call, or the rest cannot follow it in its order.
[[nodiscard]] std::unique_ptr<RegionProgram> bind_headed(const Graph& body, std::span<const Array> in);

}  // namespace sorus::tile
