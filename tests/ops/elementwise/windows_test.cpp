#include "sorus/ops/elementwise/windows.h"

#include <gtest/gtest.h>

namespace sorus {
namespace {

std::vector<double> numbers(const Tensor& t) { return t.to_vector<double>(); }

void expect_near(const Tensor& got, const std::vector<double>& want) {
  const std::vector<double> values = numbers(got);
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], 1e-15) << i;
}

TEST(Windows, HaveTheirKnownValues) {
  expect_near(hann_window(5, false, DType::kFloat64), {0, 0.5, 1, 0.5, 0});
  expect_near(hann_window(4, true, DType::kFloat64), {0, 0.5, 1, 0.5});
  expect_near(hamming_window(3, false, 0.54, 0.46, DType::kFloat64), {0.08, 1, 0.08});
  expect_near(blackman_window(5, false, DType::kFloat64), {0, 0.34, 1, 0.34, 0});
  expect_near(bartlett_window(5, false, DType::kFloat64), {0, 0.5, 1, 0.5, 0});
  // 1 / I0(2), I0(2) from Abramowitz and Stegun, table 9.8.
  expect_near(kaiser_window(3, false, 2, DType::kFloat64),
              {1 / 2.2795853023360673, 1, 1 / 2.2795853023360673});
}

TEST(Windows, ArePlainAtTheEdges) {
  EXPECT_EQ(hann_window(0).shape(), (Shape{0}));
  EXPECT_EQ(numbers(kaiser_window(1, false, 12, DType::kFloat64)), std::vector<double>{1});
  EXPECT_EQ(bartlett_window(3, false, DType::kFloat16).dtype(), DType::kFloat16);
  EXPECT_THROW((void)hann_window(-1), ValueError);
  EXPECT_THROW((void)hann_window(3, true, DType::kInt32), DTypeError);
  EXPECT_THROW((void)kaiser_window(3, true, 1e4), ValueError);
}

}  // namespace
}  // namespace sorus
