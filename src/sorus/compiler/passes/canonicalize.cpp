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

AttrsBox with_ints(const Node& n, std::string_view name, const Ints& value) {
  const AttrsDef& def = n.op->attrs;
  std::vector<std::byte> copy(def.size);
  def.copy(copy.data(), n.attrs.ref().data);
  def.find(name)->set(copy.data(), value);
  AttrsBox box(AttrsRef(def, copy.data()));
  def.destroy(copy.data());
  return box;
}

/// Rules give the value that a call's result equals, or kNoValue; they may also let the call read an earlier
/// value. Each is exact: it moves no bit. (x + 0 is not x where x is -0; multiplied by 1, a signalling NaN
/// turns quiet.)
ValueId same_type_view(const Producers& p, Node& n) {
  return p.graph().type(n.in[0]) == p.graph().type(n.out[0]) ? n.in[0] : kNoValue;
}

/// Only the last shape counts.
ValueId reshape_rule(const Producers& p, Node& n) {
  for (std::string_view name : {"reshape", "expand_dims", "squeeze"})
    if (const Node* inner = p.of(n.in[0], name); inner && inner->slot < 0) n.in[0] = inner->in[0];
  return same_type_view(p, n);
}
ValueId broadcast_rule(const Producers& p, Node& n) {
  if (const Node* inner = p.of(n.in[0], "broadcast_to"); inner && inner->slot < 0) n.in[0] = inner->in[0];
  return same_type_view(p, n);
}

/// Two permutations are one.
ValueId transpose_rule(const Producers& p, Node& n) {
  Ints axes = ints_attr(n, "axes");
  if (const Node* inner = p.of(n.in[0], "transpose"); inner && inner->slot < 0) {
    const Ints first = ints_attr(*inner, "axes");
    for (int64_t& a : axes) a = first[static_cast<int>(a)];
    n.in[0] = inner->in[0];
    n.attrs = with_ints(n, "axes", axes);
  }
  for (int i = 0; i < axes.size(); ++i)
    if (axes[i] != i) return kNoValue;
  return n.in[0];
}

ValueId neg_rule(const Producers& p, Node& n) {
  const Node* inner = p.of(n.in[0], "neg");
  return inner ? inner->in[0] : kNoValue;
}

bool is_signed(DType t) { return t >= DType::kInt8 && t <= DType::kInt64; }

/// True when each number of an integer dtype (or bool) is one of `to`, and different ones stay different.
bool holds_all(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::kBool) return true;
  if (!is_integer(from) || to == DType::kBool) return false;
  const size_t bits = 8 * dtype_size(from);
  if (is_floating(to)) return bits <= (to == DType::kFloat64 ? 32 : to == DType::kFloat32 ? 16 : 8);
  return dtype_size(to) > dtype_size(from) && (is_signed(to) || !is_signed(from));
}

/// A cast of what was cast before without loss reads the number itself. Floating numbers are left alone, as
/// casting turns signalling NaNs quiet; so are integers that come back from floating as others.
ValueId cast_rule(const Producers& p, Node& n) {
  if (const Node* inner = p.of(n.in[0], "cast"); inner && inner->slot < 0) {
    const DType from = p.graph().type(inner->in[0]).dtype;
    const DType between = p.graph().type(n.in[0]).dtype;
    const bool same_after = !is_floating(between) || holds_all(from, p.graph().type(n.out[0]).dtype);
    if (holds_all(from, between) && same_after && !is_floating(from)) n.in[0] = inner->in[0];
  }
  return is_half(p.graph().type(n.out[0]).dtype) ? kNoValue : same_type_view(p, n);
}

using Rule = ValueId (*)(const Producers&, Node&);
const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> table = {{"reshape", reshape_rule},
                                                                   {"broadcast_to", broadcast_rule},
                                                                   {"stop_gradient", same_type_view},
                                                                   {"contiguous", same_type_view},
                                                                   {"transpose", transpose_rule},
                                                                   {"neg", neg_rule},
                                                                   {"cast", cast_rule}};
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
