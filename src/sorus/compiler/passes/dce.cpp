#include <algorithm>

#include "sorus/compiler/pass_manager.h"

namespace sorus {

void eliminate_dead(Graph& graph) {
  std::vector<char> needed(graph.value_count(), 0);
  for (ValueId v : graph.outputs) needed[static_cast<size_t>(v)] = 1;
  std::vector<char> keep(graph.nodes.size(), 0);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& n = graph.nodes[i];
    // A call whose values are still to be checked stays: its error is part of what the program does.
    keep[i] = n.op->traits.ordered || (n.op->check_values && !graph.values_checked) ||
              std::any_of(n.out.begin(), n.out.end(),
                          [&](ValueId v) { return needed[static_cast<size_t>(v)] != 0; });
    if (!keep[i]) continue;
    for (ValueId v : n.in)
      if (v != kNoValue) needed[static_cast<size_t>(v)] = 1;
  }
  size_t kept = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (keep[i]) {
      if (kept != i) graph.nodes[kept] = std::move(graph.nodes[i]);
      ++kept;
    }
  graph.nodes.resize(kept);
}

}  // namespace sorus
