#include "sorus/ops/nn/norm.h"

#include "sorus/base/error.h"
#include "tests/ops/nn/check.h"

namespace sorus {
namespace {

using testing::check_two_gradients;
using testing::doubles;
using testing::expect_error;
using testing::expect_near;
using testing::random_tensor;

constexpr double kEpsilon = 1e-3;

/// Normalizes every set of elements with equal key; parameter p(i) scales and shifts element i.
template <class Key, class Parameter>
std::vector<double> naive(const Tensor& x, const Tensor& gamma, const Tensor& beta, Key key,
                          Parameter parameter) {
  std::vector<double> v = doubles(x), g = doubles(gamma), b = doubles(beta), y(v.size());
  for (size_t i = 0; i < v.size(); ++i) {
    double sum = 0, squares = 0, count = 0;
    for (size_t j = 0; j < v.size(); ++j)
      if (key(j) == key(i)) sum += v[j], ++count;
    for (size_t j = 0; j < v.size(); ++j)
      if (key(j) == key(i)) squares += (v[j] - sum / count) * (v[j] - sum / count);
    double n = (v[i] - sum / count) / std::sqrt(squares / count + kEpsilon);
    y[i] = n * g[parameter(i)] + b[parameter(i)];
  }
  return y;
}

TEST(LayerNorm, EqualsItsDefinition) {
  Tensor x = random_tensor({3, 4, 5}, 1), gamma = random_tensor({4, 5}, 2), beta = random_tensor({4, 5}, 3);
  expect_near(layer_norm(x, {4, 5}, gamma, beta, kEpsilon),
              naive(
                  x, gamma, beta, [](size_t i) { return i / 20; }, [](size_t i) { return i % 20; }));
  NormResult r = layer_norm_with_statistics(x, 1, gamma, beta, kEpsilon);
  EXPECT_EQ(r.mean.shape(), Shape({3, 1, 1}));
  double sum = 0;
  for (size_t i = 0; i < 20; ++i) sum += doubles(x)[i];
  EXPECT_NEAR(doubles(r.mean)[0], sum / 20, 1e-12);
}

TEST(LayerNorm, SixteenBitFloatsKeepWideStatistics) {
  NormResult r = layer_norm_with_statistics(random_tensor<Float16>({2, 8}, 1), 1);
  EXPECT_EQ(r.y.dtype(), DType::kFloat16);
  EXPECT_EQ(r.mean.dtype(), DType::kFloat32);
  EXPECT_EQ(r.variance.dtype(), DType::kFloat32);
}

TEST(GroupNorm, EqualsItsDefinition) {
  Tensor x = random_tensor({2, 6, 3, 2}, 1), gamma = random_tensor({6}, 2), beta = random_tensor({6}, 3);
  auto channel = [](size_t i) { return i / 6 % 6; };
  expect_near(group_norm(x, 3, gamma, beta, kEpsilon),
              naive(
                  x, gamma, beta, [](size_t i) { return i / 12; }, channel));
  expect_near(instance_norm(x, gamma, beta, kEpsilon),
              naive(
                  x, gamma, beta, [](size_t i) { return i / 6; }, channel));
}

TEST(BatchNorm, EqualsItsDefinition) {
  Tensor x = random_tensor({4, 3, 2, 5}, 1), gamma = random_tensor({3}, 2), beta = random_tensor({3}, 3);
  auto channel = [](size_t i) { return i / 10 % 3; };
  std::vector<double> need = naive(x, gamma, beta, channel, channel);
  NormResult r = batch_norm_train(x, gamma, beta, kEpsilon);
  expect_near(r.y, need);
  expect_near(batch_norm_inference(x, r.mean, r.variance, gamma, beta, kEpsilon), need, 1e-11);
  expect_near(batch_norm_train(random_tensor<float>({4, 3, 2, 5}, 1), random_tensor<float>({3}, 2),
                               random_tensor<float>({3}, 3), kEpsilon)
                  .y,
              need, 1e-5);
}

TEST(RmsNorm, EqualsItsDefinition) {
  Tensor x = random_tensor({3, 5}, 1), gamma = random_tensor({5}, 2);
  std::vector<double> v = doubles(x), g = doubles(gamma), need;
  for (size_t r = 0; r < 3; ++r) {
    double squares = 0;
    for (size_t i = 0; i < 5; ++i) squares += v[r * 5 + i] * v[r * 5 + i];
    for (size_t i = 0; i < 5; ++i) need.push_back(v[r * 5 + i] / std::sqrt(squares / 5 + kEpsilon) * g[i]);
  }
  expect_near(rms_norm(x, gamma, kEpsilon).y, need);
}

TEST(Normalize, DividesByTheNorm) {
  Tensor x({3., 4., 0., 0.}, {2, 2});
  expect_near(normalize(x), {0.6, 0.8, 0, 0});
  expect_near(normalize(x, 1), {3. / 7, 4. / 7, 0, 0});
  expect_near(normalize(x, 3), {3 / std::cbrt(91.), 4 / std::cbrt(91.), 0, 0});
  expect_near(l2_normalize(Tensor({3., 4.}), {0}), {0.6, 0.8});
}

TEST(Norm, HasGradientsOfBothOrders) {
  Tensor x = random_tensor({3, 4, 5}, 1), g2 = random_tensor({4, 5}, 2), b2 = random_tensor({4, 5}, 3);
  Tensor g1 = random_tensor({4}, 4), b1 = random_tensor({4}, 5);
  check_two_gradients(
      [](const TensorList& t) {
        return layer_norm(t[0], {4, 5}, t[1], t[2], kEpsilon);
      },
      {x, g2, b2});
  check_two_gradients([](const TensorList& t) { return layer_norm(t[0], {5}, {}, {}, kEpsilon); }, {x});
  check_two_gradients([](const TensorList& t) { return group_norm(t[0], 2, t[1], t[2], kEpsilon); },
                      {x, g1, b1});
  check_two_gradients([](const TensorList& t) { return batch_norm_train(t[0], t[1], t[2], kEpsilon).y; },
                      {x, g1, b1});
  check_two_gradients([](const TensorList& t) { return batch_norm_train(t[0], {}, t[1], kEpsilon).y; },
                      {x, b1});
  check_two_gradients([](const TensorList& t) { return rms_norm(t[0], t[1], kEpsilon).y; }, {x, g2});
}

TEST(Norm, StatisticsHaveGradients) {
  Tensor x = random_tensor({3, 4, 5}, 1);
  check_two_gradients([](const TensorList& t) { return batch_norm_train(t[0], {}, {}, kEpsilon).mean; }, {x});
  check_two_gradients([](const TensorList& t) { return batch_norm_train(t[0], {}, {}, kEpsilon).variance; },
                      {x});
  check_two_gradients([](const TensorList& t) { return layer_norm_with_statistics(t[0], 1).variance; }, {x});
  check_two_gradients([](const TensorList& t) { return rms_norm(t[0], t[1], kEpsilon).scale; },
                      {x, random_tensor({5}, 2)});
}

TEST(Norm, NamesWhatDoesNotFit) {
  Tensor x = random_tensor({2, 6, 3}, 1);
  expect_error<ShapeError>([&] { (void)group_norm(x, 4); },
                           "group_norm: channels do not divide into groups: got 6 channels and 4 groups");
  expect_error<ShapeError>([&] { (void)batch_norm_train(x, random_tensor({3}, 1)); },
                           "batch_norm: 'gamma' does not fit: got shape (3,), need (6,)");
  expect_error<ShapeError>([&] { (void)layer_norm(x, {6}); }, "layer_norm: 'normalized_shape' does not fit");
  expect_error<ValueError>([&] { (void)layer_norm(x, {3}, {}, {}, -1); },
                           "layer_norm: 'epsilon' is negative");
  expect_error<ShapeError>([&] { (void)rms_norm(x, random_tensor({6}, 1)); },
                           "rms_norm: 'gamma' does not fit");
}

}  // namespace
}  // namespace sorus
