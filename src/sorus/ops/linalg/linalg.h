#pragma once

#include "sorus/core/tensor.h"

namespace sorus {

/// Matrix product with NumPy's rules: vectors, batches and broadcasting of batch axes. Accumulates in float32
/// or wider.
[[nodiscard]] SORUS_API Tensor matmul(const Tensor& a, const Tensor& b);

}  // namespace sorus
