#pragma once

#include <memory>

#include "sorus/compiler/executable.h"

namespace sorus {

/// A recorded graph after the passes, ready to run: with this thread's pass_options(), relaxed passes where
/// the scope asks for relaxed numerics, and written to files where dump_graphs() asks for it; else their
/// result may come from the compile cache.
[[nodiscard]] SORUS_API std::unique_ptr<Executable> compile(Graph graph);

/// The same for a graph that was through the passes already.
[[nodiscard]] SORUS_API std::unique_ptr<Executable> compile_as_is(Graph graph);

}  // namespace sorus
