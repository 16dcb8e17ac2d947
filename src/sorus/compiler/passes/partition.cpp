#include "sorus/compiler/partition.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include "sorus/compiler/pass_manager.h"
#include "sorus/engine/choice.h"

namespace sorus {
namespace {

constexpr int32_t kNone = -1;
constexpr int kMostSweeps = 4;
constexpr int kMostRounds = 8;

double bytes_of(const TensorType& t) {
  return static_cast<double>(t.shape.numel()) * static_cast<double>(dtype_size(t.dtype));
}

bool has_own_memory(const Engine* engine) { return engine && engine->facts().own_memory; }

/// Through one border.
double copy_cost(const Engine* engine, const TensorType& type) {
  if (!has_own_memory(engine)) return 0;
  return engine->facts().copy_ns + engine->facts().copy_ns_per_byte * bytes_of(type);
}

/// Who makes and reads each value.
struct Uses {
  explicit Uses(const Graph& graph) : maker(graph.value_count(), kNone), readers(graph.value_count()) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (ValueId v : graph.nodes[i].out) maker[static_cast<size_t>(v)] = static_cast<int32_t>(i);
      for (ValueId v : graph.nodes[i].in)
        if (v != kNoValue && (readers[static_cast<size_t>(v)].empty() ||
                              readers[static_cast<size_t>(v)].back() != static_cast<int32_t>(i)))
          readers[static_cast<size_t>(v)].push_back(static_cast<int32_t>(i));
    }
    is_result.assign(graph.value_count(), 0);
    for (ValueId v : graph.outputs) is_result[static_cast<size_t>(v)] = 1;
  }
  std::vector<int32_t> maker;  ///< by value: its node, kNone for inputs and constants
  std::vector<std::vector<int32_t>> readers;
  std::vector<char> is_result;
};

/// What runs as one: a call of the host, or a part of an engine.
struct Unit {
  std::shared_ptr<Engine> engine;
  std::vector<int32_t> members;
};

/// What must not happen before what stood before it, on the host.
bool is_effect(const Node& n) { return n.op->traits.ordered || n.op->check_values || n.op->checks_inside; }

/// A call's level is that of its operands, or one more where they are made elsewhere. Calls of one engine on
/// one level are a part: a way from one part to another leads to a higher level, so that none leads back.
/// Calls with effects follow on each other as if one read the other.
std::vector<Unit> units_of(const Graph& graph, const Uses& uses, const Assignment& engines) {
  std::vector<int32_t> level(graph.nodes.size(), 0);
  std::vector<Unit> units;
  std::map<std::pair<const Engine*, int32_t>, size_t> parts;
  int32_t last_effect = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (ValueId v : graph.nodes[i].in) {
      const int32_t from = v == kNoValue ? kNone : uses.maker[static_cast<size_t>(v)];
      if (from == kNone) continue;
      const auto f = static_cast<size_t>(from);
      level[i] = std::max(level[i], level[f] + (engines[f] == engines[i] ? 0 : 1));
    }
    if (!engines[i] && is_effect(graph.nodes[i])) last_effect = level[i] = std::max(level[i], last_effect);
    size_t unit = units.size();
    if (engines[i]) unit = parts.try_emplace({engines[i].get(), level[i]}, unit).first->second;
    if (unit == units.size()) units.push_back({engines[i], {}});
    units[unit].members.push_back(static_cast<int32_t>(i));
  }
  return units;
}

/// Puts units in place of the calls.
class Cutter {
 public:
  Cutter(Graph& graph, const Uses& uses, std::vector<Unit> units)
      : graph_(graph), uses_(uses), units_(std::move(units)), unit_of_(graph.nodes.size()) {
    for (size_t u = 0; u < units_.size(); ++u)
      for (int32_t m : units_[u].members) unit_of_[static_cast<size_t>(m)] = static_cast<int32_t>(u);
  }

