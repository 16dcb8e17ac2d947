#include <algorithm>
#include <climits>
#include <utility>

#include "sorus/base/tunable.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/compiler/passes/ask_kernel.h"

namespace sorus {
namespace {

const Tunable waiting_bytes(
    {.name = "epilogue.waiting_bytes",
     .initial = 32 << 10,
     .least = 4 << 10,
     .most = 4 << 20,
     .part = TunedPart::kProgram,
     .doc = "that may be kept longer so that a product can wait for what follows it"});
/// Calls that are moved before a product, at most.
constexpr size_t kMostMoved = 64;
constexpr int32_t kNobody = -1;
constexpr int32_t kResult = INT32_MAX;  ///< the reader of a value that is a result of the graph

/// A product or convolution and the calls that follow it.
struct Join {
  int32_t head = kNobody;
  int32_t reshape = kNobody;  ///< of the head's result, kNobody for none
  int32_t rest = kNobody;
  int32_t place =
      kNobody;  ///< node where the call will stand, one of these or an earlier one that it follows
};

class Joiner {
 public:
  explicit Joiner(Graph& graph) : graph_(graph) {}

  void run() {
    find_uses();
    join_of_.assign(graph_.nodes.size(), -1);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) place(static_cast<int32_t>(i));
    if (!joins_.empty()) rewrite();
  }

 private:
  void find_uses();
  void place(int32_t rest);
  [[nodiscard]] Join join_with(ValueId operand, int32_t rest) const;
  [[nodiscard]] bool is_head(const Node& n) const;
  [[nodiscard]] bool follows(const Node& n) const;
  [[nodiscard]] bool is_reshape(const Node& n) const;
  [[nodiscard]] bool can_rise(const Join& join) const;
  [[nodiscard]] bool can_sink(const Join& join, int32_t to) const;
  [[nodiscard]] int32_t last_reader(ValueId v, int32_t before) const;
  [[nodiscard]] int32_t overwrites_after(const Join& join) const;
  [[nodiscard]] bool read_elsewhere(ValueId v, const Join& join) const;
  void rewrite();
  void emit(int32_t node);
  void emit_operands(const Node& n, int32_t own_join);
  void emit_join(int32_t join);
  [[nodiscard]] Node& node(int32_t i) { return graph_.nodes[static_cast<size_t>(i)]; }
  [[nodiscard]] const Node& node(int32_t i) const { return graph_.nodes[static_cast<size_t>(i)]; }
  [[nodiscard]] int32_t producer(ValueId v) const {
    return v == kNoValue ? kNobody : producer_[static_cast<size_t>(v)];
  }
  [[nodiscard]] const std::vector<int32_t>& readers(ValueId v) const {
    return readers_[static_cast<size_t>(v)];
  }
  [[nodiscard]] int64_t bytes(ValueId v) const {
    const TensorType& t = graph_.type(v);
    return t.shape.numel() * static_cast<int64_t>(dtype_size(t.dtype));
  }

  Graph& graph_;
  std::vector<int32_t> producer_;              ///< by value: its node
  std::vector<std::vector<int32_t>> readers_;  ///< by value, in order
  std::vector<int32_t> join_of_;               ///< by node, -1 for none
  std::vector<Join> joins_;
  std::vector<char> emitted_;  ///< by node
  std::vector<Node> order_;
};

void Joiner::find_uses() {
  producer_.assign(graph_.value_count(), kNobody);
  readers_.assign(graph_.value_count(), {});
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const auto at = static_cast<int32_t>(i);
    for (ValueId v : graph_.nodes[i].out) producer_[static_cast<size_t>(v)] = at;
    for (ValueId v : graph_.nodes[i].in)
      if (v != kNoValue) readers_[static_cast<size_t>(v)].push_back(at);
  }
  for (ValueId v : graph_.outputs) readers_[static_cast<size_t>(v)].push_back(kResult);
}

bool Joiner::is_head(const Node& n) const {
  if (n.body || n.slot >= 0 || n.op->view || n.op->check_values || n.out.size() != 1) return false;
  if (n.op->traits.ordered) return false;
  return ask_kernel(graph_, n, [](const Kernel& kernel, const KernelCall& call) {
    return kernel.run_pieces && kernel.has_pieces(call);
  });
}

/// Elementwise calls alone: one, or a region of them.
bool Joiner::follows(const Node& n) const {
  auto is_elementwise = [](const Graph& graph, const Node& call) {
    if (call.body || call.op->traits.ordered || call.op->check_values || call.op->view) return false;
    if (call.in.empty() || call.in[0] == kNoValue) return false;
    return ask_kernel(graph, call, [](const Kernel& kernel, const KernelCall&) {
      return kernel.tile != nullptr && kernel.row_axis == nullptr;
    });
  };
  if (!n.body) return n.out.size() == 1 && is_elementwise(graph_, n);
  const Graph& body = *n.body;
  if (!body.engine.empty()) return false;
  return std::all_of(body.nodes.begin(), body.nodes.end(),
                     [&](const Node& inner) { return is_elementwise(body, inner); });
}

