#pragma once

#include "sorus/core/tensor.h"

namespace sorus {

/// The few computations that rooms below `ops` need without naming an op: summing gradients and starting the
/// walk. `ops` fills the table while the library loads.
struct BuiltinOps {
  Tensor (*add)(const Tensor&, const Tensor&) = nullptr;
  Tensor (*zeros)(const TensorType&) = nullptr;
  Tensor (*ones)(const TensorType&) = nullptr;
  /// The same value with no path for gradients.
  Tensor (*stop_gradient)(const Tensor&) = nullptr;
};
[[nodiscard]] SORUS_API BuiltinOps& builtin_ops();

}  // namespace sorus
