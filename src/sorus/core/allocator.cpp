#include "sorus/core/allocator.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <new>

#include "sorus/base/error.h"
#include "sorus/core/large_heap.h"

namespace sorus {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kLargeBlock = size_t{1} << 20;  // from here on blocks are shared between threads
constexpr size_t kPage = 4096;
constexpr size_t kThreadCacheBytes = size_t{8} << 20;  // small blocks kept by one thread
constexpr int64_t kExcess = int64_t{64} << 20;         // kept large blocks that may be worth giving back

std::atomic<int64_t> live{0}, peak{0}, reserved{0};

/// Small sizes are rounded up to a power of two cut in four, so that at most a fifth is wasted and blocks fit
/// each other; large ones to pages.
size_t rounded_size(size_t bytes) {
  if (bytes <= kAlignment) return kAlignment;
  if (bytes >= kLargeBlock) return (bytes + kPage - 1) / kPage * kPage;
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
  if (posix_memalign(&block, kAlignment, bytes) != 0) return nullptr;
  reserved.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  return block;
}

void system_free(void* block, size_t bytes) {
  std::free(block);
  reserved.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
}

/// The address sanitizer watches blocks of its own better than parts of a heap that it does not know.
constexpr bool in_heap(size_t size) {
#ifdef __SANITIZE_ADDRESS__
  return false && size != 0;
#else
  return size >= kLargeBlock;
#endif
}

LargeHeap& large_heap() {
  static auto& heap = *new LargeHeap;
  return heap;
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

void* take_block(size_t size) {
  if (in_heap(size)) return large_heap().take(size);
  void* block = nullptr;
  ThreadCache* cache = size < kLargeBlock ? thread_cache() : nullptr;
  if (cache) block = cache->take(size_class(size), size);
  return block ? block : system_allocate(size);
}

}  // namespace

void* allocate_bytes(size_t bytes) {
  SORUS_CHECK(bytes < (size_t{1} << 47), MemoryError,
              "memory: request is too large: got {} bytes, need fewer than 2^47", bytes);
  size_t size = rounded_size(bytes);
  void* block = take_block(size);
  if (!block) {
    release_cached_memory();
    block = take_block(size);
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
  if (in_heap(size)) {
    large_heap().give(block, size);
    return;
  }
  ThreadCache* cache = size < kLargeBlock ? thread_cache() : nullptr;
  if (!cache || !cache->give(block, size_class(size), size)) system_free(block, size);
}

MemoryStats memory_stats() {
  MemoryStats s;
  s.live = live.load();
  s.peak = peak.load();
  s.reserved = reserved.load() + static_cast<int64_t>(large_heap().resident());
  s.cached = s.reserved - s.live;
  return s;
}

void reset_peak_memory() { peak = live.load(); }

void release_cached_memory() {
  large_heap().trim();
  if (ThreadCache* cache = thread_cache()) cache->clear();
}

void release_excess_memory() {
  const MemoryStats s = memory_stats();
  if (s.cached > std::max(kExcess, s.live / 4)) large_heap().trim();
}

}  // namespace sorus
