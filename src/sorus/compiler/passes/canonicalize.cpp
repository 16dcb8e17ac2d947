#include <numeric>
#include <unordered_map>

#include "sorus/compiler/pass_manager.h"

namespace sorus {
namespace {

/// Where each value is made: index of its node, or none for inputs and constants.
class Producers {
 public:
  explicit Producers(const Graph& graph) : graph_(graph), at_(graph.value_count(), nullptr) {
    for (const Node& n : graph.nodes)
      for (ValueId v : n.out) at_[static_cast<size_t>(v)] = &n;
  }
  [[nodiscard]] const Node* of(ValueId v) const { return at_[static_cast<size_t>(v)]; }
  [[nodiscard]] const Node* of(ValueId v, std::string_view op) const {
    const Node* n = of(v);
    return n && n->op->name == op ? n : nullptr;
  }
  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  const Graph& graph_;
  std::vector<const Node*> at_;
};

Ints ints_attr(const Node& n, std::string_view name) {
  const FieldInfo* f = n.op->attrs.find(name);
  SORUS_INTERNAL(f && f->kind == AttrKind::kInts, "{} has no list attribute {}", n.op->name, name);
  return std::get<Ints>(f->get(n.attrs.ref().data));
}

/// Rules give the value that a call's result equals, or kNoValue. Each is exact: it moves no bit.
ValueId same_type_view(const Producers& p, const Node& n) {
  return p.graph().type(n.in[0]) == p.graph().type(n.out[0]) ? n.in[0] : kNoValue;
}

ValueId transpose_rule(const Producers& p, const Node& n) {
  Ints axes = ints_attr(n, "axes");
  bool identity = true;
  for (int i = 0; i < axes.size(); ++i) identity &= axes[i] == i;
  if (identity) return n.in[0];
  const Node* inner = p.of(n.in[0], "transpose");
  if (!inner) return kNoValue;
  Ints first = ints_attr(*inner, "axes");
  for (int i = 0; i < axes.size(); ++i)
    if (first[static_cast<int>(axes[i])] != i) return kNoValue;
  return inner->in[0];
}

ValueId neg_rule(const Producers& p, const Node& n) {
  const Node* inner = p.of(n.in[0], "neg");
  return inner ? inner->in[0] : kNoValue;
}

using Rule = ValueId (*)(const Producers&, const Node&);
const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> table = {
      {"reshape", same_type_view},    {"broadcast_to", same_type_view}, {"stop_gradient", same_type_view},
      {"contiguous", same_type_view}, {"transpose", transpose_rule},    {"neg", neg_rule}};
  return table;
}

}  // namespace

void canonicalize(Graph& graph) {
  std::vector<ValueId> to(graph.value_count());
  std::iota(to.begin(), to.end(), 0);
  Producers producers(graph);
  for (Node& n : graph.nodes) {
    for (ValueId& v : n.in)
      if (v != kNoValue) v = to[static_cast<size_t>(v)];
    auto rule = rules().find(n.op->name);
    if (rule == rules().end() || n.slot >= 0) continue;
    if (ValueId same = rule->second(producers, n); same != kNoValue)
      to[static_cast<size_t>(n.out[0])] = to[static_cast<size_t>(same)];
  }
  replace_uses(graph, to);
}

}  // namespace sorus