  void run() {
    find_order();
    std::vector<Node> nodes;
    for (int32_t u : order_) {
      const Unit& unit = units_[static_cast<size_t>(u)];
      Node made = unit.engine ? part(unit, u) : std::move(node(unit.members[0]));
      if (!made.out.empty() || !unit.engine) nodes.push_back(std::move(made));
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  Node& node(int32_t i) { return graph_.nodes[static_cast<size_t>(i)]; }

  /// Of all units that can come next, that comes whose last call stood first. Calls with effects or checks
  /// keep the order in which they stood.
  void find_order() {
    std::vector<std::set<int32_t>> after(units_.size());
    std::vector<int> waits(units_.size(), 0);
    auto depends = [&](int32_t unit, int32_t on) {
      if (unit != on && after[static_cast<size_t>(on)].insert(unit).second)
        ++waits[static_cast<size_t>(unit)];
    };
    int32_t last_effect = kNone;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& n = graph_.nodes[i];
      for (ValueId v : n.in)
        if (v != kNoValue && uses_.maker[static_cast<size_t>(v)] != kNone)
          depends(unit_of_[i], unit_of_[static_cast<size_t>(uses_.maker[static_cast<size_t>(v)])]);
      if (units_[static_cast<size_t>(unit_of_[i])].engine || !is_effect(n)) continue;
      if (last_effect != kNone) depends(unit_of_[i], last_effect);
      last_effect = unit_of_[i];
    }
    using Place = std::pair<int32_t, int32_t>;  // last member, unit
    std::priority_queue<Place, std::vector<Place>, std::greater<>> ready;
    auto add = [&](int32_t u) { ready.emplace(units_[static_cast<size_t>(u)].members.back(), u); };
    for (size_t u = 0; u < units_.size(); ++u)
      if (waits[u] == 0) add(static_cast<int32_t>(u));
    while (!ready.empty()) {
      const int32_t u = ready.top().second;
      ready.pop();
      order_.push_back(u);
      for (int32_t next : after[static_cast<size_t>(u)])
        if (--waits[static_cast<size_t>(next)] == 0) add(next);
    }
    SORUS_INTERNAL(order_.size() == units_.size(), "partition: parts of {} wait for each other", graph_.name);
  }

  /// Somebody outside of the unit reads the value.
  [[nodiscard]] bool leaves(ValueId v, int32_t unit) const {
    const std::vector<int32_t>& readers = uses_.readers[static_cast<size_t>(v)];
    return uses_.is_result[static_cast<size_t>(v)] ||
           std::any_of(readers.begin(), readers.end(),
                       [&](int32_t r) { return unit_of_[static_cast<size_t>(r)] != unit; });
  }

  Node part(const Unit& unit, int32_t number) {
    auto body = std::make_shared<Graph>();
    body->name = "part";
    body->engine = unit.engine->name();
    body->values_checked = graph_.values_checked;
    const bool own_memory = unit.engine->facts().own_memory;
    Node call;
    call.op = &call_op();
    std::map<ValueId, ValueId> inside;
    auto border = [&](const OpDef& op, ValueId v) {
      return body->add_node(op, AttrsRef(NoAttrs{}), std::span<const ValueId>(&v, 1)).out[0];
    };
    auto enter = [&](ValueId v) {
      auto [at, is_new] = inside.try_emplace(v, kNoValue);
      if (!is_new) return at->second;
      if (graph_.is_constant(v)) return at->second = body->add_constant(graph_.constant(v));
      call.in.push_back(v);
      const ValueId input = body->add_input(graph_.type(v));
      return at->second = own_memory ? border(to_engine_op(), input) : input;
    };
    std::vector<ValueId> results;
    for (int32_t m : unit.members) {
      Node copy = node(m);
      for (ValueId& v : copy.in)
        if (v != kNoValue) v = enter(v);
      for (ValueId& v : copy.out) {
        if (leaves(v, number)) results.push_back(v);
        v = inside[v] = body->add_value(graph_.type(v));
      }
      call.site = copy.site;
      body->nodes.push_back(std::move(copy));
    }
    for (ValueId v : results) {
      const ValueId made = inside.at(v);
      body->outputs.push_back(own_memory ? border(from_engine_op(), made) : made);
      call.out.push_back(v);
    }
    call.body = std::move(body);
    return call;
  }

  Graph& graph_;
  const Uses& uses_;
  std::vector<Unit> units_;
  std::vector<int32_t> unit_of_;  ///< by node
  std::vector<int32_t> order_;
};

/// Gives each call to an engine.
class Assigner {
 public:
  explicit Assigner(const Graph& graph) : graph_(graph), uses_(graph), chosen_(graph.nodes.size()) {}

