#include "sorus/ops/nn/interpolate.h"

#include "sorus/base/error.h"
#include "tests/ops/nn/check.h"

namespace sorus {
namespace {

using testing::check_two_gradients;
using testing::expect_error;
using testing::expect_near;
using testing::random_tensor;

Tensor two_by_two() { return Tensor({1., 2., 3., 4.}, {1, 1, 2, 2}); }

TEST(Interpolate, NearestRepeatsElements) {
  expect_near(interpolate(two_by_two(), Interpolation::kNearest, {.size = {4, 3}}),
              {1, 1, 2, 1, 1, 2, 3, 3, 4, 3, 3, 4});
  expect_near(interpolate(Tensor({1., 2., 3., 4., 5.}, {1, 1, 5}), Interpolation::kNearest, {.size = {3}}),
              {1, 2, 4});
  expect_near(
      interpolate(Tensor({1., 2., 3., 4., 5.}, {1, 1, 5}), Interpolation::kNearestExact, {.size = {3}}),
      {1, 3, 5});
}

TEST(Interpolate, LinearHasBothConventions) {
  Tensor x({0., 10.}, {1, 1, 2});
  expect_near(interpolate(x, Interpolation::kLinear, {.size = {4}}), {0, 2.5, 7.5, 10});
  expect_near(interpolate(x, Interpolation::kLinear, {.size = {5}, .align_corners = true}),
              {0, 2.5, 5, 7.5, 10});
  expect_near(interpolate(two_by_two(), Interpolation::kLinear, {.size = {3, 3}, .align_corners = true}),
              {1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4});
}

TEST(Interpolate, CubicKeepsLinesInside) {
  std::vector<double> line;
  for (int i = 0; i < 8; ++i) line.push_back(i);
  Tensor x(std::span<const double>(line), {1, 1, 1, 8});
  std::vector<double> y = testing::doubles(interpolate(x, Interpolation::kCubic, {.size = {1, 16}}));
  for (size_t o = 4; o < 12; ++o) EXPECT_NEAR(y[o], (static_cast<double>(o) + 0.5) / 2 - 0.5, 0.05);
  // At t = 1/2 the weights are -3/32, 19/32, 19/32, -3/32.
  Tensor z({1., 5., 2., 7.}, {1, 1, 1, 4});
  expect_near(interpolate(z, Interpolation::kCubic, {.size = {1, 7}, .align_corners = true}),
              {1, (-3. * 1 + 19 * 1 + 19 * 5 - 3 * 2) / 32, 5, (-3. * 1 + 19 * 5 + 19 * 2 - 3 * 7) / 32, 2,
               (-3. * 5 + 19 * 2 + 19 * 7 - 3 * 7) / 32, 7});
}

TEST(Interpolate, FactorsGiveExtentsAndPlaces) {
  double factors[] = {1.5, 2};
  Tensor x = random_tensor({2, 3, 4, 5}, 1);
  EXPECT_EQ(interpolate(x, Interpolation::kLinear, {.factors = factors}).shape(), Shape({2, 3, 6, 10}));
  double third[] = {2.6};
  Tensor line({0., 10., 20.}, {1, 1, 3});
  // floor(3 * 2.6) = 7 elements; place of element 1 is 1.5 / 2.6 - 1/2, or 1.5 * 3 / 7 - 1/2 when recomputed.
  EXPECT_NEAR(testing::doubles(interpolate(line, Interpolation::kLinear, {.factors = third}))[1],
              10 * (1.5 / 2.6 - 0.5), 1e-12);
  EXPECT_NEAR(testing::doubles(
                  interpolate(line, Interpolation::kLinear, {.factors = third, .recompute_scale = true}))[1],
              10 * (1.5 * 3 / 7 - 0.5), 1e-12);
}

TEST(Interpolate, HasGradientsOfBothOrders) {
  Tensor x1 = random_tensor({2, 3, 5}, 1), x2 = random_tensor({2, 3, 4, 5}, 2),
         x3 = random_tensor({1, 2, 3, 4, 3}, 3);
  for (Interpolation mode : {Interpolation::kNearest, Interpolation::kLinear, Interpolation::kArea}) {
    check_two_gradients([&](const TensorList& t) { return interpolate(t[0], mode, {.size = {7}}); }, {x1});
    check_two_gradients([&](const TensorList& t) { return interpolate(t[0], mode, {.size = {3, 8}}); }, {x2});
    check_two_gradients(
        [&](const TensorList& t) {
          return interpolate(t[0], mode, {.size = {5, 3, 4}});
        },
        {x3});
  }
  for (bool align : {false, true})
    check_two_gradients(
        [&](const TensorList& t) {
          return interpolate(t[0], Interpolation::kCubic, {.size = {7, 3}, .align_corners = align});
        },
        {x2});
}

TEST(Interpolate, NamesWhatDoesNotFit) {
  Tensor x = two_by_two();
  expect_error<ValueError>([&] { (void)interpolate(x, Interpolation::kLinear, {}); },
                           "interpolate: need exactly one of size and factors");
  expect_error<ValueError>(
      [&] { (void)interpolate(x, Interpolation::kNearest, {.size = {3}, .align_corners = true}); },
      "interpolate: 'align_corners' is of linear and cubic alone");
  expect_error<ValueError>([] { (void)interpolation_from_name("bicubic", 1); },
                           "got 'bicubic' for 1 spatial");
  expect_error<ShapeError>([] { (void)interpolate(Tensor({1.}), Interpolation::kNearest, {.size = {3}}); },
                           "interpolate: the rank does not fit");
}

}  // namespace
}  // namespace sorus
