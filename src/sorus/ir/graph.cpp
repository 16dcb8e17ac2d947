#include "sorus/ir/graph.h"

#include <algorithm>
#include <map>

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

const OpDef& call_op() {
  static const OpDef op{.name = "call",
                        .doc = "Computes a graph.",
                        .inputs = {{"operands", InputKind::kList}},
                        .infer = [](const InferContext&) -> TypeList {
                          raise<InternalError>("call: it has no types of its own");
                        }};
  return op;
}

namespace {

TypeList same_type(const InferContext& c) { return {c.in(0)}; }
Views same_bytes(const InferContext&, const Strides& strides, int64_t offset) { return {{strides, offset}}; }

void same_gradient(VjpContext& c) {
  if (c.needs(0) && c.grad().defined()) c.set(0, c.grad());
}

constexpr std::string_view kOn = " on ";

}  // namespace

const OpDef& to_engine_op() {
  static const OpDef op{.name = "to_engine",
                        .doc = "Brings a value into an engine's memory.",
                        .inputs = {{"x"}},
                        .infer = same_type,
                        .vjp = same_gradient,
                        .view = same_bytes};
  return op;
}

const OpDef& from_engine_op() {
  static const OpDef op{.name = "from_engine",
                        .doc = "Brings a value back from an engine's memory.",
                        .inputs = {{"x"}},
                        .infer = same_type,
                        .vjp = same_gradient,
                        .view = same_bytes};
  return op;
}

const OpDef* find_graph_op(std::string_view name) {
  for (const OpDef* op : {&call_op(), &to_engine_op(), &from_engine_op()})
    if (op->name == name) return op;
  return find_op(name);
}

std::string call_name(const Node& node) {
  std::string name(node.op->name);
  if (node.body && !node.body->engine.empty()) name.append(kOn).append(node.body->engine);
  return name;
}

std::string split_call_name(std::string_view* name) {
  const std::string_view call = call_op().name;
  if (!name->starts_with(call) || !name->substr(call.size()).starts_with(kOn)) return {};
  const std::string engine(name->substr(call.size() + kOn.size()));
  *name = call;
  return engine;
}

Node& Graph::add_call(std::shared_ptr<const Graph> body, std::span<const ValueId> in) {
  Node node;
  node.op = &call_op();
  node.in = SmallVector<ValueId, 4>(in);
  for (ValueId v : body->outputs) node.out.push_back(add_value(body->type(v)));
  node.body = std::move(body);
  verify_call(node);
  nodes.push_back(std::move(node));
  return nodes.back();
}

void Graph::inline_call(size_t index) {
  Node call = std::move(nodes[index]);
  const Graph& body = *call.body;
  std::vector<ValueId> to(body.value_count(), kNoValue);
  for (size_t i = 0; i < body.inputs.size(); ++i) to[static_cast<size_t>(body.inputs[i])] = call.in[i];
  for (size_t i = 0; i < body.outputs.size(); ++i) to[static_cast<size_t>(body.outputs[i])] = call.out[i];
  std::vector<Node> inner = body.nodes;
  for (size_t v = 0; v < to.size(); ++v) {
    auto value = static_cast<ValueId>(v);
    if (to[v] == kNoValue)
      to[v] = body.is_constant(value) ? add_constant(body.constant(value)) : add_value(body.type(value));
  }
  for (Node& n : inner) {
    for (ValueId& v : n.in)
      if (v != kNoValue) v = to[static_cast<size_t>(v)];
    for (ValueId& v : n.out) v = to[static_cast<size_t>(v)];
  }
  nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(index));
  nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(index), std::make_move_iterator(inner.begin()),
               std::make_move_iterator(inner.end()));
}

Node Graph::call_of(std::span<const Node* const> members, std::span<const char> needed) const {
  auto body = std::make_shared<Graph>();
  body->name = "fused";
  Node call;
  call.op = &call_op();
  std::map<ValueId, ValueId> inside;
  for (const Node* n : members) {
    for (ValueId v : n->in)
      if (v != kNoValue && inside.emplace(v, kNoValue).second) call.in.push_back(v);
    for (ValueId v : n->out) inside[v] = kNoValue;
  }
  for (ValueId v : call.in) inside[v] = body->add_input(type(v));
  for (const Node* n : members) {
    SmallVector<ValueId, 4> in;
    for (ValueId v : n->in) in.push_back(v == kNoValue ? kNoValue : inside.at(v));
    const std::span<const ValueId> operands(in.data(), in.size());
    Node& copy =
        n->body ? body->add_call(n->body, operands) : body->add_node(*n->op, n->attrs.ref(), operands);
    copy.slot = n->slot;
    copy.varies = n->varies;
    copy.site = call.site = n->site;
    for (size_t k = 0; k < n->out.size(); ++k) {
      inside[n->out[k]] = copy.out[k];
      if (!needed[static_cast<size_t>(n->out[k])]) continue;
      body->outputs.push_back(copy.out[k]);
      call.out.push_back(n->out[k]);
    }
  }
  call.body = std::move(body);
  return call;
}

