#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "sorus/base/export.h"

/// Which of two ways to do the same is faster.
namespace sorus::tuning {

/// Does the work once. It must do the same every time.
using Workload = std::function<void()>;

struct Verdict {
  double first_ns = 0;   ///< median of one run of the first
  double second_ns = 0;  ///< and of the second
  double gain_ns = 0;    ///< median of the differences of neighbours in time
  double noise_ns = 0;   ///< below which a gain is chance
  bool second_wins = false;
};

/// Times of rounds, side by side: the second wins when its gain is more than the noise and more than
/// `least_gain` of the first's time, and its own median is the shorter one. The noise is three standard
/// errors of the median of the differences, estimated from their median deviation, so that a few disturbed
/// rounds move nothing.
[[nodiscard]] SORUS_API Verdict judge(std::span<const double> first_ns, std::span<const double> second_ns,
                                      double least_gain);

struct JudgeOptions {
  int rounds = 15;
  double round_ns = 200e3;  ///< a round repeats its work until it takes about so long
  double least_gain = 0.02;
};

/// Runs both by turns, first one then the other in front, and judges.
[[nodiscard]] SORUS_API Verdict compare(const Workload& first, const Workload& second,
                                        const JudgeOptions& options = {});

/// Median of `rounds` runs in nanoseconds.
[[nodiscard]] SORUS_API double median_time(const Workload& work, int rounds);
[[nodiscard]] SORUS_API double median_of(std::span<const double> values);

}  // namespace sorus::tuning
