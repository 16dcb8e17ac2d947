#include "sorus/nn/container.h"

namespace sorus::nn {

Cell& CellSequence::operator[](int64_t index) const {
  SORUS_CHECK(index >= -size() && index < size(), IndexError,
              "container: index is out of range: got {}, need {} to {}", index, -size(), size() - 1);
  return *cells_[static_cast<size_t>(index < 0 ? index + size() : index)];
}

Tensor SequentialCell::construct(const Tensor& x) {
  Tensor y = x;
  for (const auto& cell : cells()) y = (*cell)(y);
  return y;
}

}  // namespace sorus::nn
