#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sorus/base/tunable.h"
#include "sorus/compiler/memories.h"
#include "sorus/compiler/pass_manager.h"

namespace sorus {
namespace {

// A larger region has pieces enough of its own, and its gradient should be gone as soon as it was used.
const Tunable largest_member({.name = "bundle.largest_member",
                              .initial = 64 << 10,
                              .least = 8 << 10,
                              .most = 1 << 20,
                              .part = TunedPart::kProgram,
                              .doc = "bytes of operands and results of a region that is bundled"});
const Tunable waiting_bytes({.name = "bundle.waiting_bytes",
                             .initial = 128 << 10,
                             .least = 16 << 10,
                             .most = 4 << 20,
                             .part = TunedPart::kProgram,
                             .doc = "that may be kept longer so that members wait for the last of them"});
/// Results can be written over operands that have a bit in a mask of 64.
constexpr size_t kMostOperands = 64;

/// Regions that will be one call. None reads what another computes, and nobody does between them.
struct Bundle {
  std::vector<int32_t> members;
  std::vector<ValueId> operands;  ///< distinct
  int64_t waiting = 0;            ///< bytes that are kept longer
  bool is_early = false;          ///< it stands where its first member did, else where its last one did
};

class Bundler {
 public:
  Bundler(Graph& graph, Memories memories)
      : graph_(graph), memories_(std::move(memories)), bundle_of_(graph.value_count(), kNone) {
    is_computed_.resize(graph.value_count());
    for (const Node& n : graph.nodes)
      for (ValueId v : n.out) is_computed_[static_cast<size_t>(v)] = 1;
  }

  void run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& n = graph_.nodes[i];
      for (ValueId v : n.in) close_bundle_that_makes(v);
      if (is_member(n)) place(static_cast<int32_t>(i));
    }
    rewrite();
  }

 private:
  static constexpr int32_t kNone = -1;
  [[nodiscard]] bool is_member(const Node& n) const;
  [[nodiscard]] static std::string kind_of(const Graph& body);
  [[nodiscard]] bool can_come_early(const Node& n) const;
  [[nodiscard]] int64_t bytes(ValueId v) const { return memories_[memories_.number_of(v)].bytes; }
  [[nodiscard]] int64_t freed_by(int32_t node) const;
  [[nodiscard]] int64_t made_by(const Node& n) const;
  void close_bundle_that_makes(ValueId v);
  void place(int32_t node);
  void rewrite();

  Graph& graph_;
  Memories memories_;
  std::vector<int32_t> bundle_of_;  ///< by value: the bundle whose member computes it
  std::vector<char> is_computed_;   ///< by value: a node gives it
  std::vector<Bundle> bundles_;
  std::map<std::string, int32_t> open_;  ///< by kind: the bundle to which members may be added
};

/// A region of elementwise calls that is small. Calls with effects, or that check values, are in no region.
bool Bundler::is_member(const Node& n) const {
  if (!n.body || !n.body->engine.empty()) return false;
  for (const Node& inner : n.body->nodes)
    if (inner.body || !inner.op->traits.elementwise) return false;
  int64_t sum = 0;
  for (ValueId v : n.in) {
    const TensorType& t = graph_.type(v);
    if (!(t.device == Device{})) return false;
    sum += t.shape.numel() * static_cast<int64_t>(dtype_size(t.dtype));
  }
  for (ValueId v : n.out) sum += bytes(v);
  return sum <= largest_member.get();
}

/// What a region computes, but for extents: members of one bundle are of one kind, as the updates of all
/// parameters of an optimizer.
std::string Bundler::kind_of(const Graph& body) {
  std::string kind;
  for (ValueId v : body.inputs) kind += fmt::format("{} ", dtype_name(body.type(v).dtype));
  for (const Node& n : body.nodes) {
    kind += fmt::format("{}{}(", n.op->name, n.attrs.text());
    for (ValueId v : n.in) kind += fmt::format("{} ", v);
    kind += ')';
  }
  for (ValueId v : body.outputs) kind += fmt::format("{} ", v);
  return kind;
}

