#include <algorithm>
#include <numeric>
#include <utility>

#include "sorus/base/tunable.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/dispatch/kernel.h"

namespace sorus {
namespace {

const Tunable most_members({.name = "fuse.most_members",
                            .initial = 64,
                            .least = 2,
                            .most = 64,
                            .part = TunedPart::kProgram,
                            .doc = "calls of a fused region at most"});
// Rows that are longer do not stay in the caches beside each other; of one element they are none.
const Tunable longest_row({.name = "fuse.longest_row",
                           .initial = 16 << 10,
                           .least = 512,
                           .most = 16 << 10,
                           .part = TunedPart::kProgram,
                           .doc = "elements of the longest rows whose calls are fused"});
const Tunable waiting_bytes({.name = "fuse.waiting_bytes",
                             .initial = 32 << 10,
                             .least = 4 << 10,
                             .most = 4 << 20,
                             .part = TunedPart::kProgram,
                             .doc = "that may be kept longer so that calls can wait for others"});
constexpr size_t kMostOperands = 32;
constexpr int64_t kShortestRow = 2;
/// Nodes between the members of a region that are looked at.
constexpr size_t kLongestSearch = 4096;

/// What the pass knows of a call: whether it can be part of a region, and of which.
struct Candidate {
  enum class Kind : uint8_t { kNo, kElements, kRows };
  Kind kind = Kind::kNo;
  const Shape* shape = nullptr;  ///< of the elements that are computed; of the rows
  int axis = -1;                 ///< the first of a row
  uint32_t whole_in = 0;
};

/// Calls that will be one region. Its shape is that of its elements; with rows, members may also have one
/// element a row.
struct Group {
  std::vector<int32_t> members;  ///< in the order of the graph
  Shape shape;
  int axis = -1;  ///< the first of a row, -1 while all members are elementwise
};

class Fuser {
 public:
  explicit Fuser(Graph& graph)
      : graph_(graph),
        producer_(graph.value_count(), -1),
        channels_last_(graph.value_count(), 0),
        across_(graph.nodes.size()),
        seen_(graph.nodes.size(), 0) {
    std::iota(across_.begin(), across_.end(), 0);
  }

  void run() {
    find_readers();
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (ValueId v : graph_.nodes[i].out) producer_[static_cast<size_t>(v)] = static_cast<int32_t>(i);
      candidates_.push_back(candidate(graph_.nodes[i]));
      const bool is_work = candidates_.back().kind == Candidate::Kind::kNo && !graph_.nodes[i].op->view;
      last_work_.push_back(is_work ? static_cast<int32_t>(i) : last_work_.empty() ? -1 : last_work_.back());
      group_.push_back(-1);
      if (candidates_.back().kind != Candidate::Kind::kNo) place(static_cast<int32_t>(i));
    }
    for (Group& g : groups_)
      if (g.members.size() == 1) {
        group_[static_cast<size_t>(g.members[0])] = -1;
        g.members.clear();
      }
    rewrite();
  }

 private:
  void find_readers();
  [[nodiscard]] Candidate candidate(const Node& n);
  void note_order(const Node& n, const Kernel& kernel);
  void place(int32_t node);
  [[nodiscard]] bool can_wait(const Group& g, int32_t node) const;
  [[nodiscard]] bool fits(const Group& g, int32_t node) const;
  [[nodiscard]] bool operands_fit(const Group& g, int32_t node) const;
  [[nodiscard]] bool mergeable(const Group& a, const Group& b) const;
  [[nodiscard]] int32_t closed_before(int32_t first) const;
  [[nodiscard]] bool is_acyclic(int32_t i, int32_t group, int32_t other);
  [[nodiscard]] size_t operand_count(const std::vector<int32_t>& members) const;
  void rewrite();
  void emit(int32_t node);
  void emit_operands(const Node& n, int32_t own_group);
  void emit_group(int32_t group);
  [[nodiscard]] Node& node(int32_t i) { return graph_.nodes[static_cast<size_t>(i)]; }
  [[nodiscard]] const Node& node(int32_t i) const { return graph_.nodes[static_cast<size_t>(i)]; }
  [[nodiscard]] int32_t group_of(int32_t i) const { return group_[static_cast<size_t>(i)]; }
  [[nodiscard]] int32_t producer(ValueId v) const {
    return v == kNoValue ? -1 : producer_[static_cast<size_t>(v)];
  }

