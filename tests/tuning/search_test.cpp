#include "sorus/tuning/search.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sorus::tuning {
namespace {

const Tunable width(
    {.name = "search_test.width", .initial = 64, .least = 1, .most = 1024, .doc = "of tests"});
const Tunable depth({.name = "search_test.depth", .initial = 8, .least = 1, .most = 512, .doc = "of tests"});
const Tunable idle({.name = "search_test.idle", .initial = 4, .least = 1, .most = 64, .doc = "of tests"});

double steps_between(int64_t value, int64_t best) {
  return std::abs(std::log2(static_cast<double>(value)) - std::log2(static_cast<double>(best)));
}

/// Judges by a model instead of a clock.
template <class Cost>
Compare judge_by(Cost cost, int* calls = nullptr) {
  return [cost, calls](const TunedValues& first, const TunedValues& second, Care) {
    if (calls) ++*calls;
    const auto at = [&](const TunedValues& v) {
      EXPECT_TRUE(v.find(width) && v.find(depth) && v.find(idle));  // defaults are said as well
      return cost(*v.find(width), *v.find(depth));
    };
    Verdict v{at(first), at(second), 0, 0, false};
    v.gain_ns = v.first_ns - v.second_ns;
    v.second_wins = v.gain_ns > 0.02 * v.first_ns;
    return v;
  };
}

const std::vector<const Tunable*> kAll{&depth, &idle, &width};

TEST(Search, FindsTheBestOfASmoothCost) {
  const auto cost = [](int64_t w, int64_t d) {
    return 1000 + 100 * steps_between(w, 512) + 80 * steps_between(d, 2);
  };
  const SearchResult found = search(kAll, judge_by(cost), {.seconds = 5});
  EXPECT_EQ(found.values.text(), "search_test.depth=2, search_test.width=512");
  EXPECT_EQ(found.before_ns, 1000 + 300 + 160);
  EXPECT_EQ(found.after_ns, 1000);
  EXPECT_GT(found.candidates, 5);
}

TEST(Search, LeavesThatWhichDoesNotHelp) {
  const SearchResult found = search(kAll, judge_by([](int64_t, int64_t) { return 1000.0; }), {.seconds = 5});
  EXPECT_TRUE(found.values.empty());
  EXPECT_GT(found.candidates, 5);
}

/// Neither parameter helps alone: only a start elsewhere finds it.
TEST(Search, RestartsLeaveLocalOptima) {
  const auto cost = [](int64_t w, int64_t d) {
    return w >= 256 && d >= 128 ? 500.0 : w > 64 || d > 8 ? 1100.0 : 1000.0;
  };
  const SearchResult found = search(kAll, judge_by(cost), {.seconds = 5, .seed = 3, .most_restarts = 64});
  ASSERT_FALSE(found.values.empty());
  EXPECT_EQ(found.after_ns, 500);
}

TEST(Search, EndsWithItsTime) {
  int calls = 0;
  const auto slow = [&](const TunedValues&, const TunedValues&, Care) {
    ++calls;
    return Verdict{};
  };
  EXPECT_TRUE(search(kAll, slow, {.seconds = 1e-9}).values.empty());
  EXPECT_LE(calls, 2);
}

TEST(Search, NothingToSearchIsNothingFound) {
  const SearchResult found = search({}, judge_by([](int64_t, int64_t) { return 1.0; }), {});
  EXPECT_TRUE(found.values.empty());
  EXPECT_EQ(found.candidates, 0);
}

}  // namespace
}  // namespace sorus::tuning
