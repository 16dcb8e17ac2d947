#include "sorus/compiler/compile_stats.h"

#include <array>
#include <atomic>

namespace sorus {
namespace {

struct Counter {
  std::atomic<int64_t> count{0};
  std::atomic<int64_t> nanoseconds{0};
  [[nodiscard]] double seconds() const { return static_cast<double>(nanoseconds.load()) * 1e-9; }
};

Counter& counter(CompileEvent event) {
  static std::array<Counter, static_cast<size_t>(CompileEvent::kBinding) + 1> all;
  return all[static_cast<size_t>(event)];
}

}  // namespace

CompileStats compile_stats() {
  const Counter& programs = counter(CompileEvent::kProgram);
  const Counter& bindings = counter(CompileEvent::kBinding);
  return {.programs = programs.count,
          .cache_hits = counter(CompileEvent::kCacheHit).count,
          .cache_misses = counter(CompileEvent::kCacheMiss).count,
          .cache_stored = counter(CompileEvent::kCacheStored).count,
          .cache_damaged = counter(CompileEvent::kCacheDamaged).count,
          .pass_seconds = programs.seconds(),
          .bindings = bindings.count,
          .bind_seconds = bindings.seconds()};
}

void note_compile_event(CompileEvent event, double seconds) {
  Counter& c = counter(event);
  c.count.fetch_add(1, std::memory_order_relaxed);
  c.nanoseconds.fetch_add(static_cast<int64_t>(seconds * 1e9), std::memory_order_relaxed);
}

}  // namespace sorus
