#include <algorithm>
#include <atomic>
#include <mutex>

#include "sorus/base/fork_mutex.h"
#include "sorus/engine/engine.h"

namespace sorus {
namespace {

constexpr double kFlopsPerNs = 50;
constexpr double kBytesPerNs = 10;
constexpr double kCallNs = 200;

struct Registry {
  ForkMutex mutex;
  std::vector<std::shared_ptr<Engine>> engines;
  std::atomic<uint64_t> generation{0};
  std::atomic<int> automatic{0};

  static Registry& instance() {
    static auto& registry = *new Registry;
    return registry;
  }
  /// Under the lock.
  [[nodiscard]] std::vector<std::shared_ptr<Engine>>::iterator find(std::string_view name) {
    return std::find_if(engines.begin(), engines.end(), [&](const auto& e) { return e->name() == name; });
  }
};

bool is_automatic(const Engine& engine) { return engine.facts().numerics == kHostEngine; }

void check_facts(const EngineFacts& facts) {
  const bool spelled = !facts.name.empty() && std::all_of(facts.name.begin(), facts.name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
  SORUS_CHECK(spelled, ValueError,
              "engine: name is malformed: got '{}', need letters, digits, '_', '-' and '.'", facts.name);
  SORUS_CHECK(!facts.numerics.empty(), ValueError,
              "engine: {} has no numerics class: got an empty name, need '{}' or one of its own", facts.name,
              kHostEngine);
  for (double ns : {facts.start_ns, facts.copy_ns, facts.copy_ns_per_byte})
    SORUS_CHECK(ns >= 0, ValueError, "engine: {} has a negative time: got {} ns, need 0 or more", facts.name,
                ns);
}

void add(std::shared_ptr<Engine> engine, bool is_news) {
  SORUS_CHECK(engine, ValueError, "engine: there is none: got null, need an engine");
  check_facts(engine->facts());
  Registry& r = Registry::instance();
  bool is_new = false;
  {
    std::lock_guard lock(r.mutex);
    is_new = engine->name() != kHostEngine && r.find(engine->name()) == r.engines.end();
    if (is_new) {
      r.automatic += is_automatic(*engine) ? 1 : 0;
      r.generation += is_news ? 1 : 0;
      r.engines.push_back(engine);
    }
  }
  SORUS_CHECK(is_new, ValueError, "engine: name is taken: got '{}', need another than {}", engine->name(),
              engine_names());
}

double bytes_of(const TensorType& t) {
  return static_cast<double>(t.shape.numel()) * static_cast<double>(dtype_size(t.dtype));
}

}  // namespace

void register_engine(std::shared_ptr<Engine> engine) { add(std::move(engine), true); }

EngineRegistrar::EngineRegistrar(std::shared_ptr<Engine> engine) { add(std::move(engine), false); }

bool remove_engine(std::string_view name) {
  std::shared_ptr<Engine> dropped;  // destroyed without the lock
  Registry& r = Registry::instance();
  std::lock_guard lock(r.mutex);
  auto at = r.find(name);
  if (at == r.engines.end()) return false;
  dropped = std::move(*at);
  r.engines.erase(at);
  r.automatic -= is_automatic(*dropped) ? 1 : 0;
  ++r.generation;
  return true;
}

std::shared_ptr<Engine> find_engine(std::string_view name) {
  Registry& r = Registry::instance();
  std::lock_guard lock(r.mutex);
  auto at = r.find(name);
  return at == r.engines.end() ? nullptr : *at;
}

std::vector<std::shared_ptr<Engine>> engines() {
  Registry& r = Registry::instance();
  std::lock_guard lock(r.mutex);
  return r.engines;
}

std::string engine_names() {
  std::string all(kHostEngine);
  for (const auto& e : engines()) all += ", " + e->name();
  return all;
}

uint64_t engine_generation() { return Registry::instance().generation.load(std::memory_order_acquire); }
int automatic_engines() { return Registry::instance().automatic.load(std::memory_order_acquire); }

double host_cost(const Graph& graph, const Node& call) {
  if (call.op->view) return 0;
  Cost cost;
  if (call.op->cost) {
    cost = call.op->cost(InferContext(*call.op, operand_types(graph, call), call.attrs.ref().data));
  } else {
    for (ValueId v : call.in)
      if (v != kNoValue) cost.bytes += bytes_of(graph.type(v));
    for (ValueId v : call.out) {
      cost.bytes += bytes_of(graph.type(v));
      cost.flops += static_cast<double>(graph.type(v).shape.numel());
    }
  }
  return kCallNs + std::max(cost.flops / kFlopsPerNs, cost.bytes / kBytesPerNs);
}

bool may_leave_host(const Graph& graph, const Node& call) {
  const OpDef& op = *call.op;
  if (call.body || call.slot >= 0 || op.traits.ordered || op.check_values) return false;
  if (op.checks_inside && op.checks_inside(call.attrs.ref())) return false;
  auto is_plain = [&](ValueId v) {
    return v == kNoValue || (graph.type(v).shape.is_concrete() && graph.type(v).device == Device{});
  };
  return std::all_of(call.in.begin(), call.in.end(), is_plain) &&
         std::all_of(call.out.begin(), call.out.end(), is_plain);
}

}  // namespace sorus
