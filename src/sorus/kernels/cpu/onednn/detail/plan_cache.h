#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "sorus/base/fork_mutex.h"

/// A bounded, thread-safe map from problems to what was prepared for them. Never destroyed, as its mutex.
namespace sorus::kernels::onednn::detail {

/// Problem needs == and a free function `uint64_t hash_value(const Problem&)`. A plan is immutable and lives
/// as long as someone holds it, so eviction never disturbs a running call.
template <class Problem, class Plan>
class PlanCache {
 public:
  explicit PlanCache(size_t capacity) : capacity_(capacity) {}

  /// The plan of the problem; `build(problem)` makes it on the first call. Two callers that miss at the same
  /// time both build, and one of the plans is kept. An exception of `build` leaves the cache as it was.
  template <class Build>
  [[nodiscard]] std::shared_ptr<const Plan> get(const Problem& problem, Build&& build) {
    {
      std::lock_guard lock(mutex_);
      auto it = entries_.find(problem);
      if (it != entries_.end()) {
        it->second.last_use.store(clock_.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
        return it->second.plan;
      }
    }
    std::shared_ptr<const Plan> plan = build(problem);
    std::lock_guard lock(mutex_);
    if (entries_.size() >= capacity_ && entries_.find(problem) == entries_.end()) evict_oldest();
    auto it =
        entries_.try_emplace(problem, std::move(plan), clock_.fetch_add(1, std::memory_order_relaxed)).first;
    return it->second.plan;
  }

  [[nodiscard]] size_t size() const {
    std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Entry {
    Entry(std::shared_ptr<const Plan> p, uint64_t now) : plan(std::move(p)), last_use(now) {}
    std::shared_ptr<const Plan> plan;
    std::atomic<uint64_t> last_use;
  };
  struct Hash {
    size_t operator()(const Problem& problem) const { return hash_value(problem); }
  };

  // A scan: it happens only on a miss of a full cache, where building costs thousands of times more.
  void evict_oldest() {
    auto oldest = std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
      return a.second.last_use.load(std::memory_order_relaxed) <
             b.second.last_use.load(std::memory_order_relaxed);
    });
    entries_.erase(oldest);
  }

  mutable ForkMutex mutex_;
  std::unordered_map<Problem, Entry, Hash> entries_;
  std::atomic<uint64_t> clock_{0};
  size_t capacity_;
};

}  // namespace sorus::kernels::onednn::detail
