#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/ir/graph.h"

namespace sorus {

/// Whether a pass keeps every bit. Relaxed passes run only when relaxed numerics are asked for.
enum class Exactness { kExact, kRelaxed };

/// A rewrite of a graph into one that computes the same.
struct Pass {
  std::string_view name;
  Exactness exactness = Exactness::kExact;
  void (*run)(Graph&) = nullptr;
  bool (*needed)() = nullptr;  ///< where it says no, nothing is run nor verified; null: always
};

/// The passes of the library in the order in which they run.
[[nodiscard]] SORUS_API std::span<const Pass> all_passes();

struct PassOptions {
  bool relaxed = false;
  std::vector<std::string>
      skip;  ///< names of passes to leave out; SORUS_SKIP_PASSES, comma separated, adds to it
  std::vector<std::string> only;  ///< when not empty, the only passes to run
  std::function<void(std::string_view pass, const Graph&, double seconds)> after;  ///< called after each pass
};

/// The options with which this thread compiles boundaries; recordings that exist keep their programs.
[[nodiscard]] SORUS_API PassOptions& pass_options();

/// Bytes that a compiled program of this process may plan for values between its calls; 0, as at first, for
/// any number. What takes more computes values anew instead of keeping them. Programs that exist stay as they
/// are. Throws ValueError for a negative number.
SORUS_API void set_memory_limit(int64_t bytes);
[[nodiscard]] SORUS_API int64_t memory_limit();

/// Runs the passes, each verified afterwards. Throws InternalError naming the pass that broke a graph,
/// ValueError for a pass name that does not exist.
SORUS_API void run_passes(Graph& graph, const PassOptions& options = {});

// The passes, one file each in compiler/passes/.
void canonicalize(
    Graph& graph);  ///< removes ops that change nothing: same-shape reshapes, pairs of transposes
void eliminate_common(Graph& graph);     ///< computes equal calls once
void fold_constants(Graph& graph);       ///< computes what depends on constants alone, by the eager kernels
void recognize_attention(Graph& graph);  ///< makes attention that is written out the op
void eliminate_dead(Graph& graph);       ///< drops what no output needs
void partition(Graph& graph);            ///< gives calls to engines, and cuts the graph into their parts
void fuse(Graph& graph);  ///< makes chains of elementwise calls, and of calls on rows, into calls of a body
/// Joins products and convolutions with the elementwise calls that follow them. After fuse().
void join_epilogues(Graph& graph);
/// Lets convolutions of one tap run as the depthwise convolutions after them want their results. After
/// join_epilogues().
void run_depth_first(Graph& graph);
void recompute(Graph& graph);  ///< computes values anew instead of keeping them, within memory_limit()
void order(Graph& graph);      ///< puts calls that free memory as early as they can stand
/// Joins small regions of one kind that do not need each other, as the updates of many parameters. Last,
/// since the members of a bundle wait for each other; not where memory is limited.
void bundle(Graph& graph);

/// Replaces every use of value `from[i]` at once: `to[v]` is the replacement of v, itself where it stays.
SORUS_API void replace_uses(Graph& graph, std::span<const ValueId> to);

}  // namespace sorus
