#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sorus/nn/cell.h"

/// Cells that own cells in order, named by their index.
namespace sorus::nn {

/// What containers share.
class SORUS_API CellSequence : public Cell {
 public:
  /// Appends a cell constructed with its place and the arguments.
  template <class C, class... Args>
  C& append(Args&&... args) {
    std::string name = std::to_string(cells_.size());
    auto cell = std::make_unique<C>(Place{this, name}, std::forward<Args>(args)...);
    C& made = *cell;
    cells_.push_back(std::move(cell));
    return made;
  }
  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(cells_.size()); }
  /// The cell at that index; negative ones count from the end. Throws IndexError outside [-size, size).
  [[nodiscard]] Cell& operator[](int64_t index) const;

 protected:
  using Cell::Cell;
  [[nodiscard]] const std::vector<std::unique_ptr<Cell>>& cells() const { return cells_; }

 private:
  std::vector<std::unique_ptr<Cell>> cells_;
};

/// Cells in a row, each fed with the result of the one before.
class SORUS_API SequentialCell : public CellSequence {
 public:
  explicit SequentialCell(Place place = {}) : CellSequence(place) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// A list of cells whose parameters belong to the network: the network calls them by index. Called itself it
/// throws NotSupportedError.
class SORUS_API CellList : public CellSequence {
 public:
  explicit CellList(Place place = {}) : CellSequence(place) {}
};

}  // namespace sorus::nn
