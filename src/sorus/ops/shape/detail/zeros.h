#pragma once

#include "sorus/ops/shape/shape_ops.h"

namespace sorus::detail {

/// Zeros of that type: one element, seen everywhere.
[[nodiscard]] inline Tensor zeros(const TensorType& type) {
  return broadcast_to(full({type.dtype, type.device, {}}, 0), type.shape);
}

}  // namespace sorus::detail
