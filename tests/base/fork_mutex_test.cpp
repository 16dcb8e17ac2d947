#include "sorus/base/fork_mutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sorus {
namespace {

/// Locks and unlocks every one of the mutexes until told to stop, so that a fork meets held ones.
class Busy {
 public:
  explicit Busy(const std::vector<int>& objects) {
    for (int i = 0; i < 2; ++i)
      threads_.emplace_back([this, &objects] {
        while (!stop_.load(std::memory_order_relaxed))
          for (const int& object : objects) {
            std::lock_guard lock(fork_mutex_of(&object));
            ++guarded_;
          }
      });
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& t : threads_) t.join();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> guarded_{0};
  std::vector<std::thread> threads_;
};

TEST(ForkMutex, IsFreeInAChildThatIsForkedWhileThreadsHoldIt) {
  const std::vector<int> objects(100);
  Busy busy(objects);
  for (int turn = 0; turn < 50; ++turn) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);  // a child that waits for a thread that it has not ends by this
      for (const int& object : objects) std::lock_guard lock(fork_mutex_of(&object));
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "turn " << turn << ", status " << status;
  }
}

TEST(ForkMutex, ThatIsGoneHoldsNoForkUp) {
  // Memory of a mutex that is gone looks like a held one: a fork that still took it would wait for ever.
  alignas(ForkMutex) std::array<unsigned char, sizeof(ForkMutex)> room{};
  std::construct_at(reinterpret_cast<ForkMutex*>(room.data()))->~ForkMutex();
  room.fill(0x01);
  const unsigned before = alarm(20);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(0);
  alarm(before);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ForkMutex, OfAnObjectIsAlwaysTheSame) {
  const int object = 0;
  EXPECT_EQ(&fork_mutex_of(&object), &fork_mutex_of(&object));
}

}  // namespace
}  // namespace sorus
