#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sorus/engine/engine.h"

/// Which engine runs what: assignment call by call, and the cut into parts.
namespace sorus {

/// The engine of each node; null is the host.
using Assignment = std::vector<std::shared_ptr<Engine>>;

/// The assignment by this thread's choice (engine/choice.h): an engine that is asked for takes what it takes;
/// other calls go to the cheapest engine of the host's numerics class, borders counted.
[[nodiscard]] SORUS_API Assignment assign_engines(const Graph& graph);

/// Cuts the graph into parts, calls of a body that is marked with its engine. Calls of one engine are one
/// part unless something else stands between them; no way leads out of a part and back into it, through
/// whatever other parts. Constants go into the bodies; with memory of its own an engine has `to_engine` and
/// `from_engine` at the borders. What stays keeps its order. Calls given away must be may_leave_host().
SORUS_API void cut_graph(Graph& graph, const Assignment& engines);

/// The engines that a graph has parts of, as far as they are there, by first part.
[[nodiscard]] SORUS_API std::vector<std::shared_ptr<Engine>> engines_of(const Graph& graph);

/// What is wrong with a part whose engine is not there or does not take all of it, as error text; else empty.
[[nodiscard]] SORUS_API std::string part_problem(const Graph& part);
/// The same for all parts of a graph.
[[nodiscard]] SORUS_API std::string parts_problem(const Graph& graph);

}  // namespace sorus
