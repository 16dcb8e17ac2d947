#pragma once

#include <memory>

#include "sorus/dispatch/body.h"
#include "sorus/ir/graph.h"

namespace sorus {

/// A compiled graph, for whoever runs bodies at once. Thread-safe.
class SORUS_API BodyProgram {
 public:
  BodyProgram() = default;
  virtual ~BodyProgram() = default;
  BodyProgram(const BodyProgram&) = delete;
  BodyProgram& operator=(const BodyProgram&) = delete;
  virtual void run(std::span<const Ref<Value>> in, std::span<char> donated, std::span<Ref<Value>> out) = 0;
};

/// Compiles with the scopes of this thread. Set once, while the library loads, by the compiler.
using BodyCompiler = std::unique_ptr<BodyProgram> (*)(const Graph& graph);
SORUS_API void set_body_compiler(BodyCompiler compiler);

/// The graph's calls one by one through apply(): they are recorded, followed and differentiated like any. It
/// has no run-time attributes.
[[nodiscard]] SORUS_API TensorList apply_graph(const Graph& graph, const TensorList& in);

/// The body that a graph makes; an equal one that exists already is given again.
[[nodiscard]] SORUS_API BodyRef body_of(Graph graph);
/// The graph of a body.
[[nodiscard]] SORUS_API const Graph& graph_of(const FunctionBody& body);

}  // namespace sorus
