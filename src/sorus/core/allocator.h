#pragma once

#include <cstddef>
#include <cstdint>

#include "sorus/base/export.h"

/// Host memory for tensors. Freed blocks are kept and reused, so that a fresh large result costs no page
/// faults. All blocks are aligned to 64 bytes. Thread-safe.
namespace sorus {

/// Bytes from the caching allocator, at least `bytes`, contents undefined. Throws MemoryError naming the
/// size.
[[nodiscard]] SORUS_API void* allocate_bytes(size_t bytes);
/// Gives a block back; `bytes` is the size it was asked with. Never throws.
SORUS_API void free_bytes(void* block, size_t bytes) noexcept;

struct MemoryStats {
  int64_t live = 0;      ///< bytes in blocks that are handed out
  int64_t peak = 0;      ///< largest `live` since the last reset_peak_memory()
  int64_t cached = 0;    ///< bytes kept for reuse
  int64_t reserved = 0;  ///< bytes obtained from the system: live + cached
};
[[nodiscard]] SORUS_API MemoryStats memory_stats();
SORUS_API void reset_peak_memory();
/// Returns all cached large blocks, and this thread's small ones, to the system.
SORUS_API void release_cached_memory();
/// Does so when the large blocks kept for reuse are more than a quarter of what is in use, and more than 64
/// MB: for moments after which less is needed than before.
SORUS_API void release_excess_memory();

}  // namespace sorus