/// A view that keeps the order of the elements.
bool Joiner::is_reshape(const Node& n) const {
  if (!n.op->view || n.in.size() != 1 || n.out.size() != 1 || n.slot >= 0) return false;
  const Shape& from = graph_.type(n.in[0]).shape;
  const Shape& to = graph_.type(n.out[0]).shape;
  if (!from.is_concrete() || !to.is_concrete() || from.numel() != to.numel()) return false;
  const SmallVector<const TensorType*, 8> types = operand_types(graph_, n);
  const InferContext context(*n.op, types, n.attrs.ref().data);
  const Views views = n.op->view(context, Strides::contiguous(from), 0);
  return views.size() == 1 && views[0].offset == 0 && is_contiguous(to, views[0].strides);
}

/// Chooses the head of the calls at `rest`: the product that was computed last.
void Joiner::place(int32_t rest) {
  if (node(rest).out.empty() || !follows(node(rest))) return;
  Join best;
  for (ValueId v : node(rest).in) {
    const Join join = join_with(v, rest);
    if (join.head > best.head) best = join;
  }
  if (best.head == kNobody) return;
  for (int32_t n : {best.head, best.reshape, best.rest})
    if (n >= 0) join_of_[static_cast<size_t>(n)] = static_cast<int32_t>(joins_.size());
  joins_.push_back(best);
}

Join Joiner::join_with(ValueId operand, int32_t rest) const {
  const Node& r = node(rest);
  if (producer(operand) < 0 || !(graph_.type(operand).shape == graph_.type(r.out[0]).shape)) return {};
  Join join{producer(operand), kNobody, rest, kNobody};
  if (is_reshape(node(join.head))) {
    join.reshape = join.head;
    join.head = producer(node(join.reshape).in[0]);
    if (join.head < 0) return {};
  }
  const Node& head = node(join.head);
  if (join_of_[static_cast<size_t>(join.head)] >= 0 || !is_head(head)) return {};
  if (join.reshape >= 0 && !ask_kernel(graph_, head, [](const Kernel& kernel, const KernelCall&) {
        return kernel.out_layout == Layout::kContiguous;
      }))
    return {};
  // Nobody may read the head's result before; the calls themselves read it once, as it is or reshaped.
  auto is_first = [&](ValueId v) {
    return std::all_of(readers(v).begin(), readers(v).end(),
                       [&](int32_t reader) { return reader >= rest || reader == join.reshape; });
  };
  if (!is_first(head.out[0]) || !is_first(operand)) return {};
  if (join.reshape >= 0 && std::find(r.in.begin(), r.in.end(), head.out[0]) != r.in.end()) return {};
  if (can_rise(join)) {
    const int32_t reader = overwrites_after(join);
    join.place = reader > join.head && can_sink(join, reader) ? reader : join.head;
  } else if (can_sink(join, rest)) {
    join.place = rest;
  } else {
    return {};
  }
  return join;
}

/// The last call before another that reads a value or a view of it.
int32_t Joiner::last_reader(ValueId v, int32_t before) const {
  int32_t last = kNobody;
  for (int32_t reader : readers(v)) {
    if (reader >= before) continue;
    const int32_t join = join_of_[static_cast<size_t>(reader)];
    last = std::max({last, reader, join < 0 ? kNobody : joins_[static_cast<size_t>(join)].place});
    if (!node(reader).op->view) continue;
    for (ValueId view : node(reader).out) last = std::max(last, last_reader(view, before));
  }
  return last;
}

/// A result that leaves the graph, as a new weight does, may be written over an input, as the old one, when
/// the last call has read that: this call.
int32_t Joiner::overwrites_after(const Join& join) const {
  int32_t after = kNobody;
  for (ValueId out : node(join.rest).out) {
    if (readers(out).empty() || readers(out).back() != kResult) continue;
    for (ValueId in : node(join.rest).in)
      if (in != kNoValue && producer(in) < 0 && bytes(in) == bytes(out))
        after = std::max(after, last_reader(in, join.rest));
  }
  return after;
}

