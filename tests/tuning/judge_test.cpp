#include "sorus/tuning/judge.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace sorus::tuning {
namespace {

/// Rounds around a time, disturbed as those of a machine that does other things too.
std::vector<double> rounds(double ns, double spread, uint64_t seed, int count = 15) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> around(ns, spread);
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back(around(random) * (i % 7 == 3 ? 10 : 1));
  return all;
}

TEST(Judge, Medians) {
  EXPECT_EQ(median_of(std::vector<double>{3}), 3);
  EXPECT_EQ(median_of(std::vector<double>{5, 1, 3}), 3);
  EXPECT_EQ(median_of(std::vector<double>{4, 1, 3, 2}), 2.5);
}

TEST(Judge, SeesWhatIsClear) {
  const Verdict v = judge(rounds(1000, 5, 1), rounds(900, 5, 2), 0.02);
  EXPECT_TRUE(v.second_wins);
  EXPECT_NEAR(v.gain_ns, 100, 15);
  EXPECT_FALSE(judge(rounds(900, 5, 1), rounds(1000, 5, 2), 0.02).second_wins);
}

TEST(Judge, NoiseAndTriflesWinNothing) {
  EXPECT_FALSE(judge(rounds(1000, 1, 1), rounds(990, 1, 2), 0.02).second_wins);  // clear, but not worth it
  int wins = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed)
    wins += judge(rounds(1000, 100, 2 * seed), rounds(1000, 100, 2 * seed + 1), 0).second_wins ? 1 : 0;
  EXPECT_LT(wins, 40);  // 2 %: three errors of a median of 15, whose spread is estimated from as few
}

TEST(Judge, WhoWinsHasTheShorterMedianAsWell) {
  const Verdict v = judge(std::vector<double>{10, 20, 30, 40, 50}, std::vector<double>{8, 18, 70, 70, 48}, 0);
  EXPECT_EQ(v.gain_ns, 2);
  EXPECT_EQ(v.noise_ns, 0);
  EXPECT_FALSE(v.second_wins);
}

TEST(Judge, RunsBothEquallyOften) {
  int first = 0;
  int second = 0;
  const Verdict v = compare([&] { ++first; }, [&] { ++second; }, {.rounds = 8, .round_ns = 1000});
  EXPECT_EQ(first, second);
  EXPECT_GT(first, 8);
  EXPECT_GE(v.noise_ns, 0);
}

}  // namespace
}  // namespace sorus::tuning
