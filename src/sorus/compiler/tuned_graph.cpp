#include "sorus/compiler/tuned_graph.h"

#include "sorus/base/error.h"
#include "sorus/ir/encoding.h"

namespace sorus {

Digest::Words tuned_graph_key(TunedPart part, const Graph& graph) {
  std::vector<Tensor> constants;
  Digest digest = tuning_digest(part);
  for (size_t v = 0; v < graph.value_count(); ++v) {
    if (!graph.is_constant(static_cast<ValueId>(v))) continue;
    constants.push_back(graph.constant(static_cast<ValueId>(v)));
    digest.add(constants.back().type().text());
  }
  digest.add(encode_graph(graph, {.known = constants, .sites = false}));
  return digest.words();
}

TunedRef tuned_for_graph(TunedPart part, const Graph& graph) {
  if (!tuning_in_use()) return nullptr;
  try {
    return tuned_for(part, [&] { return tuned_graph_key(part, graph); });
  } catch (const NotSupportedError&) {
    return nullptr;
  }
}

}  // namespace sorus
