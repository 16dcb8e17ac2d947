#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/data/helpers.h"

/// Orders of rows, against those that the genuine MindSpore gave (bench/peers/facts_data.py).
namespace sorus::data {
namespace {

using test::epochs_of;
using test::numbers;
using test::rows_of_epoch;
using Rows = std::vector<int64_t>;

class RecordedOrders : public testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(SORUS_SOURCE_DIR "/tests/fixtures/mindspore/facts.json");
    ASSERT_TRUE(file);
    record_ = nlohmann::json::parse(file)["pipelines"];
  }
  void check(const std::string& name, const Dataset& dataset) {
    for (uint32_t seed : {0U, 1U}) {
      auto recorded = record_[name]["seed " + std::to_string(seed)];
      ASSERT_FALSE(recorded.is_null()) << name;
      EXPECT_EQ(rows_of_epoch(dataset, seed), recorded[0].get<Rows>()) << name << " seed " << seed;
    }
  }
  void check_fixed(const std::string& name, const Dataset& dataset) {
    ASSERT_TRUE(record_.contains(name)) << name;
    EXPECT_EQ(dataset.size(), record_[name]["size"].get<int64_t>()) << name;
    Rows flat;
    for (const auto& row : record_[name]["rows"]) {
      if (!row.is_array()) flat.push_back(row.get<int64_t>());
      for (const auto& item : row)
        if (row.is_array()) flat.push_back(item.get<int64_t>());
    }
    EXPECT_EQ(rows_of_epoch(dataset), flat) << name;
  }
  void check_epochs(const std::string& name, const Dataset& dataset) {
    for (uint32_t seed : {0U, 1U}) {
      auto recorded = record_[name]["seed " + std::to_string(seed)];
      ASSERT_FALSE(recorded.is_null()) << name;
      EXPECT_EQ(epochs_of(dataset, 3, seed), recorded.get<std::vector<Rows>>()) << name << " seed " << seed;
    }
  }
  nlohmann::json record_;
};

TEST_F(RecordedOrders, OfShuffle) {
  check("shuffle(4)", numbers(10).shuffle(4));
  check("shuffle(10)", numbers(10).shuffle(10));
  check("shuffle(100)", numbers(10).shuffle(100));
  check("shuffle(4).repeat(2)", numbers(10).shuffle(4).repeat(2));
}

TEST_F(RecordedOrders, OfSamplers) {
  check("RandomSampler", numbers(10, random_sampler()));
  check("RandomSampler(True, 5)", numbers(10, random_sampler(true, 5)));
  check("SubsetRandomSampler", numbers(10, subset_random_sampler({1, 3, 5, 7})));
  std::vector<double> weights;
  for (int i = 0; i < 10; ++i) weights.push_back(0.1 * i);
  check("WeightedRandomSampler", numbers(10, weighted_sampler(weights, 6)));
  check("DistributedSampler(3, 1)", numbers(10, distributed_sampler(3, 1)));
  check_fixed("SequentialSampler(2, 3)", numbers(10, sequential_sampler(2, 3)));
  check_fixed("SubsetSampler", numbers(10, subset_sampler({5, 1})));
  check_fixed("DistributedSampler(3, 2, shuffle=False)", numbers(10, distributed_sampler(3, 2, false)));
  check_fixed("num_samples=4", numbers(10, choose_sampler("test", {.num_samples = 4, .shuffle = false})));
}

TEST_F(RecordedOrders, OfSeveralEpochs) {
  check_epochs("three epochs", numbers(10, random_sampler()));
  check_epochs("three epochs, shuffle(4)", numbers(10).shuffle(4));
  check_epochs("three epochs, num_shards=2", numbers(10, distributed_sampler(2, 0)));
  check_epochs("three epochs, RandomSampler(True, 5)", numbers(10, random_sampler(true, 5)));
  check_epochs("three epochs, SubsetRandomSampler", numbers(10, subset_random_sampler({1, 3, 5, 7, 9})));
}

