#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "sorus/base/log.h"
#include "sorus/compiler/memories.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/engine/engine.h"

namespace sorus {
namespace {

constexpr int kMostRounds = 1024;
/// Calls that are repeated for one value.
constexpr size_t kLongestChain = 8;

/// A value that lies idle while most memory is in use, and the calls that would give it back.
struct Choice {
  int32_t memory = -1;
  int32_t before = -1;         ///< the call that reads it next
  std::vector<int32_t> calls;  ///< to repeat, in the order of the graph
  double gain = 0;             ///< bytes for each nanosecond
};

/// Computes values anew instead of keeping them, until what is alive at once fits.
class Recomputer {
 public:
  Recomputer(Graph& graph, int64_t limit) : graph_(graph), limit_(limit) {}

  void run() {
    for (int round = 0; round < kMostRounds; ++round) {
      if (!look() || alive_[static_cast<size_t>(peak_)] <= limit_) return;
      const Choice best = choose();
      if (best.memory < 0) break;
      repeat(best);
      eliminate_dead(graph_);  // nobody may have read the first one
    }
    warn_once("memory limit",
              fmt::format("recompute: a program does not fit: got {} MB for graph '{}', need {} MB or less",
                          alive_[static_cast<size_t>(peak_)] >> 20, graph_.name, limit_ >> 20));
  }

 private:
  bool look();
  [[nodiscard]] Choice choose() const;
  [[nodiscard]] bool collect(int32_t node, Choice& choice, int64_t& extra) const;
  [[nodiscard]] bool may_repeat(const Node& n) const;
  [[nodiscard]] bool is_there(const Memory& m, int32_t at) const;
  void repeat(const Choice& choice);
  [[nodiscard]] const Node& node(int32_t i) const { return graph_.nodes[static_cast<size_t>(i)]; }
  [[nodiscard]] bool is_planned(const Memory& m) const { return m.made_by >= 0 && !m.stays; }

  Graph& graph_;
  int64_t limit_;
  std::optional<Memories> memories_;
  std::vector<int64_t> alive_;  ///< by node: bytes between calls that are alive while it runs
  int32_t peak_ = 0;            ///< the node where that is most
};

/// False where nobody can tell.
bool Recomputer::look() {
  memories_ = Memories::of(graph_);
  if (!memories_ || graph_.nodes.empty()) return false;
  std::vector<int64_t> change(graph_.nodes.size() + 1, 0);
  for (size_t i = 0; i < memories_->size(); ++i) {
    const Memory& m = (*memories_)[static_cast<int32_t>(i)];
    if (!is_planned(m)) continue;
    change[static_cast<size_t>(m.made_by)] += m.bytes;
    change[static_cast<size_t>(m.readers.empty() ? m.made_by : m.readers.back()) + 1] -= m.bytes;
  }
  alive_.resize(graph_.nodes.size());
  int64_t now = 0;
  for (size_t i = 0; i < alive_.size(); ++i) alive_[i] = now += change[i];
  peak_ = static_cast<int32_t>(std::max_element(alive_.begin(), alive_.end()) - alive_.begin());
  return true;
}

Choice Recomputer::choose() const {
  Choice best;
  for (size_t i = 0; i < memories_->size(); ++i) {
    const Memory& m = (*memories_)[static_cast<int32_t>(i)];
    if (!is_planned(m) || m.made_by >= peak_) continue;
    const auto next = std::lower_bound(m.readers.begin(), m.readers.end(), peak_);
    if (next == m.readers.end() || *next == peak_) continue;
    Choice choice{static_cast<int32_t>(i), *next, {}, 0};
    int64_t extra = 0;
    if (!collect(m.made_by, choice, extra) ||
        alive_[static_cast<size_t>(*next)] + extra - m.bytes > alive_[static_cast<size_t>(peak_)] - m.bytes)
      continue;
    double time = 0;
    for (int32_t c : choice.calls) time += host_cost(graph_, node(c));
    choice.gain = static_cast<double>(m.bytes) / std::max(time, 1.0);
    if (choice.gain > best.gain) best = std::move(choice);
  }
  if (best.memory >= 0) std::sort(best.calls.begin(), best.calls.end());
  return best;
}

/// The call, and those that give operands which are gone when it is repeated. `extra` sums up their results.
bool Recomputer::collect(int32_t i, Choice& choice, int64_t& extra) const {
  if (std::find(choice.calls.begin(), choice.calls.end(), i) != choice.calls.end()) return true;
  const Node& n = node(i);
  if (choice.calls.size() == kLongestChain || !may_repeat(n)) return false;
  choice.calls.push_back(i);
  for (ValueId v : n.out) extra += (*memories_)[memories_->number_of(v)].bytes;
  for (int32_t m : memories_->read_by(n)) {
    const Memory& operand = (*memories_)[m];
    if (is_there(operand, choice.before)) continue;
    if (operand.made_by < 0 || !collect(operand.made_by, choice, extra)) return false;
  }
  return true;
}

/// It is alive at that call anyway. Inputs always are, but where one is updated, the new value takes its
/// place.
bool Recomputer::is_there(const Memory& m, int32_t at) const {
  if (m.stays || (!m.readers.empty() && m.readers.back() >= at)) return true;
  if (!m.is_input || m.readers.empty()) return m.is_input;
  const Node& last = node(m.readers.back());
  return std::none_of(last.out.begin(), last.out.end(), [&](ValueId v) {
    const Memory& result = (*memories_)[memories_->number_of(v)];
    return result.stays && result.bytes == m.bytes;
  });
}

bool Recomputer::may_repeat(const Node& n) const {
  const bool may_throw = n.op->check_values && !graph_.values_checked;
  const bool is_known = n.body ? n.body->engine.empty() : n.op->cost || n.op->traits.elementwise;
  return is_known && !may_throw && !n.op->traits.ordered;
}

/// Puts copies of the calls before the one that reads the value next; it and all later ones read the copy's.
void Recomputer::repeat(const Choice& choice) {
  std::map<ValueId, ValueId> copies;
  std::vector<Node> added;
  auto copy = [&](const Node& n) {
    Node again = n;
    for (ValueId& v : again.in)
      if (auto at = copies.find(v); at != copies.end()) v = at->second;
    for (ValueId& v : again.out) {
      const TensorType type = graph_.type(v);
      const ValueId made = graph_.add_value(type);
      copies[v] = made;
      v = made;
    }
    added.push_back(std::move(again));
  };
  for (int32_t c : choice.calls) copy(node(c));
  // Views of what was repeated that calls further down look at.
  for (int32_t i = 0; i < choice.before; ++i)
    if (makes_view(node(i)) && copies.count(node(i).in[0]) != 0 &&
        memories_->number_of(node(i).out[0]) == choice.memory)
      copy(node(i));
  // Views that are made from here on look at the copy, so that who reads them does.
  for (size_t i = static_cast<size_t>(choice.before); i < graph_.nodes.size(); ++i)
    for (ValueId& v : graph_.nodes[i].in)
      if (v != kNoValue && memories_->number_of(v) == choice.memory)
        if (auto at = copies.find(v); at != copies.end()) v = at->second;
  graph_.nodes.insert(graph_.nodes.begin() + choice.before, std::make_move_iterator(added.begin()),
                      std::make_move_iterator(added.end()));
}

}  // namespace

void recompute(Graph& graph) { Recomputer(graph, memory_limit()).run(); }

}  // namespace sorus
