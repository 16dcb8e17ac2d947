#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/core/tensor.h"
#include "sorus/ir/graph.h"
#include "sorus/tuning/database.h"

/// Tuning: a search over the parameters that a graph reads, judged by running it on this machine.
namespace sorus::tuning {

struct TuneOptions {
  double seconds = 30;   ///< about; a search under way ends
  bool relaxed = false;  ///< for relaxed numerics, with the parameters that move bits as well
  uint64_t seed = 1;     ///< of the order in which values are tried
  std::function<void(std::string_view)> say = nullptr;  ///< hears what is being done, a line each
};

/// What was found for one call, region or program.
struct Gain {
  Entry entry;  ///< without values where nothing was better than the defaults
  int candidates = 0;
};

/// One step of the bound program, as it was measured alone.
struct StepTime {
  std::string what;
  std::string kernel;
  double before_ns = 0;  ///< where the steps differ between before and after, one of both is 0
  double after_ns = 0;
};

struct TuneReport {
  std::vector<Gain> gains;  ///< calls and regions by their share of the time, then the program
  std::vector<StepTime> steps;
  double before_ns = 0;    ///< of a whole run, with the defaults
  double after_ns = 0;     ///< with what was found; measured by turns
  bool is_faster = false;  ///< by more than the noise; otherwise nothing is kept
  int candidates = 0;
};

/// Tunes the graph, which is one before the passes, for `inputs`: each kind of call and region that takes a
/// part of the time, by itself, then what belongs to the whole. Values count only where they gain more than
/// the noise and, in exact mode, give the bits of the defaults on these inputs. What is found is in use in
/// this process when it returns, and is stored in the database, if there is one. Results of other threads are
/// not touched meanwhile, their times are. Throws what a run of the graph throws, IOError when the database
/// cannot be written.
SORUS_API TuneReport tune(const Graph& graph, const TensorList& inputs, const TuneOptions& options,
                          const Database* database);

/// Inputs of the graph's types: floats between 0.1 and 1, zeros of other types.
[[nodiscard]] SORUS_API TensorList example_inputs(const Graph& graph);

/// A graph of one call of the op. `attributes` as graphs write them: "axis=-1, keepdims=true"; what is left
/// out has its default. Throws ValueError for an op or attribute that does not exist, and what inference
/// throws.
[[nodiscard]] SORUS_API Graph graph_of_call(std::string_view op, std::string_view attributes,
                                            std::span<const TensorType> operands);

}  // namespace sorus::tuning
