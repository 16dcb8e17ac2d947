#include "sorus/compiler/recording.h"

namespace sorus {

FollowStats& follow_stats() {
  static thread_local FollowStats stats;
  return stats;
}

size_t Plan::bytes() const {
  size_t bytes = 0;
  for (const auto& s : segments) {
    for (const RecordedCall& c : s->calls) {
      bytes += sizeof(RecordedCall) + c.attrs.ref().def->size + c.site.capacity();
      if (c.in.size() > 3) bytes += c.in.size() * sizeof(RecordedOperand);
    }
    for (const auto& p : s->programs) bytes += p->executable->bytes();
  }
  return bytes;
}

Graph segment_graph(const Segment& segment, size_t count, const std::vector<char>& live,
                    std::vector<int32_t>* slots) {
  Graph graph;
  graph.name = "segment";
  graph.values_checked = true;  // when its calls were followed
  std::vector<ValueId> results;
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < count; ++i) {
    const RecordedCall& call = segment.calls[i];
    Node node;
    node.op = call.op;
    node.attrs = call.attrs;
    node.site = call.site;
    node.varies = call.varies;
    if (call.dynamic) {
      node.slot = static_cast<int32_t>(slots->size());
      slots->push_back(static_cast<int32_t>(i));
    }
    for (const RecordedOperand& o : call.in) {
      if (o.source == kAbsent) {
        node.in.push_back(kNoValue);
        continue;
      }
      if (o.source < 0 && static_cast<size_t>(~o.source) == inputs.size())
        inputs.push_back(graph.add_input(o.type));
      node.in.push_back(o.source >= 0 ? results[static_cast<size_t>(o.source)]
                                      : inputs[static_cast<size_t>(~o.source)]);
    }
    for (const TensorType& t : call.out) {
      node.out.push_back(graph.add_value(t));
      results.push_back(node.out.back());
    }
    graph.nodes.push_back(std::move(node));
  }
  for (size_t r = 0; r < results.size(); ++r)
    if (live[r]) graph.outputs.push_back(results[r]);
  return graph;
}

}  // namespace sorus
