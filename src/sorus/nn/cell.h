#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sorus/core/parameter.h"
#include "sorus/dispatch/op_def.h"

/// Networks are trees of cells. A cell owns parameters and child cells by name and computes in `construct`.
namespace sorus::nn {

class Cell;

/// Where a cell belongs: its parent and its name there. Empty for the root and for cells used on their own.
struct Place {
  Cell* parent = nullptr;
  std::string_view name = {};
};

/// Base of all layers and networks. A child is a member constructed with its place, so it registers itself:
///
///     struct Net : nn::Cell {
///       nn::Dense fc{{this, "fc"}, 784, 10};
///       Tensor construct(const Tensor& x) override { return fc(x); }
///     };
///
/// Cells are neither copied nor moved, since parents know their children's addresses. In graph mode the
/// outermost call of a cell is a boundary. Calls from several threads are safe as long as `construct` writes
/// nothing but parameters. An error that leaves a cell ends with the path of the innermost one:
/// "... (in 'blocks.0.fc')".
class SORUS_API Cell {
 public:
  explicit Cell(Place place = {});
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;
  virtual ~Cell() = default;

  /// Computes the cell. A cell of one operand and one result overrides the first, any other the second.
  virtual Tensor construct(const Tensor& x);
  virtual TensorList construct(const TensorList& in);

  Tensor operator()(const Tensor& x);
  TensorList operator()(const TensorList& in);

  /// This cell's and its descendants' parameters in order of registration, with path names such as
  /// "conv1.weight"; a shared parameter comes once, under its first name. Parameters take on their path
  /// names.
  [[nodiscard]] std::vector<Parameter> parameters();
  /// Those of them that require a gradient.
  [[nodiscard]] std::vector<Parameter> trainable_params();
  [[nodiscard]] const std::vector<std::pair<std::string, Cell*>>& children() const { return children_; }

  /// Training or inference behaviour (dropout, batch norm) of this cell and its descendants; inference at
  /// first.
  Cell& set_train(bool training = true);
  [[nodiscard]] bool training() const { return training_; }

 protected:
  /// Makes a parameter of this cell.
  Parameter add_parameter(std::string_view name, Tensor value, bool requires_grad = true);

 private:
  void add_child(std::string_view name, Cell& child);
  void collect(const std::string& prefix, std::vector<Parameter>& out);
  std::vector<std::pair<std::string, Parameter>> parameters_;
  std::vector<std::pair<std::string, Cell*>> children_;
  /// Runs construct(); an error says in which cell it arose: "... (in 'blocks.0.fc')".
  template <class In>
  In compute(const In& in);
  [[nodiscard]] std::string path() const;
  bool training_ = false;
  uint64_t id_;
  const Cell* parent_ = nullptr;
};

}  // namespace sorus::nn
