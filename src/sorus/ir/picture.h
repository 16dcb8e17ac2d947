#pragma once

#include <string>

#include "sorus/ir/graph.h"

namespace sorus {

/// The graph as a picture in SVG 1.1: a box for each call with its op, attributes and result types, drawn in
/// layers from the inputs at the top to the results at the bottom. Inputs and constants stand right above
/// their first use. Where a call stands in the user's program is the tooltip of its box.
[[nodiscard]] SORUS_API std::string svg_picture(const Graph& graph);

}  // namespace sorus
