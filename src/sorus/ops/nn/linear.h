#pragma once

#include "sorus/core/tensor.h"

namespace sorus {

/// x * weight^T + bias: x (..., in), weight (out, in), bias (out,) or undefined; result (..., out).
[[nodiscard]] SORUS_API Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace sorus
