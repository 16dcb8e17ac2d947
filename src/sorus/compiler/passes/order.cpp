#include <algorithm>

#include "sorus/compiler/pass_manager.h"

namespace sorus {
namespace {

/// What is known of the memory behind a value, which views of it share.
struct Memory {
  int64_t bytes = 0;
  bool is_input = false;  ///< it comes from outside: a result may be written over it, but it frees nothing
  bool stays = false;     ///< constants and results of the graph
  std::vector<int32_t> readers;
  int32_t left = 0;  ///< readers that are not placed yet
};

/// Puts a call as early as it can stand where that frees memory.
class Orderer {
 public:
  explicit Orderer(Graph& graph) : graph_(graph), placed_(graph.nodes.size(), 0) {}

  void run() {
    if (!find_memory()) return;
    order_.reserve(graph_.nodes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (placed_[i]) continue;
      waiting_.push_back(static_cast<int32_t>(i));
      while (!waiting_.empty()) {
        const int32_t next = waiting_.back();
        waiting_.pop_back();
        if (next == static_cast<int32_t>(i) || may_come_now(next)) place(next);
      }
    }
    graph_.nodes = std::move(order_);
  }

 private:
  bool find_memory();
  void place(int32_t node);
  [[nodiscard]] bool may_come_now(int32_t node) const;
  [[nodiscard]] int64_t growth(const Node& n) const;
  [[nodiscard]] bool is_barrier(const Node& n) const {
    return n.op->traits.ordered || (n.op->check_values && !graph_.values_checked);
  }
  [[nodiscard]] static bool is_view(const Node& n) { return n.op->view && n.out.size() == 1; }
  [[nodiscard]] const Node& node(int32_t i) const { return graph_.nodes[static_cast<size_t>(i)]; }
  [[nodiscard]] int32_t memory_of(ValueId v) const { return memory_of_[static_cast<size_t>(v)]; }
  /// The distinct memories that a call reads.
  [[nodiscard]] SmallVector<int32_t, 8> memories_of(const Node& n) const {
    SmallVector<int32_t, 8> all;
    for (ValueId v : n.in)
      if (v != kNoValue && std::find(all.begin(), all.end(), memory_of(v)) == all.end())
        all.push_back(memory_of(v));
    return all;
  }
  [[nodiscard]] Memory& memory(int32_t m) { return memories_[static_cast<size_t>(m)]; }
  [[nodiscard]] const Memory& memory(int32_t m) const { return memories_[static_cast<size_t>(m)]; }

  Graph& graph_;
  std::vector<Memory> memories_;
  std::vector<int32_t> memory_of_;             ///< by value
  std::vector<std::vector<int32_t>> readers_;  ///< by value that a call computes; once for each operand
  std::vector<int32_t> missing_;               ///< by node: operands that no placed call has computed yet
  std::vector<char> placed_;                   ///< by node
  std::vector<int32_t> waiting_;               ///< calls to look at, the next one last
  std::vector<Node> order_;
  int32_t barriers_ = 0;  ///< calls not placed yet that others may not pass
};

/// False where extents are not known, and nobody can tell what is large.
bool Orderer::find_memory() {
  memory_of_.assign(graph_.value_count(), -1);
  auto add = [&](ValueId v, bool is_input, bool stays) {
    const TensorType& t = graph_.type(v);
    if (!t.shape.is_concrete()) return false;
    memory_of_[static_cast<size_t>(v)] = static_cast<int32_t>(memories_.size());
    const auto size = static_cast<int64_t>(dtype_size(t.dtype));
    memories_.push_back({t.shape.numel() * size, is_input, stays, {}, 0});
    return true;
  };
  bool is_known = true;
  for (ValueId v : graph_.inputs) is_known &= add(v, true, false);
  for (size_t v = 0; v < graph_.value_count(); ++v)
    if (graph_.is_constant(static_cast<ValueId>(v))) is_known &= add(static_cast<ValueId>(v), false, true);
  readers_.resize(graph_.value_count());
  std::vector<char> is_computed(graph_.value_count(), 0);
  for (size_t i = 0; is_known && i < graph_.nodes.size(); ++i) {
    const Node& n = graph_.nodes[i];
    barriers_ += is_barrier(n);
    missing_.push_back(0);
    for (ValueId v : n.in) {
      if (v == kNoValue || !is_computed[static_cast<size_t>(v)]) continue;
      ++missing_.back();
      readers_[static_cast<size_t>(v)].push_back(static_cast<int32_t>(i));
    }
    for (int32_t m : memories_of(n)) {
      memory(m).readers.push_back(static_cast<int32_t>(i));
      ++memory(m).left;
    }
    for (ValueId v : n.out) {
      is_computed[static_cast<size_t>(v)] = 1;
      if (is_view(n))
        memory_of_[static_cast<size_t>(v)] = memory_of(n.in[0]);
      else
        is_known &= add(v, false, false);
    }
  }
  for (ValueId v : graph_.outputs)
    if (is_known) memory(memory_of(v)).stays = true;
  return is_known;
}

void Orderer::place(int32_t i) {
  const Node& n = node(i);
  placed_[static_cast<size_t>(i)] = 1;
  barriers_ -= is_barrier(n);
  const size_t known = waiting_.size();
  auto look_at = [&](int32_t r) {
    if (!placed_[static_cast<size_t>(r)] && missing_[static_cast<size_t>(r)] == 0) waiting_.push_back(r);
  };
  for (ValueId v : n.out)
    for (int32_t r : readers_[static_cast<size_t>(v)]) {
      --missing_[static_cast<size_t>(r)];
      look_at(r);
    }
  // The last reader of a memory frees it.
  for (int32_t m : memories_of(n))
    if (--memory(m).left == 1) std::for_each(memory(m).readers.begin(), memory(m).readers.end(), look_at);
  // Those that came first in the program are looked at first.
  std::sort(waiting_.begin() + static_cast<std::ptrdiff_t>(known), waiting_.end(), std::greater<>());
  order_.push_back(std::move(graph_.nodes[static_cast<size_t>(i)]));
}

/// A call that only looks at memory in another way costs nothing, and others may wait for it.
bool Orderer::may_come_now(int32_t i) const {
  return !placed_[static_cast<size_t>(i)] && missing_[static_cast<size_t>(i)] == 0 && barriers_ == 0 &&
         (is_view(node(i)) || growth(node(i)) < 0);
}

/// Bytes that are alive after the call and were not before it.
int64_t Orderer::growth(const Node& n) const {
  int64_t sum = 0;
  const SmallVector<int32_t, 8> read = memories_of(n);
  SmallVector<char, 8> is_taken(read.size(), 0);
  for (ValueId v : n.out) {
    const Memory& result = memory(memory_of(v));
    sum += result.bytes;
    // What leaves the graph may be written over an input that nobody reads any more.
    for (size_t k = 0; result.stays && k < read.size(); ++k) {
      const Memory& operand = memory(read[k]);
      if (is_taken[k] || !operand.is_input || operand.stays || operand.left != 1 ||
          operand.bytes != result.bytes)
        continue;
      is_taken[k] = 1;
      sum -= result.bytes;
      break;
    }
  }
  for (int32_t m : read)
    if (!memory(m).is_input && !memory(m).stays && memory(m).left == 1) sum -= memory(m).bytes;
  return sum;
}

}  // namespace

void order(Graph& graph) { Orderer(graph).run(); }

}  // namespace sorus
