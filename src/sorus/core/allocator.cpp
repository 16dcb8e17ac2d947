#include "sorus/core/allocator.h"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "sorus/base/error.h"
#include "sorus/base/flags.h"
#include "sorus/base/fork_mutex.h"
#include "sorus/base/log.h"

namespace sorus {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLargeBlock = size_t{1} << 20;        // from here on blocks are shared between threads
constexpr size_t kThreadCacheBytes = size_t{8} << 20;  // small blocks kept by one thread

std::atomic<int64_t> live{0}, peak{0}, reserved{0};

/// Sizes are rounded up to a power of two cut in four, so that at most a fifth is wasted and blocks fit each
/// other.
size_t rounded_size(size_t bytes) {
  if (bytes <= kAlignment) return kAlignment;
  size_t step = std::max(kAlignment, std::bit_floor(bytes - 1) / 4);
  return (bytes + step - 1) / step * step;
}

/// Small sizes have a dense class number: four for each power of two from 64 bytes up.
int size_class(size_t rounded) {
  int log = std::bit_width(rounded - 1);
  size_t base = size_t{1} << (log - 1);
  size_t quarter = base / 4;
  if (quarter < kAlignment) return static_cast<int>(rounded / kAlignment);
  return (log - 6) * 4 + static_cast<int>((rounded - base) / quarter);
}
constexpr int kClasses = 80;

void* system_allocate(size_t bytes) {
  void* block = nullptr;
  size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  if (posix_memalign(&block, alignment, bytes) != 0) return nullptr;
  if (bytes >= kHugePage) madvise(block, bytes, MADV_HUGEPAGE);
  reserved.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  return block;
}

void system_free(void* block, size_t bytes) {
  std::free(block);
  reserved.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
}

/// Large blocks, shared by all threads, best fit within an eighth of slack.
class LargeCache {
 public:
  void* take(size_t bytes) {
    std::lock_guard lock(mutex_);
    auto at = blocks_.find(bytes);
    if (at == blocks_.end() || at->second.empty()) return nullptr;
    void* block = at->second.back();
    at->second.pop_back();
    cached_ -= bytes;
    return block;
  }
  void give(void* block, size_t bytes) {
    std::lock_guard lock(mutex_);
    blocks_[bytes].push_back(block);
    cached_ += bytes;
    // What is kept never exceeds what was in use at the busiest time: memory stays flat when shapes change.
    while (cached_ > static_cast<size_t>(peak.load(std::memory_order_relaxed)) && drop_largest()) {
    }
  }
  void clear() {
    std::lock_guard lock(mutex_);
    while (drop_largest()) {
    }
  }

 private:
  bool drop_largest() {
    for (auto at = blocks_.rbegin(); at != blocks_.rend(); ++at) {
      if (at->second.empty()) continue;
      system_free(at->second.back(), at->first);
      at->second.pop_back();
      cached_ -= at->first;
      return true;
    }
    return false;
  }
  ForkMutex mutex_;
  std::map<size_t, std::vector<void*>> blocks_;
  size_t cached_ = 0;
};

LargeCache& large_cache() {
  static auto& cache = *new LargeCache;
  return cache;
}

/// Small blocks of one thread in intrusive free lists by class.
struct ThreadCache {
  struct Node {
    Node* next;
  };
  std::array<Node*, kClasses> lists{};
  std::array<size_t, kClasses> sizes{};
  size_t bytes = 0;

  void* take(int cls, size_t size) {
    Node* node = lists[static_cast<size_t>(cls)];
    if (!node) return nullptr;
    lists[static_cast<size_t>(cls)] = node->next;
    bytes -= size;
    return node;
  }
  bool give(void* block, int cls, size_t size) {
    if (bytes + size > kThreadCacheBytes) return false;
    lists[static_cast<size_t>(cls)] = new (block) Node{lists[static_cast<size_t>(cls)]};
    sizes[static_cast<size_t>(cls)] = size;
    bytes += size;
    return true;
  }
  void clear() {
    for (size_t c = 0; c < lists.size(); ++c)
      while (Node* node = lists[c]) {
        lists[c] = node->next;
        system_free(node, sizes[c]);
      }
    bytes = 0;
  }
  ~ThreadCache();
};

thread_local bool thread_cache_gone = false;  // objects freed while the thread ends go straight to the system
ThreadCache::~ThreadCache() {
  clear();
  thread_cache_gone = true;
}
ThreadCache* thread_cache() {
  if (thread_cache_gone) return nullptr;
  thread_local ThreadCache cache;
  return &cache;
}

void count_live(int64_t bytes) {
  int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t seen = peak.load(std::memory_order_relaxed);
  while (now > seen && !peak.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

}  // namespace

void* allocate_bytes(size_t bytes) {
  SORUS_CHECK(bytes < (size_t{1} << 47), MemoryError,
              "memory: request is too large: got {} bytes, need fewer than 2^47", bytes);
  size_t size = rounded_size(bytes);
  void* block = nullptr;
  if (size < kLargeBlock) {
    if (ThreadCache* cache = thread_cache()) block = cache->take(size_class(size), size);
  } else {
    block = large_cache().take(size);
  }
  if (!block) block = system_allocate(size);
  if (!block) {
    release_cached_memory();
    block = system_allocate(size);
  }
  SORUS_CHECK(block, MemoryError, "memory: out of memory: need {} bytes, {} bytes are in use by tensors",
              bytes, live.load());
  count_live(static_cast<int64_t>(size));
  return block;
}

void free_bytes(void* block, size_t bytes) noexcept {
  if (!block) return;
  size_t size = rounded_size(bytes);
  live.fetch_sub(static_cast<int64_t>(size), std::memory_order_relaxed);
  if (size >= kLargeBlock) {
    large_cache().give(block, size);
    return;
  }
  ThreadCache* cache = thread_cache();
  if (!cache || !cache->give(block, size_class(size), size)) system_free(block, size);
}

MemoryStats memory_stats() {
  MemoryStats s;
  s.live = live.load();
  s.peak = peak.load();
  s.reserved = reserved.load();
  s.cached = s.reserved - s.live;
  return s;
}

void reset_peak_memory() { peak = live.load(); }

void release_cached_memory() {
  large_cache().clear();
  if (ThreadCache* cache = thread_cache()) cache->clear();
}

}  // namespace sorus
