#pragma once

#include <memory>
#include <vector>

#include "sorus/engine/engine.h"

namespace sorus {

/// A part of a graph, compiled by its engine.
class SORUS_API EnginePart {
 public:
  /// Throws what the engine throws, and RuntimeError for an exception that is none of Sorus.
  EnginePart(std::shared_ptr<Engine> engine, std::shared_ptr<const Graph> body);
  /// As EngineProgram::run(), with the same errors.
  void run(std::span<const Array> in, std::span<const Array> out) const;
  [[nodiscard]] const std::shared_ptr<const Graph>& body() const { return body_; }

 private:
  std::shared_ptr<Engine> engine_;  // outlives what it made
  std::shared_ptr<const Graph> body_;
  std::unique_ptr<EngineProgram> program_;
};

/// The parts of one executable, each compiled once, whatever the strides. Thread-safe.
class SORUS_API EngineParts {
 public:
  /// The program of a part. Null when its engine, which nobody asked for, cannot compile it: then it gives
  /// way to its calls, and one warning says so. Throws NotSupportedError for a part that is not its engine's,
  /// and what an engine throws that was asked for.
  std::shared_ptr<const EnginePart> find_or_compile(const std::shared_ptr<const Graph>& body);

 private:
  struct Entry {
    std::shared_ptr<const Graph> body;
    std::shared_ptr<const EnginePart> part;
  };
  [[nodiscard]] const Entry* find(const std::shared_ptr<const Graph>& body) const;
  std::vector<Entry> entries_;  ///< under fork_mutex_of(this)
};

}  // namespace sorus
