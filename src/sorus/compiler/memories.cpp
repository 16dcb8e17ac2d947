#include "sorus/compiler/memories.h"

#include <algorithm>

namespace sorus {

bool Memories::add(const Graph& graph, ValueId v, Memory memory) {
  const TensorType& t = graph.type(v);
  if (!t.shape.is_concrete()) return false;
  number_of_[static_cast<size_t>(v)] = static_cast<int32_t>(all_.size());
  memory.root = v;
  memory.bytes = t.shape.numel() * static_cast<int64_t>(dtype_size(t.dtype));
  all_.push_back(std::move(memory));
  return true;
}

std::optional<Memories> Memories::of(const Graph& graph) {
  Memories m;
  m.number_of_.assign(graph.value_count(), -1);
  for (ValueId v : graph.inputs)
    if (!m.add(graph, v, {.is_input = true})) return std::nullopt;
  for (size_t v = 0; v < graph.value_count(); ++v)
    if (graph.is_constant(static_cast<ValueId>(v)) && !m.add(graph, static_cast<ValueId>(v), {.stays = true}))
      return std::nullopt;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& n = graph.nodes[i];
    for (int32_t read : m.read_by(n)) m[read].readers.push_back(static_cast<int32_t>(i));
    for (ValueId v : n.out) {
      if (makes_view(n))
        m.number_of_[static_cast<size_t>(v)] = m.number_of(n.in[0]);
      else if (!m.add(graph, v, {.made_by = static_cast<int32_t>(i)}))
        return std::nullopt;
    }
  }
  for (ValueId v : graph.outputs) m[m.number_of(v)].stays = true;
  return m;
}

SmallVector<int32_t, 8> Memories::read_by(const Node& n) const {
  SmallVector<int32_t, 8> all;
  for (ValueId v : n.in)
    if (v != kNoValue && std::find(all.begin(), all.end(), number_of(v)) == all.end())
      all.push_back(number_of(v));
  return all;
}

}  // namespace sorus
