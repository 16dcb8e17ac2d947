#include "sorus/ops/nn/pool.h"

#include <limits>

#include "sorus/base/error.h"
#include "tests/ops/nn/check.h"

namespace sorus {
namespace {

using testing::check_two_gradients;
using testing::doubles;
using testing::expect_error;
using testing::expect_near;
using testing::random_tensor;

struct Case {
  Shape x;
  Ints kernel;
  PoolOptions options;
};

std::vector<Case> cases() {
  return {
      {{2, 3, 8, 6}, {2, 2}, {}},
      {{1, 2, 7, 9}, {3, 3}, {.stride = {2}, .padding = {1}}},
      {{2, 2, 7, 8}, {3, 2}, {.stride = {2, 3}, .padding = {1, 0, 0, 1}, .ceil_mode = true}},
      {{2, 3, 10}, {3}, {.stride = {2}, .ceil_mode = true}},
      {{2, 3, 11}, {3}, {.stride = {1}, .padding = {1}, .dilation = {2}, .count_include_pad = false}},
      {{1, 2, 4, 5, 6}, {2, 3, 2}, {.stride = {1, 2, 2}, .padding = {1, 1, 0}, .divisor = 5}},
  };
}

Tensor counted() {
  std::vector<double> items;
  for (int i = 1; i <= 12; ++i) items.push_back(i);
  return Tensor(std::span<const double>(items), {1, 1, 3, 4});
}

TEST(MaxPool, TakesTheLargest) {
  Tensor x = counted();
  expect_near(max_pool2d(x, {2}, {.stride = {1}}), {6, 7, 8, 10, 11, 12});
  expect_near(max_pool2d(x, {2}), {6, 8});
  expect_near(max_pool2d(x, {2}, {.ceil_mode = true}), {6, 8, 10, 12});
  expect_near(max_pool2d(x, {3}, {.stride = {2}, .padding = {1}}), {6, 8, 10, 12});
  expect_near(max_pool2d(x, {2}, {.stride = {1}, .dilation = {2}}), {11, 12});
}

TEST(MaxPool, PaddingNeverWinsAndNanDoes) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  double inf = std::numeric_limits<double>::infinity();
  Tensor x({-3., -2., -inf, -inf, 1., nan}, {1, 1, 6});
  std::vector<double> y = doubles(max_pool1d(x, {2}));
  EXPECT_EQ(y[0], -2);
  EXPECT_EQ(y[1], -inf);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(doubles(max_pool1d(Tensor({-3., -2.}, {1, 1, 2}), {2}, {.stride = {1}, .padding = {1}})),
            (std::vector<double>{-3, -2, -2}));
}

TEST(MaxPool, IndicesNameTheFirstMaximum) {
  Tensor x({5., 5., 1., 5., 5., 0., 7., 7.}, {1, 1, 2, 4});
  auto [y, at] = max_pool_with_indices(x, {2, 2});
  expect_near(y, {5, 7});
  EXPECT_EQ(at.to_vector<int64_t>(), (std::vector<int64_t>{0, 6}));
  Pullback p = vjp([](const TensorList& t) { return TensorList{max_pool2d(t[0], {2})}; }, {x});
  expect_near(p.pull({Tensor({2., 3.}, {1, 1, 1, 2})})[0], {2, 0, 0, 0, 0, 0, 3, 0});
}

TEST(AvgPool, DividesByTheElementsThatCount) {
  Tensor x = counted();
  expect_near(avg_pool2d(x, {2}), {3.5, 5.5});
  expect_near(avg_pool2d(x, {2}, {.ceil_mode = true}), {3.5, 5.5, 9.5, 11.5});
  expect_near(avg_pool1d(Tensor({1., 2., 3.}, {1, 1, 3}), {3}, {.stride = {2}, .padding = {1}}), {1, 5. / 3});
  expect_near(avg_pool1d(Tensor({1., 2., 3.}, {1, 1, 3}), {3},
                         {.stride = {2}, .padding = {1}, .count_include_pad = false}),
              {1.5, 2.5});
  expect_near(avg_pool2d(x, {2}, {.divisor = 2}), {7, 11});
}

TEST(AdaptivePool, WindowsCoverTheInput) {
  Tensor x = counted();
  expect_near(adaptive_avg_pool(x, {1, 1}), {6.5});
  expect_near(adaptive_avg_pool(x, {2, -1}), {3, 4, 5, 6, 7, 8, 9, 10});
  expect_near(adaptive_max_pool(x, {2, 3}), {6, 7, 8, 10, 11, 12});
  EXPECT_EQ(adaptive_max_pool_with_indices(x, {1, 1}).second.to_vector<int64_t>(),
            (std::vector<int64_t>{11}));
  EXPECT_EQ(adaptive_avg_pool(random_tensor({3, 7, 5}, 1), {4, 6}).shape(), Shape({3, 4, 6}));
}

TEST(Pool, HasGradientsOfBothOrders) {
  for (const Case& c : cases()) {
    Tensor x = random_tensor(c.x, 1);
    check_two_gradients([&](const TensorList& t) { return max_pool(t[0], c.kernel, c.options); }, {x});
    check_two_gradients([&](const TensorList& t) { return avg_pool(t[0], c.kernel, c.options); }, {x});
  }
  Tensor x = random_tensor({2, 3, 7, 5}, 1);
  check_two_gradients([](const TensorList& t) { return adaptive_avg_pool(t[0], {3, 2}); }, {x});
  check_two_gradients([](const TensorList& t) { return adaptive_max_pool(t[0], {3, 2}); }, {x});
}

TEST(Pool, NamesWhatDoesNotFit) {
  Tensor x = random_tensor({1, 2, 4, 4}, 1);
  expect_error<ShapeError>([&] { (void)max_pool2d(x, {5}); }, "max_pool: the window is longer");
  expect_error<ValueError>([&] { (void)avg_pool2d(x, {2}, {.padding = {2}}); },
                           "avg_pool2d: 'padding' is too large");
  expect_error<ShapeError>([&] { (void)max_pool1d(x, {2}); }, "max_pool: the rank does not fit");
  expect_error<DTypeError>(
      [&] {
        (void)max_pool1d(Tensor({1, 2}, {1, 1, 2}), {2});
      },
      "max_pool: 'x' has the wrong dtype: got int32");
}

}  // namespace
}  // namespace sorus
