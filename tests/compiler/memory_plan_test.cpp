#include "sorus/compiler/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

namespace sorus {
namespace {

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// Checks every pair at every step, knowing nothing of how the plan was made.
void expect_sound(const std::vector<BufferLife>& buffers, const MemoryPlan& plan) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % 64, 0);
    EXPECT_GE(plan.offsets[i], 0);
    EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.arena_bytes);
    for (size_t j = 0; j < i; ++j)
      for (int32_t step = 0; step < 64; ++step) {
        bool both = buffers[i].first <= step && step <= buffers[i].last && buffers[j].first <= step &&
                    step <= buffers[j].last;
        bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                     plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
        EXPECT_TRUE(!both || apart) << i << " and " << j << " at step " << step;
      }
  }
}

TEST(MemoryPlan, NoTwoLiveBuffersOverlap) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    std::vector<BufferLife> buffers(random() % 24);
    for (BufferLife& b : buffers) {
      b.bytes = static_cast<int64_t>(random() % 5000);
      b.first = static_cast<int32_t>(random() % 40);
      b.last = b.first + static_cast<int32_t>(random() % 20);
    }
    MemoryPlan plan = plan_memory(buffers);
    expect_sound(buffers, plan);
    EXPECT_GE(plan.arena_bytes, most_alive(buffers));
    EXPECT_LE(plan.arena_bytes, plan.naive_bytes);
  }
}

TEST(MemoryPlan, AChainNeedsTwoBuffers) {
  std::vector<BufferLife> chain;
  for (int32_t i = 0; i < 10; ++i) chain.push_back({1000, i, i + 1});
  MemoryPlan plan = plan_memory(chain);
  EXPECT_EQ(plan.arena_bytes, 2 * aligned(1000));
  EXPECT_EQ(most_alive(chain), 2 * aligned(1000));
  EXPECT_EQ(plan.naive_bytes, 10 * aligned(1000));
}

TEST(MemoryPlan, BuffersOfOnePlaceShareWhereTasksWaitForEachOther) {
  // Task 0 writes a, task 1 reads a and writes b, task 2 reads b and writes c; task 3 waits for nobody.
  const BufferLife a{1000, 0, 0, 0b000, 0b0011};
  const BufferLife b{1000, 0, 0, 0b001, 0b0110};
  const BufferLife c{1000, 0, 1, 0b011, 0b1};
  const BufferLife beside{1000, 0, 0, 0b000, 0b1000};
  EXPECT_EQ(plan_memory(std::vector{a, b}).arena_bytes, 2 * aligned(1000));
  EXPECT_EQ(plan_memory(std::vector{a, b, c}).arena_bytes, 2 * aligned(1000));
  EXPECT_EQ(plan_memory(std::vector{a, c}).arena_bytes, aligned(1000));
  EXPECT_EQ(plan_memory(std::vector{a, c, beside}).arena_bytes, 2 * aligned(1000));
  const BufferLife later{1000, 1, 1};
  EXPECT_EQ(plan_memory(std::vector{a, beside, later}).arena_bytes, 2 * aligned(1000));
}

}  // namespace
}  // namespace sorus
