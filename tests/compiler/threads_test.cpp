#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "sorus/autograd/grad.h"
#include "sorus/compiler/boundary.h"
#include "sorus/compiler/replay.h"
#include "sorus/core/parameter.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/reduce/reduce.h"

/// Threads that meet in boundaries: values that others still compute, handles that others write.
namespace sorus {
namespace {

Tensor floats(size_t n, float first) {
  std::vector<float> v(n);
  for (size_t i = 0; i < n; ++i) v[i] = first + static_cast<float>(i % 7) * .25F;
  return Tensor(std::span<const float>(v), Shape{static_cast<int64_t>(n)});
}

Tensor zeros(size_t n) {
  std::vector<float> v(n, 0.F);
  return Tensor(std::span<const float>(v), Shape{static_cast<int64_t>(n)});
}

std::vector<float> bits(const Tensor& t) { return t.to_vector<float>(); }

void together(int count, const std::function<void(int)>& f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&, i] { f(i); });
  for (std::thread& t : threads) t.join();
}

void aside(const std::function<void()>& f) { std::thread(f).join(); }

TEST(Threads, AnotherThreadReadsWhatIsStillPending) {
  uint64_t id = new_boundary_id();
  Tensor x = floats(100, 1);
  std::vector<float> want = bits(tanh(x * 2));
  follow_stats() = {};
  for (int i = 0; i < 6; ++i) {
    std::vector<float> seen, later;
    run_boundary(id, [&] {
      Tensor y = x * 2;
      Tensor z = tanh(y);
      if (i % 2 == 1) aside([&] { seen = bits(z); });
      later = bits(z + y);
      if (i == 5) aside([&] { seen = bits(z); });
    });
    EXPECT_EQ(later, bits(tanh(x * 2) + x * 2));
    if (i % 2 == 1) {
      EXPECT_EQ(seen, want);
    }
  }
  // What other threads read, and when, is no part of the recording.
  EXPECT_EQ(follow_stats().mismatches, 0);
  EXPECT_EQ(follow_stats().programs, 1);
}

TEST(Threads, TheOwnerReadsWhatAnotherThreadHasRead) {
  uint64_t id = new_boundary_id();
  follow_stats() = {};
  for (int i = 0; i < 5; ++i)
    run_boundary(id, [&] {
      Tensor y = floats(8, static_cast<float>(i)) * 2;
      if (i > 1) aside([&] { static_cast<void>(bits(y)); });
      float first = bits(y)[0];
      EXPECT_EQ(bits(y + 1)[0], first + 1);
    });
  EXPECT_EQ(follow_stats().mismatches, 0);
}

TEST(Threads, AnotherThreadComputesWithWhatIsPending) {
  uint64_t id = new_boundary_id();
  uint64_t other = new_boundary_id();
  for (int i = 0; i < 5; ++i) {
    Tensor plain, followed;
    run_boundary(id, [&] {
      Tensor y = tanh(floats(16, static_cast<float>(i)));
      aside([&] {
        plain = y + 1;
        run_boundary(other, [&] { followed = tanh(y * y); });
      });
    });
    Tensor y = tanh(floats(16, static_cast<float>(i)));
    EXPECT_EQ(bits(plain), bits(y + 1));
    EXPECT_EQ(bits(followed), bits(tanh(y * y)));
  }
}

TEST(Threads, BoundariesThatWaitForEachOtherDoNotBlock) {
  // Both use values of the other, which the other has not computed: a1, b1(a1), a2(b1), b2(a2).
  uint64_t ids[] = {new_boundary_id(), new_boundary_id()};
  std::barrier<> turn(2);
  together(2, [&](int me) {
    static TensorHandle handle{Tensor(1.F)};
    for (int round = 0; round < 20; ++round) {
      if (me == 0) handle.set(Tensor(1.F));
      turn.arrive_and_wait();
      Tensor mine;
      run_boundary(ids[me], [&] {
        for (int i = 0; i < 4; ++i) {
          if (i % 2 == me) handle.set(mine = handle.load() * 2.);
          turn.arrive_and_wait();
        }
      });
      EXPECT_EQ(mine.item<float>(), me == 0 ? 8.F : 16.F);
      turn.arrive_and_wait();
    }
  });
}

TEST(Threads, ReadersStormARunningBoundary) {
  uint64_t id = new_boundary_id();
  std::atomic<bool> done{false};
  TensorHandle latest{floats(64, 0)};
  std::atomic<int> reads{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      while (!done) {
        std::vector<float> v = bits(latest.load());
        for (size_t k = 0; k < v.size(); ++k)
          ASSERT_EQ(v[k] - v[0], static_cast<float>(k % 7) * .25F);  // x + whole numbers
        ++reads;
      }
    });
  Tensor x = floats(64, 0);
  for (int i = 0; i < 200 || reads < 100; ++i)
    run_boundary(id, [&] {
      Tensor y = x;
      for (int k = 0; k < 20; ++k) {
        y = y + 1;
        latest.set(y);
      }
      EXPECT_EQ(bits(y)[0], 20.F);
      latest.set(y + 1);
    });
  done = true;
  for (std::thread& t : readers) t.join();
}

