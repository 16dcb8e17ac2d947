#include "sorus/compiler/compile.h"

#include <chrono>

#include "sorus/compiler/compile_cache.h"
#include "sorus/compiler/compile_stats.h"
#include "sorus/compiler/dump.h"
#include "sorus/compiler/tuned_graph.h"
#include "sorus/dispatch/apply.h"

namespace sorus {

std::unique_ptr<Executable> compile(Graph graph) {
  const auto start = std::chrono::steady_clock::now();
  DumpedCompilation compilation(graph);
  PassOptions options = pass_options();
  options.relaxed = scope_state().relaxed_numerics;
  TunedRef tuned = tuned_for_graph(TunedPart::kProgram, graph);
  const TuningScope scope(tuned.get());
  // Who wants to see the passes at work must have them work.
  if (compilation.written() || options.after)
    compilation.run_passes(graph, std::move(options));
  else
    run_cached_passes(graph, options, tuned ? tuned->text() : std::string());
  note_compile_event(CompileEvent::kProgram,
                     std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  auto executable = std::make_unique<Executable>(std::move(graph), std::move(tuned));
  compilation.report(*executable);
  return executable;
}

std::unique_ptr<Executable> compile_as_is(Graph graph) {
  DumpedCompilation compilation(graph);
  auto executable = std::make_unique<Executable>(std::move(graph));
  compilation.report(*executable);
  return executable;
}

}  // namespace sorus
