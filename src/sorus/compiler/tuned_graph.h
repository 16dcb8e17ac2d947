#pragma once

#include "sorus/dispatch/tuned.h"
#include "sorus/ir/graph.h"

namespace sorus {

/// The key of tuned values for a graph, or for the body of a region: what it computes, without the bytes of
/// its constants and where its calls stand. Throws NotSupportedError for a graph that has no bytes.
[[nodiscard]] SORUS_API Digest::Words tuned_graph_key(TunedPart part, const Graph& graph);

/// The values for it, null where all have their defaults.
[[nodiscard]] SORUS_API TunedRef tuned_for_graph(TunedPart part, const Graph& graph);

}  // namespace sorus