void Graph::split_call(size_t index, std::span<const int32_t> parts) {
  inline_call(index);
  const auto begin = nodes.begin() + static_cast<std::ptrdiff_t>(index);
  std::vector<Node> members(std::make_move_iterator(begin),
                            std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(parts.size())));
  nodes.erase(begin, begin + static_cast<std::ptrdiff_t>(parts.size()));
  constexpr int32_t kOutside = -1;
  std::vector<int32_t> made_by(value_count(), kOutside);
  for (size_t i = 0; i < members.size(); ++i)
    for (ValueId v : members[i].out) made_by[static_cast<size_t>(v)] = parts[i];
  std::vector<char> needed(value_count(), 0);
  auto read = [&](ValueId v, int32_t by) {
    if (v != kNoValue && made_by[static_cast<size_t>(v)] != by) needed[static_cast<size_t>(v)] = 1;
  };
  for (const Node& n : nodes)
    for (ValueId v : n.in) read(v, kOutside);
  for (ValueId v : outputs) read(v, kOutside);
  for (size_t i = 0; i < members.size(); ++i)
    for (ValueId v : members[i].in) read(v, parts[i]);
  std::vector<Node> calls;
  for (int32_t part = 0; part <= *std::max_element(parts.begin(), parts.end()); ++part) {
    std::vector<const Node*> own;
    for (size_t i = 0; i < members.size(); ++i)
      if (parts[i] == part) own.push_back(&members[i]);
    calls.push_back(own.size() == 1 ? *own[0] : call_of(own, needed));
  }
  nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(index), std::make_move_iterator(calls.begin()),
               std::make_move_iterator(calls.end()));
}

SmallVector<const TensorType*, 8> operand_types(const Graph& graph, const Node& node) {
  SmallVector<const TensorType*, 8> types;
  for (ValueId v : node.in) types.push_back(v == kNoValue ? nullptr : &graph.type(v));
  return types;
}

/// An output of a body is the result of one of its nodes, and no two are the same: then a call can be
/// replaced by the nodes.
void Graph::verify_call(const Node& node) const {
  SORUS_INTERNAL(node.body, "graph {}: a call has no body", name);
  const Graph& body = *node.body;
  body.verify();
  SORUS_INTERNAL(node.in.size() == body.inputs.size() && node.out.size() == body.outputs.size(),
                 "graph {}: a call of {} has {} operands and {} results, its body {} and {}", name, body.name,
                 node.in.size(), node.out.size(), body.inputs.size(), body.outputs.size());
  for (size_t i = 0; i < node.in.size(); ++i)
    SORUS_INTERNAL(node.in[i] != kNoValue && type(node.in[i]) == body.type(body.inputs[i]),
                   "graph {}: operand {} of the call of {} is not a {}", name, i, body.name,
                   body.type(body.inputs[i]));
  std::vector<char> made(body.value_count(), 0);
  for (const Node& n : body.nodes)
    for (ValueId v : n.out) made[static_cast<size_t>(v)] = 1;
  for (size_t i = 0; i < node.out.size(); ++i) {
    char& fresh = made[static_cast<size_t>(body.outputs[i])];
    SORUS_INTERNAL(fresh && type(node.out[i]) == body.type(body.outputs[i]),
                   "graph {}: result {} of the call of {} is no fresh {}", name, i, body.name,
                   body.type(body.outputs[i]));
    fresh = 0;
  }
}

size_t Graph::bytes() const {
  size_t bytes = value_count() * (sizeof(TensorType) + sizeof(Tensor));
  for (const Node& n : nodes)
    bytes += sizeof(Node) + n.site.capacity() + n.attrs.ref().def->size + (n.body ? n.body->bytes() : 0);
  return bytes;
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
    if (n.op == &call_op()) {
      verify_call(n);
      continue;
    }
    SORUS_INTERNAL(!n.body, "graph {}: {} has a body", name, n.op->name);
    check_operands(*n.op, std::span<const ValueId>(n.in.data(), n.in.size()));
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
