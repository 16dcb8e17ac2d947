#include <algorithm>
#include <numeric>

#include "sorus/compiler/pass_manager.h"
#include "sorus/dispatch/apply.h"

namespace sorus {
namespace {

/// Larger results stay calls: a folded constant lives as long as the program.
constexpr int64_t kLargestConstant = 4096;

bool foldable(const Graph& graph, const Node& n) {
  if (n.op->traits.ordered || n.slot >= 0 || n.varies || n.body) return false;
  if (n.op->check_values && !graph.values_checked) return false;
  bool constant =
      std::all_of(n.in.begin(), n.in.end(), [&](ValueId v) { return v == kNoValue || graph.is_constant(v); });
  return constant && std::all_of(n.out.begin(), n.out.end(), [&](ValueId v) {
           return graph.type(v).shape.is_concrete() && graph.type(v).shape.numel() <= kLargestConstant;
         });
}

}  // namespace

void fold_constants(Graph& graph) {
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  std::vector<ValueId> to(graph.value_count());
  std::iota(to.begin(), to.end(), 0);
  for (Node& n : nodes) {
    for (ValueId& v : n.in)
      if (v != kNoValue) v = to[static_cast<size_t>(v)];
    if (!foldable(graph, n)) {
      graph.nodes.push_back(std::move(n));
      continue;
    }
    SmallVector<const Tensor*, 8> in;
    for (ValueId v : n.in) in.push_back(v == kNoValue ? nullptr : &graph.constant(v));
    TypeList types;
    for (ValueId v : n.out) types.push_back(graph.type(v));
    TensorList out;
    execute(*n.op, in, n.attrs.ref(), types, out);
    for (size_t k = 0; k < out.size(); ++k) to[static_cast<size_t>(n.out[k])] = graph.add_constant(out[k]);
  }
  to.resize(graph.value_count());
  for (size_t v = 0; v < to.size(); ++v)
    if (graph.is_constant(static_cast<ValueId>(v))) to[v] = static_cast<ValueId>(v);
  replace_uses(graph, to);
}

}  // namespace sorus