/// It reads inputs of the graph alone, and none may be written over: as the scale and shift of a norm, which
/// are computed from its parameters before each use.
bool Bundler::can_come_early(const Node& n) const {
  for (ValueId v : n.in)
    if (is_computed_[static_cast<size_t>(v)]) return false;
  return std::none_of(n.out.begin(), n.out.end(),
                      [&](ValueId v) { return memories_[memories_.number_of(v)].stays; });
}

/// Bytes of operands that nobody reads after the node.
int64_t Bundler::freed_by(int32_t node) const {
  int64_t sum = 0;
  for (int32_t m : memories_.read_by(graph_.nodes[static_cast<size_t>(node)])) {
    const Memory& memory = memories_[m];
    if (!memory.is_input && !memory.stays && memory.readers.back() == node) sum += memory.bytes;
  }
  return sum;
}

/// Bytes of results.
int64_t Bundler::made_by(const Node& n) const {
  int64_t sum = 0;
  for (ValueId v : n.out) sum += bytes(v);
  return sum;
}

/// Nobody who reads a result may come before another member, where that will stand.
void Bundler::close_bundle_that_makes(ValueId v) {
  if (v == kNoValue || bundle_of_[static_cast<size_t>(v)] == kNone) return;
  const int32_t made_by = bundle_of_[static_cast<size_t>(v)];
  if (bundles_[static_cast<size_t>(made_by)].is_early) return;
  std::erase_if(open_, [&](const auto& entry) { return entry.second == made_by; });
}

void Bundler::place(int32_t i) {
  const Node& n = graph_.nodes[static_cast<size_t>(i)];
  const bool is_early = can_come_early(n);
  auto [at, is_new] = open_.try_emplace((is_early ? "early " : "") + kind_of(*n.body), kNone);
  auto added = [&](const Bundle& b) {
    std::vector<ValueId> more;
    for (ValueId v : n.in)
      if (std::find(b.operands.begin(), b.operands.end(), v) == b.operands.end()) more.push_back(v);
    return more;
  };
  int64_t waiting = 0;
  if (!is_new) {
    const Bundle& known = bundles_[static_cast<size_t>(at->second)];
    waiting = known.waiting + (is_early ? made_by(n) : freed_by(known.members.back()));
    if (waiting > waiting_bytes.get() || known.operands.size() + added(known).size() > kMostOperands)
      is_new = true;
  }
  if (is_new) {
    at->second = static_cast<int32_t>(bundles_.size());
    bundles_.emplace_back();
    waiting = 0;
  }
  Bundle& b = bundles_[static_cast<size_t>(at->second)];
  b.waiting = waiting;
  b.is_early = is_early;
  for (ValueId v : added(b)) b.operands.push_back(v);
  b.members.push_back(i);
  for (ValueId v : n.out) bundle_of_[static_cast<size_t>(v)] = at->second;
}

/// A bundle stands where its last member stood, or its first.
void Bundler::rewrite() {
  std::vector<int32_t> joined(graph_.nodes.size(), kNone);
  for (size_t b = 0; b < bundles_.size(); ++b)
    if (bundles_[b].members.size() > 1)
      for (int32_t m : bundles_[b].members) joined[static_cast<size_t>(m)] = static_cast<int32_t>(b);
  const std::vector<char> needed(graph_.value_count(), 1);
  std::vector<Node> nodes;
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (joined[i] == kNone) {
      nodes.push_back(std::move(graph_.nodes[i]));
      continue;
    }
    const Bundle& b = bundles_[static_cast<size_t>(joined[i])];
    if ((b.is_early ? b.members.front() : b.members.back()) != static_cast<int32_t>(i)) continue;
    std::vector<const Node*> members;
    for (int32_t m : b.members) members.push_back(&graph_.nodes[static_cast<size_t>(m)]);
    nodes.push_back(graph_.call_of(members, needed));
  }
  graph_.nodes = std::move(nodes);
}

}  // namespace

void bundle(Graph& graph) {
  if (auto memories = Memories::of(graph)) Bundler(graph, std::move(*memories)).run();
}

}  // namespace sorus
