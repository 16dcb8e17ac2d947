#include <algorithm>
#include <utility>

#include "sorus/base/tunable.h"
#include "sorus/compiler/memories.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/compiler/passes/ask_kernel.h"
#include "sorus/dispatch/row_kernel.h"

namespace sorus {
namespace {

// What the second-level caches hold is there for the second call anyway.
const Tunable least_bytes({.name = "depth_first.least_bytes",
                           .initial = 1 << 20,
                           .least = 64 << 10,
                           .most = 256 << 20,
                           .part = TunedPart::kProgram,
                           .doc = "of a value between two convolutions that is computed as it is wanted"});
constexpr int32_t kNobody = -1;

class Pairer {
 public:
  Pairer(Graph& graph, Memories memories) : graph_(graph), memories_(std::move(memories)) {}

  void run() {
    find_uses();
    first_of_.assign(graph_.nodes.size(), kNobody);
    size_t pairs = 0;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      first_of_[i] = first_for(static_cast<int32_t>(i));
      pairs += first_of_[i] != kNobody ? 1 : 0;
    }
    if (pairs > 0) rewrite();
  }

 private:
  void find_uses();
  [[nodiscard]] int32_t first_for(int32_t second) const;
  [[nodiscard]] bool may_wait(int32_t first, int32_t second) const;
  void rewrite();
  [[nodiscard]] const Node& node(int32_t i) const { return graph_.nodes[static_cast<size_t>(i)]; }
  [[nodiscard]] int64_t bytes(ValueId v) const { return memories_[memories_.number_of(v)].bytes; }

  Graph& graph_;
  Memories memories_;
  std::vector<int32_t> producer_;  ///< by value: its node
  std::vector<int32_t> readers_;   ///< by value: how many operands it is; the graph's results are readers too
  std::vector<int32_t> first_of_;  ///< by node: the one that will run as this one wants it
};

void Pairer::find_uses() {
  producer_.assign(graph_.value_count(), kNobody);
  readers_.assign(graph_.value_count(), 0);
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    for (ValueId v : graph_.nodes[i].out) producer_[static_cast<size_t>(v)] = static_cast<int32_t>(i);
    for (ValueId v : graph_.nodes[i].in)
      if (v != kNoValue) ++readers_[static_cast<size_t>(v)];
  }
  for (ValueId v : graph_.outputs) ++readers_[static_cast<size_t>(v)];
}

/// The convolution with which a call as `epilogue` makes it begins, where the call has nothing between it and
/// what follows; else null.
const Node* head_of(const Node& n) {
  if (!n.body || !n.body->engine.empty() || n.body->nodes.size() != 2) return nullptr;
  const Node& head = n.body->nodes.front();
  return !head.body && n.body->nodes.back().body ? &head : nullptr;
}

/// The call that can run as `second` wants it: its result is an operand of the convolution there, and nobody
/// else reads it.
int32_t Pairer::first_for(int32_t second) const {
  const Node& to = node(second);
  const Node* head = head_of(to);
  if (!head || head->in.empty()) return kNobody;
  const Graph& body = *to.body;
  const auto at = std::find(body.inputs.begin(), body.inputs.end(), head->in[0]) - body.inputs.begin();
  if (at == static_cast<std::ptrdiff_t>(body.inputs.size())) return kNobody;
  auto reads = [&](const Node& n) { return std::count(n.in.begin(), n.in.end(), head->in[0]); };
  const ValueId between = to.in[static_cast<size_t>(at)];
  const int32_t first = producer_[static_cast<size_t>(between)];
  if (first == kNobody || readers_[static_cast<size_t>(between)] != 1) return kNobody;
  if (reads(*head) != 1 || reads(body.nodes.back()) != 0) return kNobody;
  const Node& from = node(first);
  const Node* own_head = head_of(from);
  if (!own_head || from.out.size() != 1 || first_of_[static_cast<size_t>(first)] != kNobody) return kNobody;
  if (bytes(between) < least_bytes.get() || !may_wait(first, second)) return kNobody;
  const bool is_able = ask_kernel(*from.body, *own_head, gives_rows) && ask_kernel(body, *head, takes_rows);
  return is_able ? first : kNobody;
}

/// What the first call reads, and is kept until the second one runs, takes no more than what is not kept.
bool Pairer::may_wait(int32_t first, int32_t second) const {
  int64_t more = 0;
  for (int32_t m : memories_.read_by(node(first))) {
    const Memory& memory = memories_[m];
    if (!memory.is_input && !memory.stays && memory.readers.back() < second) more += memory.bytes;
  }
  return more <= bytes(node(first).out[0]);
}

void Pairer::rewrite() {
  std::vector<char> is_moved(graph_.nodes.size(), 0);
  for (int32_t first : first_of_)
    if (first != kNobody) is_moved[static_cast<size_t>(first)] = 1;
  std::vector<Node> firsts(graph_.nodes.size());
  std::vector<Node> nodes;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    Node& n = graph_.nodes[i];
    if (is_moved[i]) {
      firsts[i] = std::move(n);
      continue;
    }
    if (first_of_[i] == kNobody) {
      nodes.push_back(std::move(n));
      continue;
    }
    std::vector<char> needed(graph_.value_count(), 0);
    for (ValueId v : n.out) needed[static_cast<size_t>(v)] = 1;
    const Node* const members[] = {&firsts[static_cast<size_t>(first_of_[i])], &n};
    nodes.push_back(graph_.call_of(members, needed));
  }
  graph_.nodes = std::move(nodes);
}

}  // namespace

void run_depth_first(Graph& graph) {
  if (auto memories = Memories::of(graph)) Pairer(graph, std::move(*memories)).run();
}

}  // namespace sorus
