#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/dispatch/op_def.h"

namespace sorus {

/// Number of a value in a graph.
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

class Graph;

/// One op call of a graph. `in` has kNoValue for an absent optional operand.
struct Node {
  const OpDef* op = nullptr;
  AttrsBox attrs;
  SmallVector<ValueId, 4> in;
  SmallVector<ValueId, 2> out;
  std::string site;  ///< where in the user's program the call stands, for errors; may be empty
  int32_t slot =
      -1;  ///< index of run-time attributes that replace `attrs`, -1 for none: never folded or merged
  bool varies = false;  ///< its attributes are others for other extents of the inputs: never folded
  /// What a `call` computes: a graph with an input for each operand and an output for each result. Its slots
  /// are those of the graph around it. Null for every other op.
  std::shared_ptr<const Graph> body;
};

/// The op of nodes with a body. It has no kernel and stands in no table: whoever meets it runs the body, or
/// puts its nodes in place of the call.
[[nodiscard]] SORUS_API const OpDef& call_op();
/// The borders of a part that runs on an engine with memory of its own: a value of the host's becomes one of
/// the engine's, and the other way round. They stand in no table, change no bit, and on the host are views.
[[nodiscard]] SORUS_API const OpDef& to_engine_op();
[[nodiscard]] SORUS_API const OpDef& from_engine_op();
/// An op of the table or one of these; null for another name.
[[nodiscard]] SORUS_API const OpDef* find_graph_op(std::string_view name);

/// A program as a pure, topologically ordered list of op calls in static single assignment form.
class SORUS_API Graph {
 public:
  std::string name = "main";
  /// Of the body of a call: the engine that runs it whole; empty for a fused region and for other graphs.
  std::string engine;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  /// The values of all calls have passed OpDef::check_values already. Not part of the text: a graph that is
  /// read from a file checks them when it runs.
  bool values_checked = false;

  ValueId add_value(const TensorType& type);
  ValueId add_input(const TensorType& type);
  ValueId add_constant(const Tensor& value);
  /// Infers the result types and appends the call. Returns its node.
  Node& add_node(const OpDef& op, AttrsRef attrs, std::span<const ValueId> in);
  /// Appends a call of `body`. Throws InternalError unless the operands have the types of its inputs.
  Node& add_call(std::shared_ptr<const Graph> body, std::span<const ValueId> in);
  /// A call of what `members` compute, which are nodes in topological order. Its results are those of their
  /// values that are `needed` (by value), in order; the values stay the same. The node is not appended.
  [[nodiscard]] Node call_of(std::span<const Node* const> members, std::span<const char> needed) const;
  /// Puts the nodes of its body in place of the call at `index`; its results keep their values.
  void inline_call(size_t index);
  /// Puts several calls in place of the call at `index`, one after the other: `parts` says to which each node
  /// of the body goes, from 0. A part of one node is that node itself.
  void split_call(size_t index, std::span<const int32_t> parts);
  void set_type(ValueId v, const TensorType& type) { types_[static_cast<size_t>(v)] = type; }
  [[nodiscard]] const TensorType& type(ValueId v) const { return types_[static_cast<size_t>(v)]; }
  [[nodiscard]] size_t value_count() const { return types_.size(); }
  /// References that type() gave stay valid until there are more values than that.
  [[nodiscard]] size_t value_capacity() const { return types_.capacity(); }
  void reserve_values(size_t count) { types_.reserve(count); }
  /// The bytes of a constant; undefined for any other value.
  [[nodiscard]] const Tensor& constant(ValueId v) const { return constants_[static_cast<size_t>(v)]; }
  [[nodiscard]] bool is_constant(ValueId v) const { return constant(v).defined(); }

  /// Memory that the graph takes beside its constants, roughly.
  [[nodiscard]] size_t bytes() const;

  /// The number that each value has in text and pictures: inputs, constants, results in order.
  [[nodiscard]] std::vector<ValueId> numbering() const;
  /// Lossless text form, with values numbered anew; the grammar stands in docs/rooms/ir.md.
  [[nodiscard]] std::string text() const;
  /// The inverse of text(). Throws ValueError naming line and what was expected.
  [[nodiscard]] static Graph parse(std::string_view text);
  /// Throws InternalError naming the first node that breaks a rule: operands are defined before use, each
  /// value is defined once, result types are what inference says.
  void verify() const;

 private:
  [[nodiscard]] std::string text(const std::string& indent) const;
  void verify_call(const Node& node) const;
  std::vector<TensorType> types_;
  std::vector<Tensor> constants_;
};

/// What stands before the operands of a node in text: the name of its op, and `call on ENGINE` for a part.
[[nodiscard]] SORUS_API std::string call_name(const Node& node);
/// The inverse: the engine of a call, empty where it has none. `name` becomes that of the op.
[[nodiscard]] SORUS_API std::string split_call_name(std::string_view* name);

/// Types of a node's operands, null where absent.
[[nodiscard]] SORUS_API SmallVector<const TensorType*, 8> operand_types(const Graph& graph, const Node& node);

}  // namespace sorus
