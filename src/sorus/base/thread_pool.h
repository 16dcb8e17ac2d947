#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "sorus/base/export.h"

/// The one thread pool of the process. Compute and data share it; idle threads sleep, after a short look for
/// more; fork is safe (the child starts its own threads on first use); several callers at once are correct.
namespace sorus {

/// Number of threads that a parallel loop may use, the calling one included. Default: SORUS_NUM_THREADS or
/// the cores.
[[nodiscard]] SORUS_API int num_threads();

/// Sets it for the process. Throws ValueError unless 1 <= n <= 1024. Results do not depend on it.
SORUS_API void set_num_threads(int n);

/// True on a pool thread or inside a parallel loop: loops started there run on the calling thread.
[[nodiscard]] SORUS_API bool in_parallel_region();

namespace detail {
using LoopBody = void (*)(void* context, int64_t piece);
SORUS_API void run_pieces(int64_t pieces, LoopBody body, void* context);
SORUS_API void run_tasks(std::span<const uint64_t> before, LoopBody body, void* context);
}  // namespace detail

/// Calls body(i) once for every i in [0, pieces), on the pool and the calling thread, and returns when all
/// are done. All pieces round, and flush denormal numbers or not, as the calling thread does. How the work is
/// cut into pieces must depend on shapes alone, so that bits do not depend on the thread count. The first
/// exception is rethrown on the caller after all pieces have ended; later pieces may be skipped.
template <class Body>
void parallel_for(int64_t pieces, Body&& body) {
  if (pieces == 1) {
    body(int64_t{0});
    return;
  }
  detail::run_pieces(
      pieces,
      [](void* context, int64_t piece) { (*static_cast<std::remove_reference_t<Body>*>(context))(piece); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

/// Cuts [0, count) into ranges of `grain` elements (the last may be shorter) and calls body(begin, end) for
/// each.
template <class Body>
void parallel_ranges(int64_t count, int64_t grain, Body&& body) {
  if (count <= 0) return;
  if (count <= grain) {
    body(int64_t{0}, count);
    return;
  }
  parallel_for((count + grain - 1) / grain, [&](int64_t i) {
    int64_t begin = i * grain;
    body(begin, begin + grain < count ? begin + grain : count);
  });
}

/// Calls body(i) once for every task i in [0, before.size()), at most 64, several at once where threads are
/// idle: task i begins when those of `before[i]` (a bit each, of lower numbers) have ended, and sees what
/// they wrote. A task may start parallel loops: threads that have no task help with them. Without other
/// threads, in a loop, and inside a task, the tasks run one after the other. When one throws, later ones that
/// have not begun do not run, those of lower numbers do; what the task of the lowest number threw is
/// rethrown. Takes no lock and allocates nothing, as a rule.
template <class Body>
void parallel_tasks(std::span<const uint64_t> before, Body&& body) {
  detail::run_tasks(
      before,
      [](void* context, int64_t task) { (*static_cast<std::remove_reference_t<Body>*>(context))(task); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace sorus