  Assignment run() {
    find_offers();
    for (size_t i = 0; i < offers_.size(); ++i)
      chosen_[i] = std::min_element(offers_[i].begin(), offers_[i].end(), [](const Offer& a, const Offer& b) {
                     return a.ns < b.ns;
                   })->engine;
    for (int sweep = 0; sweep < kMostSweeps && improve(sweep % 2 == 1); ++sweep) {
    }
    for (int round = 0; round < kMostRounds && drop_parts_that_lose(); ++round) {
    }
    return std::move(chosen_);
  }

 private:
  struct Offer {
    std::shared_ptr<Engine> engine;  ///< null for the host
    double ns;
  };

  /// Who takes each call, the host first unless another engine is asked for and takes it.
  void find_offers() {
    std::vector<std::shared_ptr<Engine>> present;
    for (const auto& e : engines())
      if (!is_forbidden(e->name()) && (e->facts().numerics == kHostEngine || is_demanded(e->name(), "")))
        present.push_back(e);
    for (const Node& n : graph_.nodes) offers_.push_back(offers_for(n, present));
  }
  [[nodiscard]] std::vector<Offer> offers_for(const Node& n,
                                              std::span<const std::shared_ptr<Engine>> present) const {
    std::vector<Offer> offers{{nullptr, 0}};
    if (!may_leave_host(graph_, n)) return offers;
    offers[0].ns = host_cost(graph_, n);
    if (is_demanded(std::string(kHostEngine), n.op->name)) return offers;
    for (const auto& engine : present) {
      const bool wanted = is_demanded(engine->name(), n.op->name);
      if (!wanted && engine->facts().numerics != kHostEngine) continue;
      const std::optional<double> ns = engine->cost(graph_, n);
      if (!ns) continue;
      if (wanted) return {{engine, *ns}};
      offers.push_back({engine, *ns});
    }
    return offers;
  }

  /// One way through the calls: each goes where it and its borders cost least, as its neighbours stand. True
  /// when one moved.
  bool improve(bool backwards) {
    bool moved = false;
    const size_t count = graph_.nodes.size();
    for (size_t k = 0; k < count; ++k) {
      const size_t i = backwards ? count - 1 - k : k;
      if (offers_[i].size() < 2) continue;
      const Offer* best = nullptr;
      double least = 0;
      for (const Offer& o : offers_[i]) {
        const double ns = o.ns + border_cost(i, o.engine.get());
        if (best && ns >= least) continue;
        best = &o;
        least = ns;
      }
      moved |= chosen_[i] != best->engine;
      chosen_[i] = best->engine;
    }
    return moved;
  }

  /// Of the copies around one call, were it on that engine.
  [[nodiscard]] double border_cost(size_t i, const Engine* engine) const {
    const Node& n = graph_.nodes[i];
    double ns = 0;
    auto cross = [&](const Engine* from, const Engine* to, ValueId v) {
      if (from != to) ns += copy_cost(from, graph_.type(v)) + copy_cost(to, graph_.type(v));
    };
    for (size_t k = 0; k < n.in.size(); ++k) {
      const ValueId v = n.in[k];
      if (v == kNoValue || graph_.is_constant(v) ||
          std::find(n.in.begin(), n.in.begin() + k, v) != n.in.begin() + k)
        continue;
      const int32_t from = uses_.maker[static_cast<size_t>(v)];
      cross(from == kNone ? nullptr : chosen_[static_cast<size_t>(from)].get(), engine, v);
    }
    for (ValueId v : n.out) {
      std::set<const Engine*> readers;
      if (uses_.is_result[static_cast<size_t>(v)]) readers.insert(nullptr);
      for (int32_t r : uses_.readers[static_cast<size_t>(v)])
        readers.insert(chosen_[static_cast<size_t>(r)].get());
      for (const Engine* reader : readers) cross(engine, reader, v);
    }
    return ns;
  }

