#include "sorus/compiler/engine_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "sorus/base/fork_mutex.h"
#include "sorus/base/log.h"
#include "sorus/compiler/partition.h"
#include "sorus/engine/choice.h"

namespace sorus {
namespace {

/// What an engine lets out becomes an error of Sorus.
template <class F>
decltype(auto) guarded(const Engine& engine, std::string_view what, F&& f) {
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    raise<RuntimeError>("engine {}: {} failed: got an exception ({}), need an engine that can", engine.name(),
                        what, e.what());
  } catch (...) {
    raise<RuntimeError>("engine {}: {} failed: got an unknown exception, need an engine that can",
                        engine.name(), what);
  }
}

}  // namespace

EnginePart::EnginePart(std::shared_ptr<Engine> engine, std::shared_ptr<const Graph> body)
    : engine_(std::move(engine)),
      body_(std::move(body)),
      program_(guarded(*engine_, "compile", [&] { return engine_->compile(body_); })) {
  SORUS_CHECK(program_, RuntimeError, "engine {}: compile failed: got no program, need one", engine_->name());
}

void EnginePart::run(std::span<const Array> in, std::span<const Array> out) const {
  guarded(*engine_, "run", [&] { program_->run(in, out); });
}

const EngineParts::Entry* EngineParts::find(const std::shared_ptr<const Graph>& body) const {
  auto at = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.body == body; });
  return at == entries_.end() ? nullptr : &*at;
}

std::shared_ptr<const EnginePart> EngineParts::find_or_compile(const std::shared_ptr<const Graph>& body) {
  {
    std::lock_guard lock(fork_mutex_of(this));
    if (const Entry* known = find(body)) return known->part;
  }
  const std::shared_ptr<Engine> engine = find_engine(body->engine);
  const std::string problem = part_problem(*body);
  SORUS_CHECK(engine && problem.empty(), NotSupportedError, "{}", problem);
  std::shared_ptr<const EnginePart> made;
  try {
    made = std::make_shared<const EnginePart>(engine, body);
  } catch (const Error& e) {
    if (is_demanded(body->engine, "")) throw;
    warn_once("engine compile " + body->engine,
              fmt::format("the host runs what an engine was to run: {}", e.what()));
  }
  // Compiling takes other locks. Of two threads that compile at once, the first to come is kept.
  std::shared_ptr<const EnginePart> dropped;
  std::lock_guard lock(fork_mutex_of(this));
  if (const Entry* known = find(body)) {
    dropped.swap(made);
    return known->part;
  }
  entries_.push_back({body, made});
  return made;
}

}  // namespace sorus
