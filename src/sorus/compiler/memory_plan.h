#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sorus/base/export.h"

namespace sorus {

/// A buffer that lives from place `first` to place `last` in time, both included. At one place there may be
/// several tasks, of which some wait for others.
struct BufferLife {
  int64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
  uint64_t first_before = 0;  ///< tasks at `first` that have ended before any there touches the buffer
  uint64_t last_tasks = ~uint64_t{0};  ///< those at `last` that touch it
};

/// Places of buffers in one arena such that no two that may live at the same time overlap.
struct MemoryPlan {
  std::vector<int64_t> offsets;  ///< in bytes, multiples of 64
  int64_t arena_bytes = 0;
  int64_t naive_bytes = 0;  ///< every buffer on its own
};

/// Best fit, largest buffers first. Deterministic.
[[nodiscard]] SORUS_API MemoryPlan plan_memory(std::span<const BufferLife> buffers);

/// Largest sum of buffers alive at one place, where each place is one task: no plan takes less.
[[nodiscard]] SORUS_API int64_t most_alive(std::span<const BufferLife> buffers);

}  // namespace sorus
