#include "sorus/compiler/pass_manager.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>

#include "sorus/base/flags.h"
#include "sorus/compiler/partition.h"
#include "sorus/engine/choice.h"

namespace sorus {
namespace {

std::atomic<int64_t> limit{0};

constexpr std::array kPasses = {
    Pass{"canonicalize", Exactness::kExact, canonicalize},
    Pass{"cse", Exactness::kExact, eliminate_common},
    Pass{"constant_fold", Exactness::kExact, fold_constants},
    Pass{"attention", Exactness::kRelaxed, recognize_attention},
    Pass{"dce", Exactness::kExact, eliminate_dead},
    Pass{"partition", Exactness::kExact, partition, engines_wanted},
    Pass{"fuse", Exactness::kExact, fuse},
    Pass{"epilogue", Exactness::kExact, join_epilogues},
    Pass{"depth_first", Exactness::kExact, run_depth_first},
    Pass{"order", Exactness::kExact, order},
    Pass{"recompute", Exactness::kExact, recompute, [] { return memory_limit() > 0; }},
    Pass{"bundle", Exactness::kExact, bundle, [] { return memory_limit() == 0; }},
};

bool listed(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string pass_names() {
  std::string all;
  for (const Pass& p : kPasses) all += (all.empty() ? "" : ", ") + std::string(p.name);
  return all;
}

/// `engine.pass`: the passes of an engine are known to it alone.
bool is_of_engine(const std::string& name) {
  const size_t dot = name.rfind('.');
  return dot != std::string::npos && find_engine(name.substr(0, dot)) != nullptr;
}

void check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    SORUS_CHECK(std::any_of(kPasses.begin(), kPasses.end(), [&](const Pass& p) { return p.name == name; }) ||
                    is_of_engine(name),
                ValueError, "passes: name is unknown: got '{}', need one of {}", name, pass_names());
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  size_t at = 0;
  while (at < text.size()) {
    size_t end = std::min(text.find(',', at), text.size());
    if (end > at) names.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

template <class F>
void timed(std::string_view name, Graph& graph, const PassOptions& options, F&& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  try {
    graph.verify();
  } catch (const InternalError& e) {
    raise<InternalError>("after pass {}: {}", name, e.what());
  }
  if (options.after) options.after(name, graph, seconds);
}

void run_on_part(const EnginePass& pass, Node& part) {
  const std::string engine = part.body->engine;
  auto body = std::make_shared<Graph>(*part.body);
  pass.run(*body);
  body->engine = engine;
  part.body = std::move(body);
}

/// The engines' own passes, each over all parts of its engine.
void run_engine_passes(Graph& graph, const PassOptions& options) {
  for (const std::shared_ptr<Engine>& engine : engines_of(graph))
    for (const EnginePass& pass : engine->passes()) {
      const std::string name = engine->name() + "." + pass.name;
      if ((pass.relaxed && !options.relaxed) || listed(options.skip, name)) continue;
      timed(name, graph, options, [&] {
        for (Node& n : graph.nodes)
          if (n.body && n.body->engine == engine->name()) run_on_part(pass, n);
      });
    }
}

}  // namespace

void set_memory_limit(int64_t bytes) {
  SORUS_CHECK(bytes >= 0, ValueError, "memory limit: number is negative: got {} bytes, need 0 or more",
              bytes);
  limit = bytes;
}

int64_t memory_limit() { return limit.load(std::memory_order_relaxed); }

std::span<const Pass> all_passes() { return kPasses; }

PassOptions& pass_options() {
  static thread_local PassOptions options;
  return options;
}

void run_passes(Graph& graph, const PassOptions& options) {
  static const std::vector<std::string> skipped = split_names(env_string("SORUS_SKIP_PASSES"));
  check_names(options.skip);
  check_names(options.only);
  check_names(skipped);
  for (const Pass& pass : kPasses) {
    if (pass.needed && !pass.needed()) continue;
    if (pass.exactness == Exactness::kRelaxed && !options.relaxed) continue;
    if (listed(options.skip, pass.name) || listed(skipped, pass.name)) continue;
    if (!options.only.empty() && !listed(options.only, pass.name)) continue;
    timed(pass.name, graph, options, [&] { pass.run(graph); });
    if (pass.run == partition) run_engine_passes(graph, options);
  }
}

void replace_uses(Graph& graph, std::span<const ValueId> to) {
  auto last = [&](ValueId v) {
    while (to[static_cast<size_t>(v)] != v) v = to[static_cast<size_t>(v)];
    return v;
  };
  for (Node& n : graph.nodes)
    for (ValueId& v : n.in)
      if (v != kNoValue) v = last(v);
  for (ValueId& v : graph.outputs) v = last(v);
}

}  // namespace sorus
