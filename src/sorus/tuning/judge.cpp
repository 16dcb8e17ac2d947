#include "sorus/tuning/judge.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sorus/base/clock.h"
#include "sorus/base/error.h"

namespace sorus::tuning {
namespace {

/// Nanoseconds of one of `repeats` runs.
double time_of(const Workload& work, int64_t repeats) {
  const double start = monotonic_ns();
  for (int64_t i = 0; i < repeats; ++i) work();
  return (monotonic_ns() - start) / static_cast<double>(repeats);
}

}  // namespace

double median_of(std::span<const double> values) {
  SORUS_INTERNAL(!values.empty(), "median of nothing");
  std::vector<double> sorted(values.begin(), values.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  if (sorted.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(sorted.begin(), middle)) / 2;
}

Verdict judge(std::span<const double> first_ns, std::span<const double> second_ns, double least_gain) {
  SORUS_INTERNAL(first_ns.size() == second_ns.size(), "rounds of two differ: {} and {}", first_ns.size(),
                 second_ns.size());
  constexpr double kDeviationOfMedian = 1.4826;  // standard deviation by the median deviation of a normal one
  constexpr double kErrorOfMedian = 1.2533;      // of a median, by that of a mean
  constexpr double kErrors = 3;
  std::vector<double> differences, deviations;
  for (size_t i = 0; i < first_ns.size(); ++i) differences.push_back(first_ns[i] - second_ns[i]);
  Verdict v{median_of(first_ns), median_of(second_ns), median_of(differences), 0, false};
  for (double d : differences) deviations.push_back(std::abs(d - v.gain_ns));
  v.noise_ns = kErrors * kErrorOfMedian * kDeviationOfMedian * median_of(deviations) /
               std::sqrt(static_cast<double>(differences.size()));
  v.second_wins = v.gain_ns > v.noise_ns && v.gain_ns > least_gain * v.first_ns && v.second_ns < v.first_ns;
  return v;
}

Verdict compare(const Workload& first, const Workload& second, const JudgeOptions& options) {
  first();
  second();
  const double once = std::max(1.0, std::min(time_of(first, 1), time_of(second, 1)));
  const auto repeats = static_cast<int64_t>(std::clamp(options.round_ns / once, 1.0, 10000.0));
  std::vector<double> first_ns, second_ns;
  for (int i = 0; i < options.rounds; ++i) {
    if (i % 2 == 0) first_ns.push_back(time_of(first, repeats));
    second_ns.push_back(time_of(second, repeats));
    if (i % 2 == 1) first_ns.push_back(time_of(first, repeats));
  }
  return judge(first_ns, second_ns, options.least_gain);
}

double median_time(const Workload& work, int rounds) {
  std::vector<double> ns;
  for (int i = 0; i < rounds; ++i) ns.push_back(time_of(work, 1));
  return median_of(ns);
}

}  // namespace sorus::tuning
