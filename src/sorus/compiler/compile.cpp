#include "sorus/compiler/compile.h"

#include "sorus/compiler/dump.h"
#include "sorus/dispatch/apply.h"

namespace sorus {

std::unique_ptr<Executable> compile(Graph graph) {
  DumpedCompilation compilation(graph);
  PassOptions options = pass_options();
  options.relaxed = scope_state().relaxed_numerics;
  compilation.run_passes(graph, std::move(options));
  auto executable = std::make_unique<Executable>(std::move(graph));
  compilation.report(*executable);
  return executable;
}

}  // namespace sorus
