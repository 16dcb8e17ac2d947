#pragma once

#include <cstdint>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/onednn/types.h"

/// Looks for numbers that are infinite, NaN, or too large, at the speed of memory.
namespace sorus::kernels::conv {

/// Whether all numbers are below 2^exponent in magnitude; `exponent` lies between -126 and 128.
[[nodiscard]] SORUS_API bool all_below(int exponent, onednn::ElementType type, const void* data,
                                       int64_t count);
[[nodiscard]] inline bool all_finite(onednn::ElementType type, const void* data, int64_t count) {
  return all_below(128, type, data, count);
}

}  // namespace sorus::kernels::conv
