#pragma once

#include <string>

#include "sorus/compiler/pass_manager.h"

namespace sorus {

class Executable;

/// Which of the graphs that the process compiles are written to files for people to read.
enum class GraphDump {
  kOff,
  kEnds,   ///< as recorded, and after the last pass
  kPasses  ///< as recorded, and after each pass that changed it
};

/// Writes every graph that is compiled from now on into `folder`, which is made if it is missing: program
/// number n gives `<n>_<name>_<step>_<pass>.txt`, the text form, and the same as a picture in `.svg`; and
/// `<n>_<name>_report.txt` with nodes, kernels, memory and the time of each pass. Numbers go on from those in
/// the folder. Throws IOError when the folder cannot be made. A file that cannot be written later on is
/// warned about once: it does not stop the program.
SORUS_API void dump_graphs(GraphDump what, const std::string& folder = ".");

/// Internal: the way of a graph through the passes, written if it is asked for. Cheap when it is not.
class DumpedCompilation {
 public:
  explicit DumpedCompilation(const Graph& recorded);
  [[nodiscard]] bool written() const { return what_ != GraphDump::kOff; }
  /// Runs the passes with `options`.
  void run_passes(Graph& graph, PassOptions options);
  void report(Executable& executable);

 private:
  void write_step(std::string_view pass, const Graph& graph);
  GraphDump what_;
  std::string prefix_;
  std::string text_;  ///< of the last step
  std::string times_;
  int step_ = 0;
};

}  // namespace sorus