  Graph& graph_;
  std::vector<int32_t> producer_;      ///< by value: its node, -1 for inputs and constants
  std::vector<char> channels_last_;    ///< by value: its channels will lie innermost in memory
  std::vector<int32_t> last_reader_;   ///< by value: node, -1 for none, INT32_MAX for results of the graph
  std::vector<Candidate> candidates_;  ///< by node
  std::vector<int32_t> last_work_;  ///< by node: the last one up to it that no region can have, views aside
  std::vector<int32_t> group_;      ///< by node, -1 for none
  std::vector<Group> groups_;       ///< merged ones are left empty
  std::vector<int32_t> across_;     ///< by node: the first node of groups that lie across the place before it
  std::vector<int32_t> seen_;       ///< by node: the search that met it last
  std::vector<int32_t> waiting_;    ///< nodes of a search
  int32_t search_ = 0;
  const size_t most_members_ = static_cast<size_t>(most_members.get());
  std::vector<char> emitted_;  ///< by node
  std::vector<char> needed_;   ///< by value: somebody outside its group reads it
  std::vector<Node> order_;
};

/// Notes whether the results will lie channels-last: where the kernel says so, and where it keeps the order
/// of an operand of the same shape that does.
void Fuser::note_order(const Node& n, const Kernel& kernel) {
  for (ValueId v : n.out) {
    const Shape& shape = graph_.type(v).shape;
    bool is = kernel.out_layout == Layout::kChannelsLast;
    if (kernel.out_layout == Layout::kAny) {
      const auto leading = std::find_if(n.in.begin(), n.in.end(), [&](ValueId from) {
        return from != kNoValue && graph_.type(from).shape == shape;
      });
      is = leading != n.in.end() && channels_last_[static_cast<size_t>(*leading)] != 0;
    }
    channels_last_[static_cast<size_t>(v)] = is && shape.rank() >= 3 ? 1 : 0;
  }
}

/// The kernel says whether a call is elementwise or one of rows; which it is depends on types and attributes
/// alone. Rows of values that lie channels-last are left alone: a region would have them turned around.
Candidate Fuser::candidate(const Node& n) {
  const Traits& traits = n.op->traits;
  if (n.body || traits.ordered || n.op->check_values || n.in.empty() || n.out.empty() || n.in[0] == kNoValue)
    return {};
  SmallVector<Array, 4> in;
  SmallVector<Array, 4> out;
  auto add = [&](ValueId v, SmallVector<Array, 4>& to) {
    if (v == kNoValue) {
      to.push_back({});
      return true;
    }
    const TensorType& t = graph_.type(v);
    to.push_back({nullptr, t.dtype, &t.shape, {}});
    return t.shape.is_concrete() && t.device == Device{};
  };
  bool is_known = true;
  for (ValueId v : n.in) is_known &= add(v, in);
  for (ValueId v : n.out) is_known &= add(v, out);
  if (!is_known || out[0].numel() == 0 || (n.op->view && !traits.elementwise)) return {};
  const KernelCall question{*n.op, n.attrs.ref().data, in, out};
  const Kernel& kernel = choose_kernel(question, Device{});
  note_order(n, kernel);
  if (kernel.row_axis) {
    if (channels_last_[static_cast<size_t>(n.in[0])] != 0) return {};
    const int axis = kernel.row_axis(question);
    if (axis < 0) return {};
    int64_t row = 1;
    for (int i = axis; i < in[0].rank(); ++i) row *= in[0].size(i);
    if (row < kShortestRow || row > longest_row.get()) return {};
    return {Candidate::Kind::kRows, in[0].shape, axis, kernel.whole_in};
  }
  if (!kernel.tile || out.size() != 1) return {};
  const bool all = std::all_of(n.in.begin(), n.in.end(), [](ValueId v) { return v != kNoValue; });
  return all ? Candidate{Candidate::Kind::kElements, out[0].shape} : Candidate{};
}

/// True when `shape` is one element for each row of the group.
bool is_column(const Group& g, const Shape& shape) {
  if (g.axis < 0 || shape.rank() != g.shape.rank()) return false;
  for (int i = 0; i < shape.rank(); ++i)
    if (shape.size(i) != (i < g.axis ? g.shape.size(i) : 1)) return false;
  return true;
}

bool Fuser::fits(const Group& g, int32_t i) const {
  const Candidate& c = candidates_[static_cast<size_t>(i)];
  if (c.kind == Candidate::Kind::kRows)
    return *c.shape == g.shape && (g.axis < 0 || g.axis == c.axis) && operands_fit(g, i);
  return (*c.shape == g.shape || is_column(g, *c.shape)) && operands_fit(g, i);
}

/// Values of the group come to its members tile by tile: no member may need one whole, or as another shape.
bool Fuser::operands_fit(const Group& g, int32_t i) const {
  const Node& n = node(i);
  const Candidate& c = candidates_[static_cast<size_t>(i)];
  Group seen = {{}, g.shape, g.axis < 0 ? c.axis : g.axis};
  for (size_t k = 0; k < n.in.size(); ++k) {
    if (n.in[k] == kNoValue) continue;
    const Shape& shape = graph_.type(n.in[k]).shape;
    const bool is_tile = shape == g.shape || is_column(seen, shape);
    const int32_t from = producer(n.in[k]);
    const bool is_inside =
        from >= 0 && group_of(from) >= 0 && &groups_[static_cast<size_t>(group_of(from))] == &g;
    const bool is_whole = (c.whole_in >> k & 1U) != 0;
    if (is_inside && (is_whole || !is_tile)) return false;
    if (c.kind == Candidate::Kind::kRows && !is_whole && !is_tile) return false;
  }
  return true;
}

void Fuser::find_readers() {
  last_reader_.assign(graph_.value_count(), -1);
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    for (ValueId v : graph_.nodes[i].in)
      if (v != kNoValue) last_reader_[static_cast<size_t>(v)] = static_cast<int32_t>(i);
  for (ValueId v : graph_.outputs) last_reader_[static_cast<size_t>(v)] = INT32_MAX;
}

/// Whether the group may run where `node` does, after other work. What it reads must be kept until then,
/// instead of what the node reads of it: sums of many gradients, for one, better take each as it comes, while
/// it lies in the caches.
bool Fuser::can_wait(const Group& g, int32_t i) const {
  const int32_t last = g.members.back();
  if (last_work_[static_cast<size_t>(i)] <= last) return true;
  auto bytes = [&](ValueId v) {
    const TensorType& t = graph_.type(v);
    return t.shape.numel() * static_cast<int64_t>(dtype_size(t.dtype));
  };
  std::vector<ValueId> kept;
  int64_t more = 0;
  for (int32_t m : g.members) {
    for (ValueId v : node(m).out)
      if (last_reader_[static_cast<size_t>(v)] == i) more -= bytes(v);
    for (ValueId v : node(m).in) {
      if (v == kNoValue || (producer(v) >= 0 && group_of(producer(v)) == group_of(m))) continue;
      int32_t until = last_reader_[static_cast<size_t>(v)];
      for (int32_t from = producer(v); from >= 0 && node(from).op->view; from = producer(v)) {
        v = node(from).in[0];
        until = std::max(until, last_reader_[static_cast<size_t>(v)]);
      }
      if (until > last || producer(v) < 0 || std::find(kept.begin(), kept.end(), v) != kept.end()) continue;
      kept.push_back(v);
      more += bytes(v);
    }
  }
  return more <= waiting_bytes.get();
}

bool Fuser::mergeable(const Group& a, const Group& b) const {
  return a.shape == b.shape && (a.axis < 0 || b.axis < 0 || a.axis == b.axis) &&
         a.members.size() + b.members.size() < most_members_;
}

size_t Fuser::operand_count(const std::vector<int32_t>& members) const {
  std::vector<ValueId> operands;
  for (int32_t m : members)
    for (ValueId v : node(m).in)
      if (v != kNoValue) operands.push_back(v);
  std::sort(operands.begin(), operands.end());
  return static_cast<size_t>(std::unique(operands.begin(), operands.end()) - operands.begin());
}

/// The nodes before this one need no node from `first` on, through whatever groups: no group lies across it.
int32_t Fuser::closed_before(int32_t first) const {
  while (across_[static_cast<size_t>(first)] < first) first = across_[static_cast<size_t>(first)];
  return first;
}

/// True when node `i`, its group and maybe another can become one node: no path leads from them out and back.
/// Groups that exist count as nodes already. To the newest node nothing leads but its operands. A search that
/// takes long is given up: then they stay apart.
bool Fuser::is_acyclic(int32_t i, int32_t group, int32_t other) {
  auto front = [&](int32_t g) { return groups_[static_cast<size_t>(g)].members.front(); };
  const int32_t first = closed_before(other < 0 ? front(group) : std::min(front(group), front(other)));
  ++search_;
  std::vector<int32_t>& waiting = waiting_;
  waiting.assign(1, i);
  if (other >= 0)
    for (int32_t g : {group, other}) {
      const std::vector<int32_t>& members = groups_[static_cast<size_t>(g)].members;
      waiting.insert(waiting.end(), members.begin(), members.end());
    }
  const size_t inside = waiting.size();
  auto add = [&](int32_t n) {
    if (n >= first && std::exchange(seen_[static_cast<size_t>(n)], search_) != search_) waiting.push_back(n);
  };
  for (size_t at = 0; at < waiting.size(); ++at) {
    if (waiting.size() > inside + kLongestSearch) return false;
    for (ValueId v : node(waiting[at]).in) {
      const int32_t from = producer(v);
      if (from < 0) continue;
      const int32_t g = group_of(from);
      if (g >= 0 && (g == group || g == other)) {
        if (at >= inside) return false;
      } else if (g < 0) {
        add(from);
      } else {
        for (int32_t m : groups_[static_cast<size_t>(g)].members) add(m);
      }
    }
  }
  return true;
}

/// Puts the node into the groups that its operands come from, joined into one where that can be, or into a
/// group of its own. Joining saves the bytes of the value between: its read, and its write when nobody else
/// wants it; nothing is computed twice.
void Fuser::place(int32_t i) {
  int32_t target = -1;
  for (ValueId v : node(i).in) {
    const int32_t from = producer(v);
    const int32_t g = from < 0 ? -1 : group_of(from);
    if (g < 0 || g == target) continue;
    Group& group = groups_[static_cast<size_t>(g)];
    if (!can_wait(group, i)) continue;
    std::vector<int32_t> members = group.members;
    if (target >= 0) {
      Group& joined = groups_[static_cast<size_t>(target)];
      if (!mergeable(joined, group) || !fits(group, i)) continue;
      members.insert(members.end(), joined.members.begin(), joined.members.end());
    } else {
      if (!fits(group, i)) continue;
      members.push_back(i);
    }
    std::sort(members.begin(), members.end());
    if (members.size() > most_members_ || operand_count(members) > kMostOperands || !is_acyclic(i, g, target))
      continue;
    const int axis = std::max({group.axis, candidates_[static_cast<size_t>(i)].axis,
                               target >= 0 ? groups_[static_cast<size_t>(target)].axis : -1});
    if (target >= 0) groups_[static_cast<size_t>(target)].members.clear();
    group.axis = axis;
    group.members = std::move(members);
    for (int32_t m : group.members) group_[static_cast<size_t>(m)] = g;
    const int32_t front = group.members.front();
    for (int32_t k = front + 1; k <= i; ++k) {
      int32_t& across = across_[static_cast<size_t>(k)];
      across = std::min(across, front);
    }
    target = g;
  }
  if (target >= 0) return;
  const Candidate& c = candidates_[static_cast<size_t>(i)];
  group_[static_cast<size_t>(i)] = static_cast<int32_t>(groups_.size());
  groups_.push_back({{i}, *c.shape, c.axis});
}

void Fuser::emit_operands(const Node& n, int32_t own_group) {
  for (ValueId v : n.in) {
    const int32_t from = producer(v);
    if (from < 0 || emitted_[static_cast<size_t>(from)]) continue;
    const int32_t g = group_of(from);
    if (g >= 0 && g == own_group) continue;
    g >= 0 ? emit_group(g) : emit(from);
  }
}

void Fuser::emit(int32_t i) {
  emit_operands(node(i), -1);
  emitted_[static_cast<size_t>(i)] = 1;
  order_.push_back(std::move(node(i)));
}

void Fuser::emit_group(int32_t g) {
  const std::vector<int32_t>& members = groups_[static_cast<size_t>(g)].members;
  for (int32_t m : members) emit_operands(node(m), g);
  std::vector<const Node*> nodes;
  for (int32_t m : members) {
    nodes.push_back(&node(m));
    emitted_[static_cast<size_t>(m)] = 1;
  }
  Node call = graph_.call_of(nodes, needed_);
  if (call.out.empty()) return;  // nobody reads it, and members have no effects
  order_.push_back(std::move(call));
}

/// A region stands where its last member stood, or before the first of its readers.
void Fuser::rewrite() {
  needed_.assign(graph_.value_count(), 0);
  for (ValueId v : graph_.outputs) needed_[static_cast<size_t>(v)] = 1;
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    for (ValueId v : graph_.nodes[i].in) {
      const int32_t from = producer(v);
      if (from >= 0 && (group_[i] < 0 || group_of(from) != group_[i])) needed_[static_cast<size_t>(v)] = 1;
    }
  emitted_.assign(graph_.nodes.size(), 0);
  for (size_t i = 0; i < emitted_.size(); ++i) {
    if (emitted_[i]) continue;
    if (group_[i] < 0)
      emit(static_cast<int32_t>(i));
    else if (groups_[static_cast<size_t>(group_[i])].members.back() == static_cast<int32_t>(i))
      emit_group(group_[i]);
  }
  graph_.nodes = std::move(order_);
}

}  // namespace

void fuse(Graph& graph) { Fuser(graph).run(); }

}  // namespace sorus
