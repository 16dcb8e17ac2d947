#include "sorus/base/thread_pool.h"

#include <gtest/gtest.h>
#include <pmmintrin.h>

#include <atomic>
#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sorus {
namespace {

/// Sets the number of threads for a test.
class ThreadPool : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    before_ = num_threads();
    set_num_threads(GetParam());
  }
  void TearDown() override { set_num_threads(before_); }

 private:
  int before_ = 1;
};

TEST_P(ThreadPool, RunsEveryPieceOnce) {
  for (int64_t pieces : {1, 2, 3, 7, 16, 17, 100, 1000})
    for (int turn = 0; turn < 4; ++turn) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(pieces));
      parallel_for(pieces, [&](int64_t i) { ++runs[static_cast<size_t>(i)]; });
      for (const auto& r : runs) EXPECT_EQ(r, 1) << pieces << " pieces";
    }
}

TEST_P(ThreadPool, CutsRangesByTheCountAlone) {
  std::vector<std::atomic<int64_t>> begins(1001);
  parallel_ranges(1001, 10, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(begin % 10, 0);
    for (int64_t i = begin; i < end; ++i) begins[static_cast<size_t>(i)] = begin;
  });
  for (size_t i = 0; i < begins.size(); ++i) EXPECT_EQ(begins[i], static_cast<int64_t>(i / 10 * 10));
}

TEST_P(ThreadPool, RunsInnerLoopsInOrder) {
  std::atomic<int> wrong{0};
  parallel_for(20, [&](int64_t) {
    int64_t expected = 0;
    parallel_for(5, [&](int64_t i) { wrong += in_parallel_region() && i != expected++; });
  });
  EXPECT_EQ(wrong, 0);
}

TEST_P(ThreadPool, WakesThreadsThatWentToSleep) {
  for (int turn = 0; turn < 5; ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int64_t> sum{0};
    parallel_for(50, [&](int64_t i) {
      // Long enough for the caller to sleep at the end, too.
      if (i == 24) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      sum += i;
    });
    EXPECT_EQ(sum, 1225);
  }
}

TEST_P(ThreadPool, ServesSeveralCallers) {
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&] {
      for (int turn = 0; turn < 200; ++turn) parallel_for(10, [&](int64_t i) { sum += i; });
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 200 * 45);
}

TEST_P(ThreadPool, FlushesDenormalNumbersAsTheCallerDoes) {
  const auto halves_of_least = [] {
    std::vector<float> halves(64);
    volatile float least = 0x1p-126F;
    parallel_for(64, [&](int64_t i) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // so that every thread gets some
      halves[static_cast<size_t>(i)] = least * 0.5F;
    });
    return halves;
  };
  const unsigned before = _mm_getcsr();
  for (bool flush : {true, false}) {
    _MM_SET_FLUSH_ZERO_MODE(flush ? _MM_FLUSH_ZERO_ON : _MM_FLUSH_ZERO_OFF);
    for (float half : halves_of_least()) EXPECT_EQ(half, flush ? 0.0F : 0x1p-127F);
  }
  _mm_setcsr(before);
}

TEST_P(ThreadPool, RethrowsAndGoesOn) {
  EXPECT_THROW(parallel_for(50,
                            [](int64_t i) {
                              if (i == 31) throw std::runtime_error("piece");
                            }),
               std::runtime_error);
  std::atomic<int64_t> sum{0};
  parallel_for(50, [&](int64_t i) { sum += i; });
  EXPECT_EQ(sum, 1225);
}

/// A random order among tasks.
std::vector<uint64_t> random_order(size_t count, std::mt19937& random) {
  std::vector<uint64_t> before(count, 0);
  for (size_t i = 1; i < count; ++i)
    for (uint32_t k = random() % 3; k > 0; --k) before[i] |= uint64_t{1} << random() % i;
  return before;
}

TEST_P(ThreadPool, RunsTasksOnceAndInOrder) {
  std::mt19937 random(11);
  for (size_t count : {0, 1, 2, 7, 33, 64})
    for (int turn = 0; turn < 40; ++turn) {
      const std::vector<uint64_t> before = random_order(count, random);
      std::vector<int> ended(count, 0);  // plain numbers: each is read only by who waits for its task
      std::vector<std::atomic<int>> runs(count);
      std::atomic<int> wrong{0};
      parallel_tasks(before, [&](int64_t i) {
        const auto at = static_cast<size_t>(i);
        ++runs[at];
        for (size_t k = 0; k < at; ++k) wrong += (before[at] >> k & 1U) && ended[k] != 1;
        ended[at] = 1;
      });
      EXPECT_EQ(wrong, 0);
      for (const auto& r : runs) EXPECT_EQ(r, 1);
    }
}

TEST_P(ThreadPool, TasksShareTheirLoops) {
  std::mt19937 random(12);
  for (int turn = 0; turn < 100; ++turn) {
    const std::vector<uint64_t> before = random_order(20, random);
    std::atomic<int64_t> sum{0};
    parallel_tasks(before, [&](int64_t i) {
      EXPECT_FALSE(in_parallel_region());
      parallel_for(i, [&](int64_t k) {
        if (turn < 3 && k == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        sum += k;
      });
      // Tasks inside a task, and in its loops, run one after the other.
      const std::vector<uint64_t> none(3, 0);
      int64_t next = 0;
      parallel_tasks(none, [&](int64_t k) { EXPECT_EQ(k, next++); });
      parallel_for(2, [&](int64_t) { parallel_tasks(none, [&](int64_t) { sum += 1; }); });
    });
    EXPECT_EQ(sum, 1140 + 20 * 6);
  }
}

TEST_P(ThreadPool, TheFirstTaskThatThrowsIsHeard) {
  std::mt19937 random(13);
  for (int turn = 0; turn < 60; ++turn) {
    const std::vector<uint64_t> before = random_order(40, random);
    std::vector<std::atomic<int>> runs(40);
    try {
      parallel_tasks(before, [&](int64_t i) {
        ++runs[static_cast<size_t>(i)];
        if (i == 17 && turn % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        if (i == 17 || i == 18 || i == 30) throw std::runtime_error(std::to_string(i));
      });
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "17");
    }
    for (size_t i = 0; i < 40; ++i) {
      EXPECT_TRUE(i <= 17 ? runs[i] == 1 : runs[i] <= 1);
    }
  }
}

TEST_P(ThreadPool, ServesSeveralCallersOfTasks) {
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c)
    callers.emplace_back([&, c] {
      std::mt19937 random(static_cast<uint32_t>(c));
      for (int turn = 0; turn < 100; ++turn) {
        const std::vector<uint64_t> before = random_order(10, random);
        parallel_tasks(before, [&](int64_t i) { parallel_for(4, [&](int64_t k) { sum += i * k; }); });
        parallel_for(10, [&](int64_t i) { sum += i; });
      }
    });
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 100 * (45 * 6 + 45));
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPool, ::testing::Values(1, 2, 3, 20));

}  // namespace
}  // namespace sorus
