#include "sorus/base/error.h"
#include "sorus/ops/nn/conv.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/pool.h"
#include "tests/ops/nn/check.h"

namespace sorus {
namespace {

using testing::check_two_gradients;
using testing::dot;
using testing::doubles;
using testing::expect_error;
using testing::expect_near;
using testing::random_tensor;

TEST(Windows, UnfoldMakesColumns) {
  Tensor x({1., 2., 3., 4., 5., 6., 7., 8., 9.}, {1, 1, 3, 3});
  Tensor y = unfold_windows(x, {2});
  EXPECT_EQ(y.shape(), Shape({1, 4, 4}));
  expect_near(y, {1, 2, 4, 5, 2, 3, 5, 6, 4, 5, 7, 8, 5, 6, 8, 9});
  expect_near(fold_windows(y, {3, 3}, {2}), {1, 4, 3, 8, 20, 12, 7, 16, 9});
}

TEST(Windows, FoldIsTheAdjoint) {
  ConvOptions o{.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}};
  Tensor x = random_tensor({2, 3, 5, 6}, 1);
  Tensor y = unfold_windows(x, {3, 2}, o), probe = random_tensor(y.shape(), 2);
  EXPECT_NEAR(dot(doubles(y), doubles(probe)),
              dot(doubles(x), doubles(fold_windows(probe, {5, 6}, {3, 2}, o))), 1e-10);
  check_two_gradients([&](const TensorList& t) { return unfold_windows(t[0], {3, 2}, o); }, {x});
  check_two_gradients([&](const TensorList& t) { return fold_windows(t[0], {5, 6}, {3, 2}, o); }, {probe});
  expect_error<ShapeError>(
      [&] {
        (void)fold_windows(probe, {9, 9}, {3, 2}, o);
      },
      "fold_windows: columns do not fit");
}

TEST(Windows, PowerPoolAndResponseNorm) {
  Tensor x({3., 4., 0., 5.}, {1, 1, 4});
  expect_near(lp_pool(x, 2, {2}), {5, 5});
  Tensor c({1., 2., 3.}, {1, 3, 1});
  expect_near(local_response_norm(c, 1, 1, 2, 0.5),
              {1 / std::sqrt(11.), 2 / std::sqrt(29.), 3 / std::sqrt(27.)});
}

TEST(MarginLoss, EqualsItsDefinition) {
  Tensor x({0.5, -1., 2., 0.25}, {2, 2}), three({0.1, 0.2, 0.4, 0.8}, {1, 4});
  expect_near(multi_margin_loss(x, Tensor({0, 1}), 1, 1, {}, Reduction::kNone), {0, 2.75 / 2});
  expect_near(multi_margin_loss(x, Tensor({1, 1}), 2, 1, Tensor({1., 3.}), Reduction::kNone),
              {3 * 2.5 * 2.5 / 2, 3 * 2.75 * 2.75 / 2});
  // The example of the field: labels 3 and 0 of 4 classes.
  expect_near(multilabel_margin_loss(three, Tensor({3, 0, -1, 1}, {1, 4})), {0.85});
  expect_near(multilabel_soft_margin_loss(Tensor({0., 0.}, {1, 2}), Tensor({1., 0.}, {1, 2})),
              {std::log(2.)});
  check_two_gradients(
      [](const TensorList& t) {
        return multilabel_margin_loss(t[0], Tensor({3, 0, -1, 1}, {1, 4}));
      },
      {three});
  check_two_gradients([](const TensorList& t) { return multi_margin_loss(t[0], Tensor({1, 1}), 2); }, {x});
}

}  // namespace
}  // namespace sorus
