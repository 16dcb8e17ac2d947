#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sorus/base/export.h"

namespace sorus {

/// A buffer that lives from step `first` to step `last`, both included.
struct BufferLife {
  int64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

/// Places of buffers in one arena such that no two that live at the same step overlap.
struct MemoryPlan {
  std::vector<int64_t> offsets;  ///< in bytes, multiples of 64
  int64_t arena_bytes = 0;
  int64_t naive_bytes = 0;        ///< every buffer on its own
  int64_t lower_bound_bytes = 0;  ///< largest sum of buffers alive at one step
};

/// Best fit, largest buffers first. Deterministic.
[[nodiscard]] SORUS_API MemoryPlan plan_memory(std::span<const BufferLife> buffers);

}  // namespace sorus
