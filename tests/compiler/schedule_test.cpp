#include "sorus/compiler/schedule.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "tests/compiler/passes/random_graph.h"
#include "tests/compiler/passes/training_step.h"

/// Steps that run at once: a checker that knows nothing of how schedules and plans are made looks at every
/// pair of steps, and bits and errors are those of one thread.
namespace sorus {
namespace {

/// Sets the threads, and that everything runs at once which may, for a test.
class ScheduleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = num_threads();
    set_num_threads(2);
    schedules_everything() = true;
  }
  void TearDown() override {
    set_num_threads(before_);
    schedules_everything() = false;
  }

 private:
  int before_ = 1;
};

/// By pairs of steps: whether the first has ended before the second begins. `before` counts from the first
/// step of a place.
std::vector<std::vector<char>> order_of(const std::vector<int32_t>& places,
                                        const std::vector<uint64_t>& before) {
  const size_t count = places.size();
  std::vector<std::vector<char>> ordered(count, std::vector<char>(count, 0));
  size_t begin = 0;
  for (size_t j = 0; j < count; ++j) {
    if (j > 0 && places[j] != places[j - 1]) {
      EXPECT_GT(places[j], places[j - 1]);
      begin = j;
    }
    if (j - begin < 64) {
      EXPECT_EQ(before[j] >> (j - begin), 0U) << "a step waits for itself or for a later one";
    }
    for (size_t i = 0; i < j; ++i) {
      if (places[i] < places[j]) {
        ordered[i][j] = 1;
        continue;
      }
      for (size_t k = begin; k < j; ++k)
        if (before[j] >> (k - begin) & 1U) ordered[i][j] |= k == i || ordered[i][k];
    }
  }
  return ordered;
}

TEST_F(ScheduleTest, NoEventIsMissing) {
  std::mt19937 random(5);
  int parallel = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<StepFacts> steps(1 + random() % 150);
    const uint32_t memories = 2 + random() % 40;
    for (StepFacts& s : steps) {
      s.ns = static_cast<double>(random() % 40000);
      s.new_bytes = static_cast<int64_t>(random() % 100000);
      s.is_alone = random() % 20 == 0;
      for (uint32_t k = random() % 4; k > 0; --k)
        s.reads.push_back(static_cast<int32_t>(random() % memories));
      for (uint32_t k = random() % 3; k > 0; --k)
        s.writes.push_back(static_cast<int32_t>(random() % memories));
    }
    schedules_everything() = round % 2 == 0;
    const Schedule schedule = make_schedule(steps, 1 + round % 4);
    const auto ordered = order_of(schedule.places, schedule.before);
    auto meet = [](const StepFacts& a, const StepFacts& b) {
      for (int32_t m : a.writes) {
        for (int32_t other : b.reads)
          if (m == other) return true;
        for (int32_t other : b.writes)
          if (m == other) return true;
      }
      return false;
    };
    for (size_t j = 0; j < steps.size(); ++j)
      for (size_t i = 0; i < j; ++i)
        if (meet(steps[i], steps[j]) || meet(steps[j], steps[i]) || steps[i].is_alone || steps[j].is_alone) {
          EXPECT_TRUE(ordered[i][j]) << i << " and " << j << " of round " << round;
        }
    uint32_t next = 0;
    for (const Stage& s : schedule.stages) {
      EXPECT_EQ(s.first, next);
      EXPECT_TRUE(!s.is_parallel || (s.count <= 64 && round % 4 > 0));
      next += s.count;
      parallel += s.is_parallel;
    }
    EXPECT_EQ(next, steps.size());
  }
  EXPECT_GT(parallel, 100);
}

TEST(Schedule, OnlyWhatPaysRunsAtOnce) {
  std::vector<StepFacts> steps(8);
  for (size_t i = 0; i < steps.size(); ++i) {
    steps[i].writes.push_back(static_cast<int32_t>(i));
    steps[i].ns = 4000;
  }
  EXPECT_TRUE(make_schedule(steps, 2).stages[0].is_parallel);
  EXPECT_FALSE(make_schedule(steps, 1).stages[0].is_parallel);
  for (StepFacts& s : steps) s.reads.push_back(0);  // the first writes it
  EXPECT_FALSE(make_schedule(steps, 2).stages[0].is_parallel);
  EXPECT_TRUE(make_schedule(steps, 2).stages[1].is_parallel);
  for (StepFacts& s : steps) s.writes.push_back(100);
  EXPECT_FALSE(make_schedule(steps, 2).stages[0].is_parallel);
  for (StepFacts& s : steps) {
    s.writes.pop_back();
    s.ns = 300;
  }
  EXPECT_FALSE(make_schedule(steps, 2).stages[0].is_parallel);
}

/// Looks at every pair of steps that touch the same bytes, and at what every step reads.
void expect_sound(const std::vector<PlannedStep>& steps) {
  std::vector<int32_t> places;
  std::vector<uint64_t> before;
  for (const PlannedStep& s : steps) {
    places.push_back(s.place);
    before.push_back(s.before);
  }
  const auto ordered = order_of(places, before);
  for (size_t j = 0; j < steps.size(); ++j)
    for (size_t i = 0; i < j; ++i)
      for (const MemoryUse& a : steps[i].uses)
        for (const MemoryUse& b : steps[j].uses) {
          const bool meet = a.space == b.space && a.begin < b.end && b.begin < a.end;
          if (!meet || (!a.is_written && !b.is_written)) continue;
          ASSERT_TRUE(ordered[i][j]) << "steps " << i << " and " << j << ", buffers " << a.buffer << " and "
                                     << b.buffer;
        }
  std::map<std::pair<int32_t, int64_t>, int32_t> holds;  // by space and byte in 64
  for (const PlannedStep& s : steps) {
    for (const MemoryUse& use : s.uses)
      for (int64_t at = use.begin; !use.is_written && at < use.end; at += 64) {
        const auto found = holds.find({use.space, at});
        ASSERT_TRUE(found == holds.end() ? use.is_given : found->second == use.buffer)
            << "buffer " << use.buffer << " is read, which is not there";
      }
    for (const MemoryUse& use : s.uses)
      for (int64_t at = use.begin; use.is_written && at < use.end; at += 64)
        holds[{use.space, at}] = use.buffer;
  }
}

