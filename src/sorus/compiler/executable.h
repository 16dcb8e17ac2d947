#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sorus/base/tunable.h"
#include "sorus/compiler/engine_parts.h"
#include "sorus/compiler/memory_plan.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/ir/graph.h"

namespace sorus {

/// Figures of a bound program, for reports and tests.
struct ExecutableReport {
  int nodes = 0;          ///< op calls, those inside regions included
  int regions = 0;        ///< steps that are whole fused regions
  int epilogues = 0;      ///< of these, products and convolutions with the calls that follow them
  int depth_first = 0;    ///< regions that are two of these, of which the first runs as the second wants it
  int bundled = 0;        ///< regions that are part of a bundle, which is one step
  int fused_nodes = 0;    ///< op calls inside them, whose values between them are never materialized
  int parts = 0;          ///< steps that other engines run
  int part_nodes = 0;     ///< op calls inside them
  int border_copies = 0;  ///< values that parts take into, or give back from, memory of their own
  int steps = 0;          ///< kernels, regions and parts that run
  int tasks = 0;          ///< of these, steps that may run beside others
  int views = 0;          ///< results that are free
  int conversions = 0;    ///< operands copied into another layout
  int in_place = 0;       ///< results written over a dead operand
  int kept = 0;           ///< steps that need not run again while their inputs are the same values
  int donations = 0;      ///< results that may take the storage of a dead input
  int64_t planned_bytes = 0;
  int64_t naive_bytes = 0;
  int64_t lower_bound_bytes = 0;
};

/// What a step of a bound program reads or writes: bytes of the arena, or of a buffer of its own.
struct MemoryUse {
  int32_t buffer = -1;  ///< what is meant to be there
  int32_t space = -1;   ///< -1: the arena; else the memory, which no other space shares
  int64_t begin = 0;
  int64_t end = 0;
  bool is_written = false;
  bool is_given = false;  ///< it has a value before the first step
};

/// A step as it is scheduled, for tests.
struct PlannedStep {
  int32_t place = 0;    ///< steps of one place may run at once, those of a lower one have ended before
  uint64_t before = 0;  ///< those of its place that have ended before it begins, from the first of them
  std::vector<MemoryUse> uses;
};

/// A step by itself, for those who measure.
struct BoundStep {
  std::string kernel;  ///< the name of a kernel, `region`, `part`, or `copy`
  /// The step's call alone, over inputs of its operands' types. None for a copy or part, and where the call
  /// has no concrete attributes.
  std::shared_ptr<const Graph> alone;
  std::vector<Strides> strides;  ///< of these inputs
};

/// A graph with resolved kernels and planned buffers. It is bound once for each set of input strides, in a
/// bounded cache. Steps that do not need each other run at once where that pays (compiler/schedule.h).
/// Running it is thread-safe; it gives the bits of running the graph's calls one by one.
class SORUS_API Executable {
 public:
  /// Takes a verified graph whose shapes are concrete. `tuned` are the values with which it is bound.
  explicit Executable(Graph graph, TunedRef tuned = nullptr);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  /// Runs on `inputs`, one for each graph input; they must have their bytes. Results come in the order of the
  /// graph's outputs. A result may take the storage of an input that is marked `donated`: the caller promises
  /// that nobody reads that value any more. `slots` are the run-time attributes that nodes refer to. With
  /// `check`, the values of each call are checked before its kernel. Throws what a check or a kernel throws;
  /// `donated` marks then those inputs that may have been written. No check throws after that, unless the
  /// graph says that its values are checked.
  void run(std::span<const Ref<Value>> inputs, std::span<char> donated, std::span<const AttrsBox> slots,
           std::span<Ref<Value>> outputs, bool check);

  [[nodiscard]] const Graph& graph() const { return *graph_; }
  [[nodiscard]] std::shared_ptr<const Graph> shared_graph() const { return graph_; }
  /// Memory that the program itself takes, roughly.
  [[nodiscard]] size_t bytes() const;
  /// The report for row-major inputs.
  [[nodiscard]] ExecutableReport report();
  /// Its steps, likewise, in the order in which one thread runs them.
  [[nodiscard]] std::vector<PlannedStep> planned_steps();

  /// Its steps, likewise, each with its call alone.
  [[nodiscard]] std::vector<BoundStep> bound_steps();
  /// Runs as run() does, one step after the other, and gives the nanoseconds of each.
  [[nodiscard]] std::vector<double> time_steps(std::span<const Ref<Value>> inputs);

  struct Binding;  ///< private to the compiler: compiler/binding.h

 private:
  void run_or_time(std::span<const Ref<Value>> inputs, std::span<char> donated,
                   std::span<const AttrsBox> slots, std::span<Ref<Value>> outputs, bool check,
                   std::vector<double>* ns);
  std::shared_ptr<const Binding> row_major_binding();
  std::shared_ptr<const Binding> binding_for(std::span<const Strides> strides);
  /// Null when there is none; under the lock.
  [[nodiscard]] std::shared_ptr<const Binding> known_binding(std::span<const Strides> strides) const;
  std::shared_ptr<const Graph> graph_;
  TunedRef tuned_;
  EngineParts parts_;
  std::vector<std::shared_ptr<const Binding>> bindings_;
};

}  // namespace sorus
