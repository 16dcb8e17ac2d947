#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sorus/compiler/binding.h"

namespace sorus {

/// Resolves a graph for given input strides. Calls that cannot run as regions give way to their nodes, or to
/// calls of parts. `parts` has the programs of engines.
[[nodiscard]] std::shared_ptr<const Executable::Binding> bind_graph(std::shared_ptr<const Graph> graph,
                                                                    std::span<const Strides> input_strides,
                                                                    EngineParts& parts);

/// The steps as they are scheduled, and what they touch.
[[nodiscard]] std::vector<PlannedStep> planned_steps_of(const Executable::Binding& binding);

/// The steps by themselves.
[[nodiscard]] std::vector<BoundStep> bound_steps_of(const Executable::Binding& binding);

/// Resolves a graph for given input strides, node by node in order. Used once.
class Binder {
 public:
  /// `own` is the same graph where it may be changed, else null.
  Binder(std::shared_ptr<const Graph> graph, Graph* own, std::span<const Strides> input_strides,
         EngineParts& engine_parts);
  /// A call that cannot run as a region gives way to its nodes, or to these as calls of their own. Null when
  /// one should, and the graph may not be changed or has no room.
  std::shared_ptr<const Executable::Binding> run();

 private:
  using ArrayVector = SmallVector<Array, 4>;
  void place_sources();
  void place_constants(size_t first);
  void find_last_uses();
  bool give_way(size_t index);
  int32_t add_buffer(Place place, int32_t index, int64_t bytes);
  [[nodiscard]] Array array_of(ValueId v) const;
  void bind_node(const Node& node);
  bool bind_call(const Node& node);
  bool bind_region_call(const Node& node);
  bool bind_part(const Node& node);
  BoundArray bind_body_operand(const Node& node, size_t i, const Strides& wanted);
  static void count_nodes(const Graph& body, ExecutableReport& report);
  void push_step(Step step, const Node& node, std::span<const BoundArray> arrays, size_t in_count);
  bool bind_view(const Node& node);
  BoundArray bind_operand(const Node& node, size_t i, const Kernel& kernel, Array& array);
  BoundArray convert(const Node& node, const BoundArray& from, const Strides& wanted);
  BoundArray bind_result(const Node& node, size_t i, int32_t index, uint64_t in_place,
                         std::span<const BoundArray> operands, const Array& result);
  [[nodiscard]] bool stays(const BoundArray& operand) const;
  void keep_results(Step& step, const Node& node, std::span<const BoundArray> arrays, size_t in_count);
  void release_results(int32_t kept);
  static bool shared_operand(std::span<const BoundArray> operands, size_t k);
  [[nodiscard]] bool dead_after(int32_t buffer, int32_t index) const;
  [[nodiscard]] bool input_dead_after(int32_t buffer, int32_t index) const;
  void note_use(int32_t buffer, ValueId v);
  void touch(int32_t buffer);
  void settle_buffers();
  [[nodiscard]] StepFacts facts_of(size_t step) const;
  void schedule();
  [[nodiscard]] std::vector<BufferLife> lives() const;
  void plan();

  std::shared_ptr<const Graph> owner_;
  const Graph& graph_;
  Graph* own_;
  EngineParts& engine_parts_;
  std::shared_ptr<Executable::Binding> binding_;
  std::vector<int32_t> step_nodes_;   ///< by step: index of its node
  std::vector<BoundValue> values_;    ///< by value id
  std::vector<int32_t> last_use_;     ///< by value id: index of the last node that reads it
  std::vector<int32_t> alive_until_;  ///< by buffer: the same over all values in it
  std::vector<char> donor_taken_;     ///< by input: a result may take its storage already
  std::vector<int32_t> parts_;        ///< by node of the refused call's body
  int32_t last_check_ = -1;  ///< last node whose values are checked; inputs are not written before it
};

}  // namespace sorus
