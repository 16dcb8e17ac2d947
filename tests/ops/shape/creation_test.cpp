#include "sorus/ops/shape/creation.h"

#include <gtest/gtest.h>

namespace sorus {
namespace {

TEST(Creation, FillsAShapeWithANumber) {
  Tensor x = full({2, 3}, 0.5);
  EXPECT_EQ(x.type().text(), "float32(2, 3)");
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(6, 0.5F));
  EXPECT_EQ(ones({2}, DType::kInt64).to_vector<int64_t>(), std::vector<int64_t>({1, 1}));
  EXPECT_EQ(zeros({}).item<float>(), 0.F);
  EXPECT_EQ(zeros({0, 4}).numel(), 0);
}

}  // namespace
}  // namespace sorus
