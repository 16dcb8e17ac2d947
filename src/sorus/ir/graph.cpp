#include "sorus/ir/graph.h"

#include <algorithm>

#include "sorus/dispatch/apply.h"

namespace sorus {
namespace {

/// Inference reads operands without asking whether they are there, as apply() makes sure of it for the host.
void check_operands(const OpDef& op, std::span<const ValueId> in) {
  bool list = !op.inputs.empty() && op.inputs.back().kind == InputKind::kList;
  auto required = static_cast<size_t>(std::count_if(
      op.inputs.begin(), op.inputs.end(), [](const InputSpec& i) { return i.kind == InputKind::kTensor; }));
  SORUS_CHECK(in.size() >= required && (list || in.size() <= op.inputs.size()), ValueError,
              "{}: number of operands differs: got {}, need {}{}", op.name, in.size(), required,
              list || required < op.inputs.size() ? " or more" : "");
  for (size_t i = 0; i < in.size(); ++i)
    SORUS_CHECK(
        in[i] != kNoValue || op.inputs[std::min(i, op.inputs.size() - 1)].kind == InputKind::kOptional,
        ValueError, "{}: operand {} is absent: got none, need a value", op.name, i);
}

}  // namespace

ValueId Graph::add_value(const TensorType& type) {
  types_.push_back(type);
  constants_.emplace_back();
  return static_cast<ValueId>(types_.size()) - 1;
}

ValueId Graph::add_input(const TensorType& type) {
  inputs.push_back(add_value(type));
  return inputs.back();
}

ValueId Graph::add_constant(const Tensor& value) {
  ValueId v = add_value(value.type());
  constants_.back() = value;
  return v;
}

Node& Graph::add_node(const OpDef& op, AttrsRef attrs, std::span<const ValueId> in) {
  check_operands(op, in);
  Node node;
  node.op = &op;
  node.attrs = AttrsBox(attrs);
  node.in = SmallVector<ValueId, 4>(in);
  TypeList out_types = infer_types(op, operand_types(*this, node), node.attrs.ref().data);
  for (const TensorType& t : out_types) node.out.push_back(add_value(t));
  nodes.push_back(std::move(node));
  return nodes.back();
}

SmallVector<const TensorType*, 8> operand_types(const Graph& graph, const Node& node) {
  SmallVector<const TensorType*, 8> types;
  for (ValueId v : node.in) types.push_back(v == kNoValue ? nullptr : &graph.type(v));
  return types;
}

void Graph::verify() const {
  std::vector<char> defined(value_count(), 0);
  auto define = [&](ValueId v, std::string_view what) {
    SORUS_INTERNAL(v >= 0 && static_cast<size_t>(v) < value_count(),
                   "graph {}: {} defines %{}, which has no type", name, what, v);
    SORUS_INTERNAL(!defined[static_cast<size_t>(v)], "graph {}: {} defines %{} again", name, what, v);
    defined[static_cast<size_t>(v)] = 1;
  };
  auto use = [&](ValueId v, std::string_view what) {
    SORUS_INTERNAL(v >= 0 && static_cast<size_t>(v) < value_count() && defined[static_cast<size_t>(v)],
                   "graph {}: {} uses %{} before it is defined", name, what, v);
  };
  for (ValueId v : inputs) define(v, "an input");
  for (size_t v = 0; v < value_count(); ++v)
    if (constants_[v].defined()) define(static_cast<ValueId>(v), "a constant");
  for (const Node& n : nodes) {
    for (ValueId v : n.in)
      if (v != kNoValue) use(v, n.op->name);
    for (ValueId v : n.out) define(v, n.op->name);
    TypeList expected = infer_types(*n.op, operand_types(*this, n), n.attrs.ref().data);
    SORUS_INTERNAL(expected.size() == n.out.size(), "graph {}: {} has {} results, inference says {}", name,
                   n.op->name, n.out.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i)
      SORUS_INTERNAL(expected[i] == type(n.out[i]), "graph {}: {} result {} has type {}, inference says {}",
                     name, n.op->name, i, type(n.out[i]), expected[i]);
  }
  for (ValueId v : outputs) use(v, "return");
}

}  // namespace sorus