  /// Parts that cost more than they save go back to the host. True when there were any.
  bool drop_parts_that_lose() {
    bool dropped = false;
    for (const Unit& unit : units_of(graph_, uses_, chosen_)) {
      if (!unit.engine || gain(unit) > 0) continue;
      for (int32_t m : unit.members) chosen_[static_cast<size_t>(m)] = nullptr;
      dropped = true;
    }
    return dropped;
  }

  /// What the part saves against the host; a wish of the user's counts more than anything.
  [[nodiscard]] double gain(const Unit& unit) const {
    const EngineFacts& facts = unit.engine->facts();
    double ns = -facts.start_ns;
    std::set<ValueId> in;
    std::set<int32_t> members(unit.members.begin(), unit.members.end());
    for (int32_t m : unit.members) {
      const auto i = static_cast<size_t>(m);
      if (offers_[i].size() == 1) return std::numeric_limits<double>::infinity();
      for (const Offer& o : offers_[i])
        if (!o.engine || o.engine == unit.engine) ns += o.engine ? -o.ns : o.ns;
      for (ValueId v : graph_.nodes[i].in)
        if (v != kNoValue && !graph_.is_constant(v) && !members.contains(uses_.maker[static_cast<size_t>(v)]))
          in.insert(v);
      for (ValueId v : graph_.nodes[i].out) {
        const auto& readers = uses_.readers[static_cast<size_t>(v)];
        const bool leaves =
            uses_.is_result[static_cast<size_t>(v)] ||
            std::any_of(readers.begin(), readers.end(), [&](int32_t r) { return !members.contains(r); });
        if (leaves) ns -= copy_cost(unit.engine.get(), graph_.type(v));
      }
    }
    for (ValueId v : in) ns -= copy_cost(unit.engine.get(), graph_.type(v));
    return ns;
  }

  const Graph& graph_;
  Uses uses_;
  std::vector<std::vector<Offer>> offers_;  ///< by node
  Assignment chosen_;
};

}  // namespace

Assignment assign_engines(const Graph& graph) { return Assigner(graph).run(); }

void cut_graph(Graph& graph, const Assignment& engines) {
  SORUS_INTERNAL(engines.size() == graph.nodes.size(), "partition: {} engines for {} calls", engines.size(),
                 graph.nodes.size());
  const Uses uses(graph);
  Cutter(graph, uses, units_of(graph, uses, engines)).run();
}

void partition(Graph& graph) {
  const Assignment engines = assign_engines(graph);
  const bool any = std::any_of(engines.begin(), engines.end(), [](const auto& e) { return e != nullptr; });
  if (any) cut_graph(graph, engines);
}

std::vector<std::shared_ptr<Engine>> engines_of(const Graph& graph) {
  std::vector<std::shared_ptr<Engine>> found;
  for (const Node& n : graph.nodes) {
    if (!n.body || n.body->engine.empty()) continue;
    std::shared_ptr<Engine> engine = find_engine(n.body->engine);
    if (engine && std::find(found.begin(), found.end(), engine) == found.end())
      found.push_back(std::move(engine));
  }
  return found;
}

std::string part_problem(const Graph& part) {
  const std::shared_ptr<Engine> engine = find_engine(part.engine);
  if (!engine)
    return fmt::format("engine: a part is for an engine that is not loaded: got '{}', need one of {}",
                       part.engine, engine_names());
  for (const Node& n : part.nodes) {
    const bool is_border = n.op == &to_engine_op() || n.op == &from_engine_op();
    if (is_border ? !engine->facts().own_memory : !may_leave_host(part, n) || !engine->cost(part, n))
      return fmt::format("engine {}: a part has a call that it does not take: got {}, need a part cut for it",
                         part.engine, n.op->name);
  }
  return {};
}

std::string parts_problem(const Graph& graph) {
  for (const Node& n : graph.nodes)
    if (n.body && !n.body->engine.empty())
      if (std::string problem = part_problem(*n.body); !problem.empty()) return problem;
  return {};
}

}  // namespace sorus
