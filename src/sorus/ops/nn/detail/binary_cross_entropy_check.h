#pragma once

#include "sorus/core/tensor.h"

namespace sorus::detail {

/// Nothing but a check: ValueError at the call, in every mode, unless each number of `x`, which is floating,
/// lies in [0, 1] or is NaN. The result says nothing. It is an op for programs that run without their host
/// code, which check when they run; of other programs it is no part once the values have been looked at.
SORUS_API Tensor binary_cross_entropy_check(const Tensor& x);

}  // namespace sorus::detail