TEST(Threads, ValuesAreDroppedWhileTheirBoundaryRuns) {
  uint64_t id = new_boundary_id();
  TensorHandle shared{Tensor(0.F)};
  std::atomic<bool> done{false};
  std::thread dropper([&] {
    while (!done) shared.set(Tensor(0.F));
  });
  for (int i = 0; i < 300; ++i)
    run_boundary(id, [&] {
      Tensor y = floats(32, 1);
      for (int k = 0; k < 8; ++k) {
        y = tanh(y);
        shared.set(y * 2);
      }
      EXPECT_EQ(bits(y).size(), 32U);
    });
  done = true;
  dropper.join();
}

/// A step whose update leaves all elements equal when they were equal before.
struct Net {
  Parameter w{zeros(512), "w"}, v{zeros(512), "v"};
  Tensor step() {
    Parameter all[] = {w, v};
    auto [value, gradients] =
        value_and_grad([&] { return sum(tanh(w.value() * 3) + v.value() * v.value()); }, all);
    for (size_t i = 0; i < 2; ++i)
      if (gradients[i].defined()) all[i].set_value(all[i].value() - gradients[i] * .01);
    return value;
  }
};

void expect_whole(const Tensor& t) {
  std::vector<float> v = bits(t);
  for (float x : v) ASSERT_EQ(x, v[0]);
  ASSERT_TRUE(std::isfinite(v[0]));
}

TEST(Threads, StepsOnOneNetNeverLeaveAHalfWrittenParameter) {
  for (bool compiled : {false, true}) {
    Net net;
    uint64_t id = new_boundary_id();
    together(4, [&](int) {
      boundaries_enabled() = compiled;
      for (int i = 0; i < 60; ++i) {
        run_boundary(id, [&] { static_cast<void>(net.step()); });
        expect_whole(net.w.value());
      }
    });
    expect_whole(net.w);
    expect_whole(net.v);
  }
}

TEST(Threads, ReplaysReadAndWriteInOneStep) {
  Parameter a(zeros(256), "a");
  Parameter b(zeros(256), "b");
  auto count = jit_pure([&](const TensorList&) {
    a.set_value(a.value() + 1);
    b.set_value(b.value() + 1);
    return TensorList{a.value() - b.value()};
  });
  auto look = jit_pure([&](const TensorList&) { return TensorList{a.value() - b.value()}; });
  static_cast<void>(count({}));
  static_cast<void>(look({}));
  together(4, [&](int) {
    for (int i = 0; i < 200; ++i) {
      for (float x : bits(count({})[0])) ASSERT_EQ(x, 0.F);
      for (float x : bits(look({})[0])) ASSERT_EQ(x, 0.F);
      expect_whole(a.value());
    }
  });
  EXPECT_EQ(bits(a)[0], 801.F);
  EXPECT_EQ(bits(b)[255], 801.F);
}

TEST(Threads, AReplayThatFailsDoesNotDisturbOthers) {
  Parameter n(Tensor(0.F), "n");
  auto count = jit_pure([&](const TensorList& in) {
    n.set_value(n.value() + 1);
    return TensorList{gather(floats(4, 0), in[0], 0) + n.value()};
  });
  static_cast<void>(count({Tensor(int32_t{0})}));
  together(4, [&](int me) {
    for (int i = 0; i < 100; ++i) {
      if (me == 0) {
        EXPECT_THROW(static_cast<void>(count({Tensor(int32_t{4})})), IndexError);
      } else {
        static_cast<void>(count({Tensor(int32_t{1})}));
      }
    }
  });
  EXPECT_EQ(n.value().item<float>(), 301.F);
}

TEST(Threads, ManyThreadsCallOneFunction) {
  auto f = jit(std::function<Tensor(const Tensor&)>([](const Tensor& x) {
    Tensor y = tanh(x * x);
    return sum(y).item<float>() > 3 ? y * 2 : y + 1;
  }));
  std::vector<std::vector<float>> want;
  boundaries_enabled() = false;
  for (int i = 0; i < 8; ++i) want.push_back(bits(f(floats(9, static_cast<float>(i) * .2F))));
  boundaries_enabled() = true;
  together(8, [&](int me) {
    for (int i = 0; i < 40; ++i) {
      auto which = static_cast<size_t>((i + me) % 8);
      ASSERT_EQ(bits(f(floats(9, static_cast<float>(which) * .2F))), want[which]);
    }
  });
}

}  // namespace
}  // namespace sorus
