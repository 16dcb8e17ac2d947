#include "sorus/data/config.h"

#include "sorus/core/generator.h"
#include "tests/data/helpers.h"

namespace sorus::data {
namespace {

using test::numbers;
using test::rows_of_epoch;

class SeedOfTheProcess : public testing::Test {
 protected:
  void TearDown() override { set_config(before_); }
  Config before_ = config();
};

std::vector<int64_t> shuffled() { return rows_of_epoch(numbers(40).shuffle(40), std::nullopt); }

TEST_F(SeedOfTheProcess, FixesTheOrderOfPipelines) {
  set_seed(1);
  EXPECT_EQ(config().seed, 1U);
  const std::vector<int64_t> order = shuffled();
  EXPECT_EQ(order, rows_of_epoch(numbers(40).shuffle(40), 1));
  set_seed(2);
  EXPECT_NE(shuffled(), order);
  set_seed((uint64_t{1} << 32) + 1);
  EXPECT_EQ(shuffled(), order);
}

TEST_F(SeedOfTheProcess, GivesWayToALaterSetConfigAndTheOtherWayRound) {
  set_seed(1);
  Config mine = config();
  mine.seed = 7;
  mine.prefetch_size = 3;
  set_config(mine);
  EXPECT_EQ(config().seed, 7U);
  set_seed(1);
  EXPECT_EQ(config().seed, 1U);
  EXPECT_EQ(config().prefetch_size, 3);
}

}  // namespace
}  // namespace sorus::data