// What MindSpore 2.7.2 gave.
TEST(RecordedOrder, OfEpochsBehindStepsThatEndEarly) {
  const std::vector<Rows> recorded = {{3, 4, 5, 1, 6}, {2, 3, 0, 4, 5}, {1, 4, 2, 5, 6}};
  EXPECT_EQ(epochs_of(numbers(10).shuffle(4).take(5), 3, 3), recorded);
  EXPECT_EQ(epochs_of(zip({numbers(10).shuffle(4), numbers(5).rename({"x"}, {"y"})}), 3, 3), recorded);
}

TEST_F(RecordedOrders, OfStepsWithoutChance) {
  check_fixed("batch(3)", numbers(10).batch(3));
  check_fixed("batch(3, True)", numbers(10).batch(3, true));
  check_fixed("batch(3).repeat(2)", numbers(10).batch(3).repeat(2));
  check_fixed("repeat(2).batch(3)", numbers(10).repeat(2).batch(3));
  check_fixed("skip(3)", numbers(10).skip(3));
  check_fixed("take(3)", numbers(10).take(3));
  check_fixed("concat", numbers(10).take(2).concat({numbers(10).skip(8)}));
  check_fixed("filter even",
              numbers(10).filter([](const Row& row) { return row[0].item<int64_t>() % 2 == 0; }));
}

TEST(Sampler, GivesAnotherOrderInEachEpochAndTheSameInEachRun) {
  Dataset dataset = numbers(50, random_sampler());
  auto first = epochs_of(dataset, 3, 7);
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[1], first[2]);
  EXPECT_EQ(first, epochs_of(dataset, 3, 7));
  EXPECT_NE(first, epochs_of(dataset, 3, 8));
  // repeat() begins the same epochs.
  auto repeated = rows_of_epoch(dataset.repeat(3), 7);
  EXPECT_EQ(Rows(repeated.begin() + 50, repeated.begin() + 100), first[1]);
}

TEST(Sampler, ShardsCoverTheRows) {
  for (bool shuffle : {false, true}) {
    std::vector<int> seen(10);
    for (int64_t shard = 0; shard < 3; ++shard) {
      Dataset part = numbers(10, distributed_sampler(3, shard, shuffle));
      EXPECT_EQ(part.size(), 4);
      for (int64_t row : rows_of_epoch(part, 5)) ++seen[static_cast<size_t>(row)];
    }
    for (int count : seen) EXPECT_GE(count, 1);
  }
  EXPECT_EQ(rows_of_epoch(numbers(10, distributed_sampler(4, 1, false, {}, 2))), (Rows{3, 7}));
  EXPECT_EQ(rows_of_epoch(numbers(10, distributed_sampler(4, 2, false, {}, 2))), (Rows{0, 4, 8}));
}

TEST(Sampler, ChainsAndLimits) {
  auto child = subset_sampler({9, 8, 7, 6});
  EXPECT_EQ(rows_of_epoch(numbers(10, chained_sampler(subset_sampler({3, 0}), child))), (Rows{6, 9}));
  EXPECT_EQ(rows_of_epoch(numbers(10, limited_sampler(sequential_sampler(4), 3))), (Rows{4, 5, 6}));
  Rows weighted = rows_of_epoch(numbers(4, weighted_sampler({1, 0, 1, 1}, 3, false)), 3);
  std::sort(weighted.begin(), weighted.end());
  EXPECT_EQ(weighted, (Rows{0, 2, 3}));
}

TEST(Sampler, RefusesWhatDoesNotFit) {
  EXPECT_THROW((void)distributed_sampler(3, 3), ValueError);
  EXPECT_THROW((void)random_sampler(false, 0), ValueError);
  EXPECT_THROW((void)rows_of_epoch(numbers(10, subset_sampler({10}))), IndexError);
  EXPECT_THROW((void)choose_sampler("s", {.shuffle = true, .sampler = sequential_sampler()}), ValueError);
  EXPECT_THROW((void)choose_sampler("s", {.num_shards = 2}), ValueError);
}

}  // namespace
}  // namespace sorus::data
