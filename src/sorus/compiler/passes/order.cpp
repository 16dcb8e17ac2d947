#include <algorithm>

#include "sorus/compiler/memories.h"
#include "sorus/compiler/pass_manager.h"

namespace sorus {
namespace {

/// Puts a call as early as it can stand where that frees memory.
class Orderer {
 public:
  Orderer(Graph& graph, Memories memories)
      : graph_(graph), memories_(std::move(memories)), placed_(graph.nodes.size(), 0) {
    find_readers();
  }

  void run() {
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
  void find_readers();
  void place(int32_t node);
  [[nodiscard]] bool may_come_now(int32_t node) const;
  [[nodiscard]] int64_t growth(const Node& n) const;
  [[nodiscard]] bool is_barrier(const Node& n) const {
    return n.op->traits.ordered || (n.op->check_values && !graph_.values_checked);
  }
  [[nodiscard]] const Node& node(int32_t i) const { return graph_.nodes[static_cast<size_t>(i)]; }
  [[nodiscard]] int32_t left(int32_t memory) const { return left_[static_cast<size_t>(memory)]; }

  Graph& graph_;
  Memories memories_;
  std::vector<int32_t> left_;                  ///< by memory: readers that are not placed yet
  std::vector<std::vector<int32_t>> readers_;  ///< by value that a call computes; once for each operand
  std::vector<int32_t> missing_;               ///< by node: operands that no placed call has computed yet
  std::vector<char> placed_;                   ///< by node
  std::vector<int32_t> waiting_;               ///< calls to look at, the next one last
  std::vector<Node> order_;
  int32_t barriers_ = 0;  ///< calls not placed yet that others may not pass
};

void Orderer::find_readers() {
  for (size_t m = 0; m < memories_.size(); ++m)
    left_.push_back(static_cast<int32_t>(memories_[static_cast<int32_t>(m)].readers.size()));
  readers_.resize(graph_.value_count());
  missing_.resize(graph_.nodes.size());
  std::vector<char> is_computed(graph_.value_count(), 0);
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    barriers_ += is_barrier(graph_.nodes[i]);
    for (ValueId v : graph_.nodes[i].in) {
      if (v == kNoValue || !is_computed[static_cast<size_t>(v)]) continue;
      ++missing_[i];
      readers_[static_cast<size_t>(v)].push_back(static_cast<int32_t>(i));
    }
    for (ValueId v : graph_.nodes[i].out) is_computed[static_cast<size_t>(v)] = 1;
  }
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
  for (int32_t m : memories_.read_by(n)) {
    const std::vector<int32_t>& readers = memories_[m].readers;
    if (--left_[static_cast<size_t>(m)] == 1) std::for_each(readers.begin(), readers.end(), look_at);
  }
  // Those that came first in the program are looked at first.
  std::sort(waiting_.begin() + static_cast<std::ptrdiff_t>(known), waiting_.end(), std::greater<>());
  order_.push_back(std::move(graph_.nodes[static_cast<size_t>(i)]));
}

/// A view costs nothing, and others may wait for it.
bool Orderer::may_come_now(int32_t i) const {
  return !placed_[static_cast<size_t>(i)] && missing_[static_cast<size_t>(i)] == 0 && barriers_ == 0 &&
         (makes_view(node(i)) || growth(node(i)) < 0);
}

/// Bytes that are alive after the call and were not before it.
int64_t Orderer::growth(const Node& n) const {
  int64_t sum = 0;
  const SmallVector<int32_t, 8> read = memories_.read_by(n);
  SmallVector<char, 8> is_taken(read.size(), 0);
  for (ValueId v : n.out) {
    const Memory& result = memories_[memories_.number_of(v)];
    sum += result.bytes;
    // What leaves the graph may be written over an input that nobody reads any more.
    for (size_t k = 0; result.stays && k < read.size(); ++k) {
      const Memory& operand = memories_[read[k]];
      if (is_taken[k] || !operand.is_input || operand.stays || left(read[k]) != 1 ||
          operand.bytes != result.bytes)
        continue;
      is_taken[k] = 1;
      sum -= result.bytes;
      break;
    }
  }
  for (int32_t m : read)
    if (!memories_[m].is_input && !memories_[m].stays && left(m) == 1) sum -= memories_[m].bytes;
  return sum;
}

}  // namespace

void order(Graph& graph) {
  if (auto memories = Memories::of(graph)) Orderer(graph, std::move(*memories)).run();
}

}  // namespace sorus
