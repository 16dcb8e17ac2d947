#include "sorus/compiler/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace sorus {
namespace {

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Whether all that touches `a` has ended before anything touches `b`.
bool precedes(const BufferLife& a, const BufferLife& b) {
  return a.last < b.first || (a.last == b.first && (a.last_tasks & ~b.first_before) == 0);
}

bool overlap(const BufferLife& a, const BufferLife& b) { return !precedes(a, b) && !precedes(b, a); }

}  // namespace

MemoryPlan plan_memory(std::span<const BufferLife> buffers) {
  MemoryPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<size_t> placed;  // sorted by offset
  for (size_t i : order) {
    int64_t size = aligned(buffers[i].bytes);
    plan.naive_bytes += size;
    int64_t best = -1;
    int64_t best_gap = INT64_MAX;
    int64_t at = 0;
    for (size_t p : placed) {
      if (!overlap(buffers[i], buffers[p])) continue;
      int64_t gap = plan.offsets[p] - at;
      if (gap >= size && gap < best_gap) {
        best = at;
        best_gap = gap;
      }
      at = std::max(at, plan.offsets[p] + aligned(buffers[p].bytes));
    }
    plan.offsets[i] = best >= 0 ? best : at;
    plan.arena_bytes = std::max(plan.arena_bytes, plan.offsets[i] + size);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), i,
                                   [&](size_t a, size_t b) { return plan.offsets[a] < plan.offsets[b]; }),
                  i);
  }
  return plan;
}

int64_t most_alive(std::span<const BufferLife> buffers) {
  int32_t steps = 0;
  for (const BufferLife& b : buffers) steps = std::max(steps, b.last + 1);
  std::vector<int64_t> change(static_cast<size_t>(steps) + 1, 0);
  for (const BufferLife& b : buffers) {
    change[static_cast<size_t>(b.first)] += aligned(b.bytes);
    change[static_cast<size_t>(b.last) + 1] -= aligned(b.bytes);
  }
  int64_t now = 0;
  int64_t most = 0;
  for (int64_t c : change) most = std::max(most, now += c);
  return most;
}

}  // namespace sorus
