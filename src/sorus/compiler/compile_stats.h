#pragma once

#include <cstdint>

#include "sorus/base/export.h"

namespace sorus {

/// What the process has spent on compiling so far, on all threads.
struct CompileStats {
  int64_t programs = 0;       ///< graphs compiled
  int64_t cache_hits = 0;     ///< of them, those whose passes were spared by the compile cache
  int64_t cache_misses = 0;   ///< those that the cache was asked for in vain
  int64_t cache_stored = 0;   ///< entries written
  int64_t cache_damaged = 0;  ///< entries found unusable, and made anew
  double pass_seconds = 0;    ///< in passes, or in reading the cache
  int64_t bindings = 0;       ///< programs bound to the strides of their inputs
  double bind_seconds = 0;
};
[[nodiscard]] SORUS_API CompileStats compile_stats();

enum class CompileEvent { kProgram, kCacheHit, kCacheMiss, kCacheStored, kCacheDamaged, kBinding };
/// Counts an event and the time that it took.
void note_compile_event(CompileEvent event, double seconds = 0);

}  // namespace sorus
