#include "sorus/engine/choice.h"

#include <algorithm>
#include <utility>

#include "sorus/dispatch/apply.h"
#include "sorus/engine/engine.h"

namespace sorus {
namespace {

struct Chosen {
  EngineChoice choice;
  uint64_t hash = 0;  ///< 0 for the default one
};

Chosen& chosen() {
  static thread_local Chosen here;
  return here;
}

/// The choice in words, the same for equal ones.
std::string text_of(const EngineChoice& choice) {
  std::string text = "use " + choice.use;
  for (const auto& [op, engine] : choice.use_for) text += "; for " + op + " " + engine;
  for (const std::string& engine : choice.forbid) text += "; not " + engine;
  return text;
}

void check_engine(const EngineChoice& choice, const std::string& name) {
  SORUS_CHECK(name == kHostEngine || find_engine(name), ValueError,
              "engines: engine is unknown: got '{}', need one of {}", name, engine_names());
  SORUS_CHECK(std::find(choice.forbid.begin(), choice.forbid.end(), name) == choice.forbid.end(), ValueError,
              "engines: engine is wanted and forbidden: got '{}' twice, need one of both", name);
}

void check_choice(const EngineChoice& choice) {
  if (!choice.use.empty()) check_engine(choice, choice.use);
  for (const auto& [op, engine] : choice.use_for) {
    SORUS_CHECK(find_op(op), ValueError, "engines: op is unknown: got '{}', need the name of an op", op);
    check_engine(choice, engine);
  }
  for (const std::string& name : choice.forbid) {
    SORUS_CHECK(name != kHostEngine, ValueError,
                "engines: the host cannot be forbidden: got '{}', need another engine: it runs what no other "
                "one takes",
                name);
    SORUS_CHECK(find_engine(name), ValueError, "engines: engine is unknown: got '{}', need one of {}", name,
                engine_names());
  }
}

/// Without checks: for taking back what was there before.
void put(EngineChoice choice) {
  Chosen& here = chosen();
  const bool was_reference = here.choice.use == kReferenceEngine;
  const bool is_reference = choice.use == kReferenceEngine;
  if (was_reference != is_reference) reference_kernels_only() = is_reference;
  here.hash = choice.is_default() ? 0 : hash_bytes(text_of(choice));
  here.choice = std::move(choice);
}

}  // namespace

const EngineChoice& engine_choice() { return chosen().choice; }

void set_engine_choice(EngineChoice choice) {
  check_choice(choice);
  if (choice == chosen().choice) return;
  SORUS_CHECK(!scope_state().recorder, RuntimeError,
              "engines: the choice cannot change in a compiled call: got '{}', need a place outside",
              text_of(choice));
  put(std::move(choice));
}

ScopedEngines::ScopedEngines(EngineChoice choice) : saved_(chosen().choice) {
  set_engine_choice(std::move(choice));
}
ScopedEngines::~ScopedEngines() { put(std::move(saved_)); }

uint64_t engines_key() {
  const uint64_t hash = chosen().hash;
  const uint64_t generation = engine_generation();
  return hash == 0 && generation == 0 ? 0 : hash_combine(hash, generation);
}

std::string engines_text() {
  if (!engines_wanted()) return {};
  std::string text = text_of(chosen().choice);
  for (const auto& e : engines())
    text += "; " + e->name() + " " + e->facts().revision + " " + e->facts().numerics;
  return text;
}

bool engines_wanted() { return chosen().hash != 0 || automatic_engines() > 0; }

bool is_demanded(const std::string& engine, std::string_view op) {
  const EngineChoice& c = chosen().choice;
  if (op.empty())
    return c.use == engine || std::any_of(c.use_for.begin(), c.use_for.end(),
                                          [&](const auto& entry) { return entry.second == engine; });
  auto at = c.use_for.find(std::string(op));
  return at == c.use_for.end() ? c.use == engine : at->second == engine;
}

bool is_forbidden(const std::string& engine) {
  const EngineChoice& c = chosen().choice;
  return std::find(c.forbid.begin(), c.forbid.end(), engine) != c.forbid.end();
}

}  // namespace sorus
