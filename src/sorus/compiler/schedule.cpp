#include "sorus/compiler/schedule.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "sorus/base/tunable.h"

namespace sorus {
namespace {

/// Tasks have a bit each in a mask.
constexpr size_t kMostTasks = 64;
// Buffers of branches that do not wait for each other cannot share memory, so this bounds what a plan grows
// by.
const Tunable stage_bytes({.name = "schedule.stage_bytes",
                           .initial = 4 << 20,
                           .least = 512 << 10,
                           .most = 64 << 20,
                           .part = TunedPart::kProgram,
                           .doc = "of buffers that come into use in one parallel stage"});
const Tunable longest_ns({.name = "schedule.longest_ns",
                          .initial = 400'000,
                          .least = 50'000,
                          .most = 6'400'000,
                          .part = TunedPart::kProgram,
                          .doc = "a longer step keeps all threads busy by itself"});
const Tunable least_gain_ns({.name = "schedule.least_gain_ns",
                             .initial = 3000,
                             .least = 750,
                             .most = 96'000,
                             .part = TunedPart::kProgram,
                             .doc = "what must be gained for steps to run at once"});
/// A shorter step is one piece of work.
constexpr double kPieceNs = 25e3;
/// To hand pieces of a step to other threads, and to wait for them.
constexpr double kLoopNs = 3e3;
/// What each further thread adds to the speed of a step.
constexpr double kThreadGain = 0.7;
/// To take a task, and to say that it has ended.
constexpr double kTaskNs = 500;
/// What must be gained for a stage to be parallel, of the time that the steps take one after the other.
constexpr double kLeastGain = 0.03;

/// The time of a step that all threads work on.
double time_alone(double ns, int threads) {
  return ns < kPieceNs ? ns : std::min(ns, ns / (1 + kThreadGain * (threads - 1)) + kLoopNs);
}

/// When all tasks have ended, if each thread takes the first that waits for nothing, and helps with one that
/// runs where there is none.
double time_of_tasks(std::span<const StepFacts> steps, std::span<const uint64_t> before, int threads) {
  std::vector<double> left;
  for (const StepFacts& s : steps) left.push_back(s.ns + kTaskNs);
  uint64_t taken = 0;
  uint64_t ended = 0;
  std::vector<size_t> running;
  double now = 0;
  while (static_cast<size_t>(std::popcount(ended)) < steps.size()) {
    for (size_t i = 0; i < steps.size() && running.size() < static_cast<size_t>(threads); ++i) {
      if (taken >> i & 1U || before[i] & ~ended) continue;
      taken |= uint64_t{1} << i;
      running.push_back(i);
    }
    // Alone, a step goes as fast as all threads together let it.
    const double speed = running.size() == 1
                             ? steps[running[0]].ns / std::max(1.0, time_alone(steps[running[0]].ns, threads))
                             : 1;
    double next = left[running[0]];
    for (size_t i : running) next = std::min(next, left[i]);
    now += next / std::max(speed, 1.0);
    for (size_t i : running)
      if ((left[i] -= next) <= 0) ended |= uint64_t{1} << i;
    std::erase_if(running, [&](size_t i) { return ended >> i & 1U; });
  }
  return now;
}

class Scheduler {
 public:
  Scheduler(std::span<const StepFacts> steps, int threads) : steps_(steps), threads_(threads) {
    made_.before.assign(steps.size(), 0);
    made_.ancestors.assign(steps.size(), 0);
    made_.places.assign(steps.size(), 0);
  }

  Schedule run() {
    size_t begin = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const bool is_alone = steps_[i].is_alone || steps_[i].ns > longest_ns_ || threads_ == 1;
      bytes += steps_[i].new_bytes;
      if (is_alone || i - begin == kMostTasks || bytes > stage_bytes_) {
        close(begin, i);
        begin = i;
        bytes = steps_[i].new_bytes;
      }
      if (is_alone) {
        append(i, 1, false);
        begin = i + 1;
        bytes = 0;
      }
    }
    close(begin, steps_.size());
    return std::move(made_);
  }

