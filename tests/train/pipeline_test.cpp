#include "sorus/train/pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sorus::train {
namespace {

data::Dataset numbers(bool shuffle) {
  Tensor x({0.F, 1.F, 2.F, 3.F, 4.F, 5.F, 6.F, 7.F}, {8}), y({int32_t{0}, 1, 2, 3, 4, 5, 6, 7}, {8});
  data::Dataset rows = data::from_tensors({"x", "y"}, {x, y});
  return (shuffle ? rows.shuffle(8) : rows).batch(2);
}

std::vector<float> epoch_of(Batches& batches) {
  std::vector<float> seen;
  for (TensorList b = batches.next(); !b.empty(); b = batches.next())
    for (float v : b[0].to_vector<float>()) seen.push_back(v);
  return seen;
}

TEST(PipelineBatches, GiveEpochAfterEpoch) {
  auto batches = pipeline_batches(numbers(false));
  EXPECT_EQ(batches->size(), 4);
  for (int epoch = 0; epoch < 3; ++epoch)
    EXPECT_EQ(epoch_of(*batches), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(PipelineBatches, ShuffleEachEpochInAnotherWay) {
  auto batches = pipeline_batches(numbers(true));
  std::vector<float> first = epoch_of(*batches), second = epoch_of(*batches);
  EXPECT_NE(first, second);
  std::sort(second.begin(), second.end());
  EXPECT_EQ(second, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(PipelineBatches, RewindInTheMidstOfAnEpoch) {
  auto batches = pipeline_batches(numbers(false));
  (void)batches->next();
  batches->rewind();
  EXPECT_EQ(batches->next()[1].to_vector<int32_t>(), (std::vector<int32_t>{0, 1}));
}

}  // namespace
}  // namespace sorus::train
