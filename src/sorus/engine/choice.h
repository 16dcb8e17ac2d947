#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sorus/base/export.h"

/// What a user asks of engines.
namespace sorus {

/// An engine that is asked for runs whatever it takes, at any cost and in any numerics class; the rest is
/// shared out as without the wish. While "cpu_reference" is asked for, eager calls use reference kernels too,
/// so that the modes agree.
struct EngineChoice {
  std::string use = {};                             ///< for all ops; empty for none, "cpu" for the host alone
  std::map<std::string, std::string> use_for = {};  ///< by op, where it wins over `use`
  std::vector<std::string> forbid = {};  ///< engines that are never used; the host cannot be forbidden
  [[nodiscard]] bool is_default() const { return use.empty() && use_for.empty() && forbid.empty(); }
  friend bool operator==(const EngineChoice&, const EngineChoice&) = default;
};

/// The choice of this thread.
[[nodiscard]] SORUS_API const EngineChoice& engine_choice();
/// Changes it; calls of boundaries that were recorded under another choice are recorded anew. Throws
/// ValueError for an engine or op that is unknown or both wanted and forbidden, RuntimeError inside a
/// boundary.
SORUS_API void set_engine_choice(EngineChoice choice);

/// A choice while it lives.
class SORUS_API ScopedEngines {
 public:
  explicit ScopedEngines(EngineChoice choice);
  ~ScopedEngines();
  ScopedEngines(const ScopedEngines&) = delete;
  ScopedEngines& operator=(const ScopedEngines&) = delete;

 private:
  EngineChoice saved_;
};

/// Decides, with graph and numerics, which engine runs what: this thread's choice and the engines that are
/// there. 0 where nothing was chosen and no engine came to those of the library.
[[nodiscard]] SORUS_API uint64_t engines_key();
/// The same in words that mean the same in another process, for the compile cache.
[[nodiscard]] SORUS_API std::string engines_text();
/// Whether a graph may come to be cut at all.
[[nodiscard]] SORUS_API bool engines_wanted();
/// Whether this thread asks for that engine, for the op or for all; an empty op: for any.
[[nodiscard]] SORUS_API bool is_demanded(const std::string& engine, std::string_view op);
[[nodiscard]] SORUS_API bool is_forbidden(const std::string& engine);

}  // namespace sorus
