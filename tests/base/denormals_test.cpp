#include "sorus/base/denormals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sorus/base/thread_pool.h"

namespace sorus {
namespace {

/// Half of the least normal number, computed now.
float halved_least() {
  volatile float least = 0x1p-126F;
  volatile float half = 0.5F;
  return least * half;
}

TEST(Denormals, AreKeptUnlessAskedFor) {
  EXPECT_FALSE(flush_denormal());
  const DenormalControl control;
  EXPECT_EQ(halved_least(), 0x1p-127F);
}

TEST(Denormals, AreFlushedWithinAControlOnly) {
  const FlushDenormal flush(true);
  EXPECT_EQ(halved_least(), 0x1p-127F);
  {
    const DenormalControl control;
    EXPECT_EQ(halved_least(), 0);
    const DenormalControl inner;
    EXPECT_EQ(halved_least(), 0);
  }
  EXPECT_EQ(halved_least(), 0x1p-127F);
}

TEST(Denormals, ThreadsOfThePoolFollow) {
  const FlushDenormal flush(true);
  const DenormalControl control;
  std::atomic<int> kept = 0;
  parallel_for(256, [&](int64_t) {
    if (halved_least() != 0) ++kept;
  });
  EXPECT_EQ(kept, 0);
}

TEST(Denormals, IsASettingOfTheThread) {
  const FlushDenormal flush(true);
  bool elsewhere = true;
  std::thread([&] { elsewhere = flush_denormal(); }).join();
  EXPECT_FALSE(elsewhere);
}

}  // namespace
}  // namespace sorus
