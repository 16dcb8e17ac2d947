// Measures the arithmetic peak: independent fused multiply-adds of float32 on registers, in as many threads
// as asked for. Each line of input is answered with the line and the nanoseconds that all threads together
// need for a GFLOP (10^9 operations, two a multiply-add), measured for about a tenth of a second, as
// bench/worker.py does. Usage: peak [threads]

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/kernels/peak.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sorus::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Runs `rounds` rounds of 12 chains of multiply-adds; gives the operations of a round, and a sum of all
/// lanes so that no compiler leaves them out.
int64_t multiply_adds(int64_t rounds, float* sum) {
  const hn::ScalableTag<float> d;
  const auto a = hn::Set(d, 0.999F), b = hn::Set(d, 0.001F);
  auto x0 = hn::Iota(d, 0), x1 = hn::Iota(d, 1), x2 = hn::Iota(d, 2), x3 = hn::Iota(d, 3);
  auto x4 = hn::Iota(d, 4), x5 = hn::Iota(d, 5), x6 = hn::Iota(d, 6), x7 = hn::Iota(d, 7);
  auto y0 = hn::Iota(d, 8), y1 = hn::Iota(d, 9), y2 = hn::Iota(d, 10), y3 = hn::Iota(d, 11);
  for (int64_t i = 0; i < rounds; ++i) {
    x0 = hn::MulAdd(x0, a, b), x1 = hn::MulAdd(x1, a, b), x2 = hn::MulAdd(x2, a, b);
    x3 = hn::MulAdd(x3, a, b), x4 = hn::MulAdd(x4, a, b), x5 = hn::MulAdd(x5, a, b);
    x6 = hn::MulAdd(x6, a, b), x7 = hn::MulAdd(x7, a, b), y0 = hn::MulAdd(y0, a, b);
    y1 = hn::MulAdd(y1, a, b), y2 = hn::MulAdd(y2, a, b), y3 = hn::MulAdd(y3, a, b);
  }
  const auto low =
      hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(hn::Add(x4, x5), hn::Add(x6, x7)));
  const auto all = hn::Add(low, hn::Add(hn::Add(y0, y1), hn::Add(y2, y3)));
  *sum = hn::GetLane(hn::SumOfLanes(d, all));
  return 12 * 2 * static_cast<int64_t>(hn::Lanes(d));
}

}  // namespace sorus::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace sorus::bench {
HWY_EXPORT(multiply_adds);
namespace {

/// Nanoseconds a GFLOP of all threads together.
double nanoseconds(int threads) {
  using Clock = std::chrono::steady_clock;
  constexpr int64_t kRounds = 12'000'000;
  std::vector<float> sums(static_cast<size_t>(threads));
  std::vector<int64_t> counts(sums.size());
  const auto start = Clock::now();
  std::vector<std::thread> running;
  for (size_t t = 0; t < sums.size(); ++t)
    running.emplace_back([&, t] { counts[t] = HWY_DYNAMIC_DISPATCH(multiply_adds)(kRounds, &sums[t]); });
  for (auto& thread : running) thread.join();
  const double spent = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  double operations = 0;
  for (size_t t = 0; t < sums.size(); ++t)
    operations += sums[t] > 0 ? static_cast<double>(counts[t]) * static_cast<double>(kRounds) : 0;
  return spent / operations * 1e9;
}

}  // namespace
}  // namespace sorus::bench

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::stoi(argv[1]) : 2;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << line << ' ' << sorus::bench::nanoseconds(threads) << std::endl;
  return 0;
}
#endif  // HWY_ONCE
