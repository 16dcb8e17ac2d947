#include <numeric>
#include <unordered_map>

#include "sorus/compiler/pass_manager.h"

namespace sorus {
namespace {

uint64_t call_hash(const Node& n) {
  uint64_t h = hash_combine(reinterpret_cast<uintptr_t>(n.op), n.attrs.hash());
  for (ValueId v : n.in) h = hash_combine(h, static_cast<uint64_t>(v));
  return h;
}

bool same_call(const Node& a, const Node& b) {
  return a.op == b.op && a.in == b.in && a.attrs == b.attrs && a.body == b.body;
}

}  // namespace

void eliminate_common(Graph& graph) {
  std::vector<ValueId> to(graph.value_count());
  std::iota(to.begin(), to.end(), 0);
  std::unordered_multimap<uint64_t, size_t> known;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& n = graph.nodes[i];
    for (ValueId& v : n.in)
      if (v != kNoValue) v = to[static_cast<size_t>(v)];
    // Random ops are pure: their key is an operand. Only ordered effects and run-time attributes stand apart.
    if (n.op->traits.ordered || n.slot >= 0) continue;
    uint64_t h = call_hash(n);
    auto [first, end] = known.equal_range(h);
    while (first != end && !same_call(graph.nodes[first->second], n)) ++first;
    if (first == end) {
      known.emplace(h, i);
      continue;
    }
    const Node& same = graph.nodes[first->second];
    for (size_t k = 0; k < n.out.size(); ++k) to[static_cast<size_t>(n.out[k])] = same.out[k];
  }
  replace_uses(graph, to);
}

}  // namespace sorus