/// The calls can run where the head does: what they need beside its result is there, or can be had before it
/// for little, as the scale of a norm that is computed from its parameters.
bool Joiner::can_rise(const Join& join) const {
  const ValueId own = join.reshape >= 0 ? node(join.reshape).out[0] : node(join.head).out[0];
  std::vector<int32_t> moved;
  auto add = [&](ValueId v) {
    const int32_t from = producer(v);
    if (v != own && from >= join.head && std::find(moved.begin(), moved.end(), from) == moved.end())
      moved.push_back(from);
  };
  for (ValueId v : node(join.rest).in) add(v);
  int64_t kept = 0;
  for (size_t i = 0; i < moved.size(); ++i) {
    const Node& n = node(moved[i]);
    if (moved[i] == join.head || join_of_[static_cast<size_t>(moved[i])] >= 0 || i == kMostMoved)
      return false;
    if (n.op->traits.ordered || n.op->check_values) return false;
    if (!n.op->view)
      for (ValueId v : n.out) kept += bytes(v);
    if (kept > waiting_bytes.get()) return false;
    for (ValueId v : n.in) add(v);
  }
  return true;
}

/// The head can run at a later place, as that of the calls: its operands are not kept for longer, but for
/// less than its result.
bool Joiner::can_sink(const Join& join, int32_t to) const {
  int64_t more = -bytes(node(join.head).out[0]);
  for (ValueId v : node(join.head).in) {
    if (v == kNoValue) continue;
    int32_t until = readers(v).back();
    while (producer(v) >= 0 && node(producer(v)).op->view && node(producer(v)).in.size() == 1) {
      v = node(producer(v)).in[0];
      until = std::max(until, readers(v).back());
    }
    if (producer(v) >= 0 && until < to) more += bytes(v);
  }
  return more <= waiting_bytes.get();
}

bool Joiner::read_elsewhere(ValueId v, const Join& join) const {
  return std::any_of(readers(v).begin(), readers(v).end(),
                     [&](int32_t reader) { return reader != join.rest && reader != join.reshape; });
}

void Joiner::emit_operands(const Node& n, int32_t own_join) {
  for (ValueId v : n.in) {
    const int32_t from = producer(v);
    if (from < 0 || emitted_[static_cast<size_t>(from)]) continue;
    const int32_t join = join_of_[static_cast<size_t>(from)];
    if (join >= 0 && join == own_join) continue;
    join >= 0 ? emit_join(join) : emit(from);
  }
}

void Joiner::emit(int32_t i) {
  emit_operands(node(i), -1);
  emitted_[static_cast<size_t>(i)] = 1;
  order_.push_back(std::move(node(i)));
}

/// A reshape that others read as well stays beside the call.
void Joiner::emit_join(int32_t index) {
  const Join& join = joins_[static_cast<size_t>(index)];
  std::vector<char> needed(graph_.value_count(), 0);
  for (ValueId v : node(join.rest).out) needed[static_cast<size_t>(v)] = 1;
  const ValueId result = node(join.head).out[0];
  bool is_kept = read_elsewhere(result, join);
  bool reshape_stays = false;
  if (join.reshape >= 0) {
    reshape_stays = read_elsewhere(node(join.reshape).out[0], join);
    is_kept |= reshape_stays;
    emitted_[static_cast<size_t>(join.reshape)] = 1;
  }
  emit_operands(node(join.head), index);
  emit_operands(node(join.rest), index);
  needed[static_cast<size_t>(result)] = is_kept ? 1 : 0;
  const Node* const alone[] = {&node(join.rest)};
  const Node rest = node(join.rest).body ? node(join.rest) : graph_.call_of(alone, needed);
  std::vector<const Node*> members{&node(join.head)};
  if (join.reshape >= 0) members.push_back(&node(join.reshape));
  members.push_back(&rest);
  order_.push_back(graph_.call_of(members, needed));
  emitted_[static_cast<size_t>(join.head)] = emitted_[static_cast<size_t>(join.rest)] = 1;
  if (reshape_stays) order_.push_back(std::move(node(join.reshape)));
}

void Joiner::rewrite() {
  emitted_.assign(graph_.nodes.size(), 0);
  std::vector<std::vector<int32_t>> at(graph_.nodes.size());  // by node: joins that stand there
  for (size_t j = 0; j < joins_.size(); ++j)
    at[static_cast<size_t>(joins_[j].place)].push_back(static_cast<int32_t>(j));
  for (size_t i = 0; i < emitted_.size(); ++i) {
    if (!emitted_[i] && join_of_[i] < 0) emit(static_cast<int32_t>(i));
    for (int32_t join : at[i])
      if (!emitted_[static_cast<size_t>(joins_[static_cast<size_t>(join)].head)]) emit_join(join);
  }
  graph_.nodes = std::move(order_);
}

}  // namespace

void join_epilogues(Graph& graph) { Joiner(graph).run(); }

}  // namespace sorus