TEST_F(ScheduleTest, NoTwoLiveBuffersOverlap) {
  int tasks = 0;
  auto look_at = [&](const std::string& text) {
    SCOPED_TRACE(text);
    for (bool passes : {false, true})
      for (int threads : {1, 2, 3}) {
        set_num_threads(threads);
        Graph graph = Graph::parse(text);
        graph.values_checked = true;
        if (passes) run_passes(graph);
        Executable executable(std::move(graph));
        expect_sound(executable.planned_steps());
        const ExecutableReport report = executable.report();
        EXPECT_LE(report.planned_bytes, report.naive_bytes);
        EXPECT_TRUE(threads > 1 || report.tasks == 0);
        tasks += report.tasks;
      }
  };
  for (int layers : {1, 2, 5, 12}) look_at(training_step(layers));
  for (uint32_t seed = 0; seed < 300; ++seed) look_at(RandomGraph(seed).text());
  EXPECT_GT(tasks, 1000);
}

TEST_F(ScheduleTest, KeepsEveryBit) {
  auto bytes_of = [](std::span<const Ref<Value>> values) {
    std::vector<std::vector<std::byte>> bytes;
    for (const Ref<Value>& v : values) {
      const Tensor t(v);
      bytes.emplace_back(static_cast<size_t>(t.numel()) * dtype_size(t.dtype()));
      t.copy_to(bytes.back().data(), t.dtype());
    }
    return bytes;
  };
  for (uint32_t seed = 0; seed < 150; ++seed) {
    RandomGraph random(seed);
    std::vector<Ref<Value>> in;
    for (int v : random.inputs()) in.push_back(make_input(random, v));
    Graph graph = Graph::parse(random.text());
    run_passes(graph);
    std::vector<std::vector<std::byte>> expected;
    for (int threads : {1, 2, 3, 2}) {
      set_num_threads(threads);
      Executable executable(graph);
      for (int again = 0; again < 3; ++again) {
        std::vector<char> donated(in.size(), 0);
        std::vector<Ref<Value>> out(graph.outputs.size());
        executable.run(in, donated, {}, out, true);
        if (expected.empty()) expected = bytes_of(out);
        EXPECT_TRUE(bytes_of(out) == expected) << "seed " << seed << ", " << threads << " threads";
      }
    }
  }
  for (int layers : {2, 7}) {
    ExecutableReport report;
    set_num_threads(1);
    const auto expected = bytes_of(results_of(Graph::parse(training_step(layers)), &report));
    for (int threads : {2, 3}) {
      set_num_threads(threads);
      for (int again = 0; again < 10; ++again)
        EXPECT_TRUE(bytes_of(results_of(Graph::parse(training_step(layers)), &report)) == expected);
      EXPECT_EQ(report.donations, layers);
    }
  }
}

TEST_F(ScheduleTest, ACheckThatThrowsComesBeforeEveryUpdate) {
  Graph graph = Graph::parse(
      "graph @g(%0: float32(4, 2), %1: float32(4, 2), %2: int64(1,), %3: int64(1,)) {\n"
      "  %4 = exp(%1) : float32(4, 2)\n"
      "  %5 = tanh(%1) : float32(4, 2)\n"
      "  %6 = gather(%4, %2) {axis=0} : float32(1, 2)\n"
      "  %7 = gather(%5, %3) {axis=0} : float32(1, 2)\n"
      "  %8 = sub(%0, %4) : float32(4, 2)\n"
      "  %9 = mul(%1, %5) : float32(4, 2)\n"
      "  return %8, %9, %6, %7\n"
      "}\n");
  Executable executable(std::move(graph));
  for (const auto& [first, second] : {std::pair{9, 3}, {3, 8}, {7, 6}, {0, 1}}) {
    std::vector<Ref<Value>> in, out(4);
    for (ValueId v : executable.graph().inputs) {
      in.push_back(make_dense(executable.graph().type(v)));
      std::memset(in.back()->bytes(), 0, in.back()->storage->bytes());
    }
    *reinterpret_cast<int64_t*>(in[2]->bytes()) = first;
    *reinterpret_cast<int64_t*>(in[3]->bytes()) = second;
    std::vector<char> donated{1, 1, 0, 0};
    if (first < 4 && second < 4) {
      executable.run(in, donated, {}, out, true);
      continue;
    }
    try {
      executable.run(in, donated, {}, out, true);
      FAIL() << "an index is out of range";
    } catch (const IndexError& e) {
      const int wrong = first < 4 ? second : first;
      EXPECT_NE(std::string(e.what()).find(std::to_string(wrong)), std::string::npos) << e.what();
    }
    EXPECT_EQ(donated[0], 0);
    EXPECT_EQ(donated[1], 0);
  }
}

}  // namespace
}  // namespace sorus
