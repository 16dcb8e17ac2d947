#include "sorus/base/tunable.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"

namespace sorus {
namespace {

const Tunable first(
    {.name = "test.first", .initial = 12, .least = 3, .most = 48, .doc = "a parameter of tests"});
const Tunable second({.name = "test.second",
                      .initial = 8,
                      .least = 1,
                      .most = 16,
                      .part = TunedPart::kProgram,
                      .effect = BitEffect::kMovesBits,
                      .doc = "another"});

TunedValues values_of(int64_t of_first) {
  TunedValues values;
  values.set(first, of_first);
  return values;
}

TEST(Tunable, HasItsDefaultAndAList) {
  EXPECT_EQ(first.get(), 12);
  EXPECT_EQ(first.values(), (std::vector<int64_t>{3, 6, 12, 24, 48}));
  for (int64_t v : {0, -3, 4, 5, 36, 96}) EXPECT_FALSE(first.is_value(v)) << v;
  EXPECT_EQ(find_tunable("test.first"), &first);
  EXPECT_EQ(find_tunable("test.third"), nullptr);
}

TEST(Tunable, IsDeclaredOnceWithADefaultThatIsAValue) {
  const auto declare = [](std::string_view name, int64_t initial, int64_t least, int64_t most) {
    return Tunable({.name = name, .initial = initial, .least = least, .most = most, .doc = ""}).get();
  };
  EXPECT_THROW(declare("test.first", 12, 3, 48), InternalError);
  EXPECT_THROW(declare("test.other", 13, 3, 48), InternalError);
  EXPECT_THROW(declare("test.other", 12, 3, 47), InternalError);
  EXPECT_THROW(declare("test.other", 0, 0, 0), InternalError);
  EXPECT_EQ(declare("test.other", 12, 3, 48), 12);
  EXPECT_EQ(find_tunable("test.other"), nullptr);  // it is gone with its object
}

TEST(Tunable, EveryParameterOfTheLibraryIsSound) {
  for (const Tunable* p : all_tunables()) {
    const TunableSpec& s = p->spec();
    EXPECT_NE(s.name.find('.'), std::string_view::npos) << s.name;
    EXPECT_FALSE(s.doc.empty()) << s.name;
    EXPECT_LT(s.least, s.most) << s.name;
    EXPECT_EQ(p->values().back(), s.most) << s.name;
  }
}

TEST(TunedValues, TextIsLossless) {
  TunedValues values = values_of(24);
  values.set(second, 1);
  EXPECT_EQ(values.text(), "test.first=24, test.second=1");
  EXPECT_EQ(TunedValues::parse(values.text()), values);
  EXPECT_EQ(TunedValues::parse(" test.second = 1,test.first=24 "), values);
  EXPECT_TRUE(TunedValues::parse("").empty());
  for (const char* text : {"test.first", "test.first=", "test.first=1x", "test.third=1", "=3",
                           "test.first=25", "test.first=99999999999999999999"})
    EXPECT_THROW(static_cast<void>(TunedValues::parse(text)), ValueError) << text;
}

TEST(TuningScope, InnermostCounts) {
  const TunedValues outer = values_of(24);
  const TunedValues inner = values_of(3);
  const TuningScope around(&outer);
  EXPECT_EQ(first.get(), 24);
  EXPECT_EQ(second.get(), 8);
  {
    const TuningScope scope(&inner);
    EXPECT_EQ(first.get(), 3);
    const TuningScope defaults(nullptr);
    EXPECT_EQ(first.get(), 12);
    const TuningScope inside(nullptr, TuningScope::Nesting::kInside);
    EXPECT_EQ(first.get(), 12);  // what is around are the defaults
  }
  const TuningScope inside(nullptr, TuningScope::Nesting::kInside);
  EXPECT_EQ(first.get(), 24);
}

TEST(TuningScope, ReachesTheLoopsOfItsThreadAlone) {
  const int before = num_threads();
  set_num_threads(4);
  const TunedValues values = values_of(48);
  std::atomic<int> wrong{0};
  std::thread other([&] {
    for (int i = 0; i < 200; ++i) parallel_for(16, [&](int64_t) { wrong += first.get() != 12 ? 1 : 0; });
  });
  {
    const TuningScope scope(&values);
    for (int i = 0; i < 200; ++i) parallel_for(16, [&](int64_t) { wrong += first.get() != 48 ? 1 : 0; });
  }
  for (int i = 0; i < 200; ++i) parallel_for(16, [&](int64_t) { wrong += first.get() != 12 ? 1 : 0; });
  other.join();
  set_num_threads(before);
  EXPECT_EQ(wrong, 0);
}

TEST(TuningScope, TasksStartWithTheDefaultsOfTheirThread) {
  const int before = num_threads();
  set_num_threads(3);
  const TunedValues values = values_of(48);
  std::atomic<int> wrong{0};
  const std::vector<uint64_t> tasks(32, 0);
  for (int i = 0; i < 100; ++i)
    parallel_tasks(tasks, [&](int64_t task) {
      const TuningScope scope(task % 2 == 0 ? &values : nullptr);
      const int64_t wanted = task % 2 == 0 ? 48 : 12;
      parallel_for(8, [&](int64_t) { wrong += first.get() != wanted ? 1 : 0; });
    });
  set_num_threads(before);
  EXPECT_EQ(wrong, 0);
}

/// Whatever else is in use, or not any more.
TEST(TuningScope, CountsByItself) {
  const TunedValues values = values_of(48);
  const int32_t before = detail::tuning_uses.exchange(0);
  {
    const TuningScope scope(&values);
    EXPECT_EQ(first.get(), 48);
  }
  EXPECT_EQ(first.get(), 12);
  EXPECT_FALSE(tuning_in_use());
  detail::tuning_uses = before;
}

TEST(TuningOverride, GoesBeforeWhatWasFoundForItsPart) {
  TunedValues found;
  found.set(first, 24);
  const auto ref = std::make_shared<const TunedValues>(found);
  EXPECT_EQ(TuningOverride::over(ref, TunedPart::kCall), ref);
  TunedValues wanted = values_of(3);
  wanted.set(second, 2);
  const TuningOverride outer(wanted);
  EXPECT_TRUE(tuning_in_use());
  EXPECT_EQ(first.get(), 12);  // what is planned takes it up; nothing else does
  EXPECT_EQ(TuningOverride::over(ref, TunedPart::kCall)->text(), "test.first=3");
  EXPECT_EQ(TuningOverride::over(nullptr, TunedPart::kProgram)->text(), "test.second=2");
  EXPECT_EQ(TuningOverride::over(nullptr, TunedPart::kRegion), nullptr);
  const TuningOverride inner(values_of(6));
  EXPECT_EQ(TuningOverride::over(ref, TunedPart::kCall)->text(), "test.first=6");
  EXPECT_EQ(TuningOverride::over(nullptr, TunedPart::kProgram)->text(), "test.second=2");
}

TEST(TunableTrace, KnowsWhatWasRead) {
  const TunableTrace outer;
  static_cast<void>(second.get());
  {
    const TunableTrace inner;
    static_cast<void>(first.get());
    EXPECT_EQ(inner.read(), std::vector<const Tunable*>{&first});
  }
  EXPECT_EQ(outer.read(), (std::vector<const Tunable*>{&first, &second}));
}

}  // namespace
}  // namespace sorus