 private:
  /// Who touched a memory last in this stage.
  struct Uses {
    int writer = -1;
    uint64_t readers = 0;  ///< since then
  };

  /// Decides on some steps. They fall apart where all that comes later waits for all that came before: there
  /// nothing runs at once.
  void close(size_t begin, size_t end) {
    const size_t count = end - begin;
    find_order(begin, steps_.subspan(begin, count));
    std::vector<size_t> cuts{end};
    uint64_t common = ~uint64_t{0};  // what all steps from i on wait for
    for (size_t i = count; i-- > 1;) {
      common &= made_.ancestors[begin + i];
      const uint64_t earlier = (uint64_t{1} << i) - 1;
      if ((earlier & ~common) == 0) cuts.push_back(begin + i);
    }
    for (; !cuts.empty(); cuts.pop_back()) {
      decide(begin, cuts.back());
      begin = cuts.back();
    }
  }

  void decide(size_t begin, size_t end) {
    if (begin == end) return;
    const std::span<const StepFacts> steps = steps_.subspan(begin, end - begin);
    bool is_parallel = steps.size() > 1;
    if (is_parallel) {
      find_order(begin, steps);
      double in_order = 0;
      for (const StepFacts& s : steps) in_order += time_alone(s.ns, threads_);
      const double at_once =
          time_of_tasks(steps, std::span(made_.before).subspan(begin, steps.size()), threads_);
      is_parallel =
          schedules_everything() || in_order - at_once > std::max(least_gain_ns_, kLeastGain * in_order);
    }
    append(begin, steps.size(), is_parallel);
  }

  void find_order(size_t begin, std::span<const StepFacts> steps) {
    std::unordered_map<int32_t, Uses> uses;
    for (size_t i = 0; i < steps.size(); ++i) {
      uint64_t before = 0;
      for (int32_t m : steps[i].reads)
        if (const Uses& u = uses[m]; u.writer >= 0) before |= uint64_t{1} << u.writer;
      for (int32_t m : steps[i].writes) {
        const Uses& u = uses[m];
        if (u.writer >= 0) before |= uint64_t{1} << u.writer;
        before |= u.readers;
      }
      for (int32_t m : steps[i].reads) uses[m].readers |= uint64_t{1} << i;
      for (int32_t m : steps[i].writes) uses[m] = {static_cast<int>(i), 0};
      uint64_t ancestors = before;
      for (uint64_t left = before; left; left &= left - 1)
        ancestors |= made_.ancestors[begin + static_cast<size_t>(std::countr_zero(left))];
      made_.before[begin + i] = before;
      made_.ancestors[begin + i] = ancestors;
    }
  }

  /// Steps in order are one stage with those before them.
  void append(size_t begin, size_t count, bool is_parallel) {
    std::vector<Stage>& stages = made_.stages;
    for (size_t i = begin; i < begin + count; ++i) {
      made_.places[i] = next_place_;
      if (is_parallel) continue;
      made_.before[i] = made_.ancestors[i] = 0;
      ++next_place_;
    }
    if (is_parallel) ++next_place_;
    if (is_parallel || stages.empty() || stages.back().is_parallel)
      stages.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(count), is_parallel});
    else
      stages.back().count += static_cast<uint32_t>(count);
  }

  std::span<const StepFacts> steps_;
  int threads_;
  const double longest_ns_ = static_cast<double>(longest_ns.get());
  const double least_gain_ns_ = static_cast<double>(least_gain_ns.get());
  const int64_t stage_bytes_ = stage_bytes.get();
  int32_t next_place_ = 0;
  Schedule made_;
};

}  // namespace

bool& schedules_everything() {
  static thread_local bool everything = false;
  return everything;
}

Schedule make_schedule(std::span<const StepFacts> steps, int threads) {
  return Scheduler(steps, threads).run();
}

}  // namespace sorus
