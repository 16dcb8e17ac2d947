#include "sorus/core/large_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "sorus/core/allocator.h"

namespace sorus {
namespace {

constexpr size_t kMega = size_t{1} << 20;

LargeHeap& fresh_heap() { return *new LargeHeap; }  // heaps are never destroyed

TEST(LargeHeap, NeighboursBecomeOne) {
  LargeHeap& heap = fresh_heap();
  void* a = heap.take(10 * kMega);
  void* b = heap.take(20 * kMega);
  void* c = heap.take(30 * kMega);
  void* end = heap.take(kMega);
  for (void* block : {a, c, b})
    heap.give(block, block == a ? 10 * kMega : block == b ? 20 * kMega : 30 * kMega);
  size_t before = heap.resident();
  void* whole = heap.take(60 * kMega);
  EXPECT_EQ(whole, a);
  EXPECT_EQ(heap.resident(), before);
  heap.give(whole, 60 * kMega);
  heap.give(end, kMega);
}

TEST(LargeHeap, BlocksNeverOverlapAndKeepTheirBytes) {
  LargeHeap& heap = fresh_heap();
  struct Block {
    char* data;
    size_t bytes;
    char mark;
  };
  std::vector<Block> blocks;
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    if (blocks.size() < 20 || random() % 2 == 0) {
      size_t bytes = kMega + random() % (3 * kMega);
      auto mark = static_cast<char>(i % 127);
      blocks.push_back({static_cast<char*>(heap.take(bytes)), bytes, mark});
      ASSERT_NE(blocks.back().data, nullptr);
      std::memset(blocks.back().data, mark, 64);
      std::memset(blocks.back().data + bytes - 64, mark, 64);
    }
    if (blocks.size() > 40 || random() % 2 == 0) {
      size_t at = random() % blocks.size();
      Block block = blocks[at];
      for (size_t j = 0; j < 64; ++j) {
        ASSERT_EQ(block.data[j], block.mark);
        ASSERT_EQ(block.data[block.bytes - 1 - j], block.mark);
      }
      heap.give(block.data, block.bytes);
      blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(at));
    }
  }
  for (const Block& block : blocks) heap.give(block.data, block.bytes);
  heap.trim();
  EXPECT_EQ(heap.resident(), 0U);
}

/// Sizes that grow from round to round leave holes that the next ones do not fit: their pages go back.
TEST(LargeHeap, KeepsLittleMoreThanWasInUse) {
  LargeHeap& heap = fresh_heap();
  size_t most = 0;
  std::vector<std::pair<void*, size_t>> kept;
  for (size_t round = 0; round < 60; ++round) {
    size_t bytes = (4 + round) * kMega;
    void* hole = heap.take(bytes);
    kept.emplace_back(heap.take(2 * kMega), 2 * kMega);
    heap.give(hole, bytes);
    most = std::max(most, bytes + 2 * kMega * kept.size());
  }
  EXPECT_LE(heap.resident(), most + most / 8 + 64 * kMega);
  for (auto [block, bytes] : kept) heap.give(block, bytes);
}

TEST(LargeHeap, SaysNullWhenAddressesRunOut) {
  LargeHeap& heap = fresh_heap();
  EXPECT_EQ(heap.take(size_t{1} << 62), nullptr);
  void* block = heap.take(kMega);
  EXPECT_NE(block, nullptr);
  heap.give(block, kMega);
}

TEST(Allocator, CountsWhatIsLiveAndGivesMemoryBack) {
  MemoryStats before = memory_stats();
  void* block = allocate_bytes(100 * kMega);
  std::memset(block, 1, 100 * kMega);
  EXPECT_EQ(memory_stats().live, before.live + static_cast<int64_t>(100 * kMega));
  EXPECT_GE(memory_stats().reserved, memory_stats().live);
  free_bytes(block, 100 * kMega);
  EXPECT_EQ(memory_stats().live, before.live);
  release_cached_memory();
  EXPECT_LE(memory_stats().reserved, before.reserved + static_cast<int64_t>(kMega));
}

/// Little is kept for what comes next; much, beside what is in use, is given back.
TEST(Allocator, GivesExcessBack) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer's heap keeps nothing";
#endif
  release_cached_memory();
  const MemoryStats before = memory_stats();
  for (size_t megabytes : {size_t{16}, size_t{200}}) {
    void* block = allocate_bytes(megabytes * kMega);
    std::memset(block, 1, megabytes * kMega);
    free_bytes(block, megabytes * kMega);
    release_excess_memory();
    const int64_t kept = memory_stats().reserved - before.reserved;
    if (megabytes == 16)
      EXPECT_GE(kept, 15 * static_cast<int64_t>(kMega));
    else
      EXPECT_LE(kept, static_cast<int64_t>(kMega));
  }
}

}  // namespace
}  // namespace sorus
