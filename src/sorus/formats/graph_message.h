#pragma once

#include <string>

#include "sorus/ir/graph.h"

namespace sorus::formats {

/// The bytes of the field's ModelProto message that holds a graph, for programs that draw it: its calls with
/// their operands, attributes as text and types, its inputs, outputs and constants, whose elements are left
/// out. Values are named by the numbers of Graph::numbering(); of a call with several results each is taken
/// by a node `TupleGetItem`.
[[nodiscard]] SORUS_API std::string graph_message(const Graph& graph);

}  // namespace sorus::formats
