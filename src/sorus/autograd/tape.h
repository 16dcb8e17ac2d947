#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sorus/dispatch/apply.h"

namespace sorus {

/// A gradient scope: while it is open on this thread, ops on watched values and on what is computed from them
/// are recorded, flat and per op, in every mode. Scopes nest; an op is recorded on every open scope that
/// tracks one of its operands. They close in the order of a stack. Not shared between threads.
class SORUS_API Tape final : public GradientRecorder {
 public:
  Tape();
  ~Tape() override;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  /// Ends recording before destruction; gradients() may still be called.
  void close();

  /// Makes `x` a source of gradients. Throws DTypeError unless it is floating.
  void watch(const Tensor& x);

  /// Gradients of sum(outputs[i] * seeds[i]) with respect to `sources`; an undefined seed stands for ones.
  /// The walk visits the records in reverse order of creation and sums in that order, so that its bits depend
  /// on the program alone. A source that the outputs do not depend on gets an undefined tensor. Unless
  /// `retain`, the records are released on the way and a second call finds none. The walk's own ops are
  /// recorded on the scopes around this one. Throws ShapeError for a seed of another shape, NotSupportedError
  /// for an op without a gradient.
  [[nodiscard]] TensorList gradients(std::span<const Tensor> outputs, std::span<const Tensor> seeds,
                                     std::span<const Tensor> sources, bool retain = false);

  void record(const OpDef& op, OperandSpan in, AttrsRef attrs, std::span<Tensor> out) override;
  void record_custom(std::span<const Tensor> in, std::span<const Tensor> out,
                     const std::shared_ptr<const GradientRule>& rule) override;
  [[nodiscard]] bool tracks(const Tensor& x) const override;

 private:
  struct Node;
  class Context;
  class Leaves;
  [[nodiscard]] int32_t edge_of(const Tensor& x) const;
  int32_t track(const Tensor& out);
  void append(Node node);
  void walk(std::vector<Tensor>& slots, bool retain);
  void visit(const Node& node, std::vector<Tensor>& slots);
  void accumulate(const Node& node, size_t i, Tensor gradient, std::vector<Tensor>& slots);
  [[nodiscard]] BoundaryKey structure() const;

  uint64_t epoch_;
  GradientRecorder* outer_;
  bool open_ = true;
  int32_t ids_ = 0;
  bool in_boundary_;           ///< opened inside a boundary: the walk belongs to it
  bool saw_boundary_ = false;  ///< records were made inside a boundary: the walk becomes one
  std::vector<Node> nodes_;
  std::unique_ptr<Leaves> leaves_;
};

/// No gradient is recorded on this thread while it lives.
class PausedGradients : ScopedState<GradientRecorder*> {
 public:
  PausedGradients() : ScopedState(&ScopeState::gradients, nullptr) {}
};

}  // namespace sorus
