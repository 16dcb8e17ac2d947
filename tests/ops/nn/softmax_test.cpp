#include "sorus/ops/nn/softmax.h"

#include "sorus/base/error.h"
#include "sorus/ops/nn/linear.h"
#include "sorus/ops/nn/loss.h"
#include "tests/ops/nn/check.h"

namespace sorus {
namespace {

using testing::check_two_gradients;
using testing::doubles;
using testing::expect_error;
using testing::expect_near;
using testing::random_tensor;

std::vector<double> naive_log_softmax(const Tensor& x, int64_t outer, int64_t n, int64_t inner) {
  std::vector<double> v = doubles(x);
  for (int64_t a = 0; a < outer; ++a)
    for (int64_t b = 0; b < inner; ++b) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += std::exp(v[static_cast<size_t>((a * n + i) * inner + b)]);
      for (int64_t i = 0; i < n; ++i) v[static_cast<size_t>((a * n + i) * inner + b)] -= std::log(sum);
    }
  return v;
}

TEST(Softmax, EqualsItsDefinition) {
  Tensor x = random_tensor({3, 5, 4}, 1);
  for (int64_t axis : {0, 1, 2, -1, -2}) {
    int64_t at = axis < 0 ? axis + 3 : axis;
    int64_t outer = at == 0 ? 1 : at == 1 ? 3 : 15, inner = at == 0 ? 20 : at == 1 ? 4 : 1;
    std::vector<double> log = naive_log_softmax(x, outer, x.size(at), inner);
    expect_near(log_softmax(x, axis), log);
    for (double& v : log) v = std::exp(v);
    expect_near(softmax(x, axis), log);
    expect_near(softmax(random_tensor<float>({3, 5, 4}, 1), axis), log, 1e-6);
    expect_near(softmax(random_tensor<BFloat16>({3, 5, 4}, 1), axis), log, 1e-2);
  }
}

TEST(Softmax, SurvivesLargeNumbers) {
  expect_near(softmax(Tensor({1000., 1000., -1000.})), {0.5, 0.5, 0});
  expect_near(log_softmax(Tensor({1000., 0.})), {0, -1000});
}

TEST(Softmax, HasGradientsOfBothOrders) {
  Tensor x = random_tensor({3, 5, 4}, 1);
  for (int64_t axis : {0, 1, 2}) {
    check_two_gradients([&](const TensorList& t) { return softmax(t[0], axis); }, {x});
    check_two_gradients([&](const TensorList& t) { return log_softmax(t[0], axis); }, {x});
  }
}

TEST(Softmax, NamesWhatDoesNotFit) {
  expect_error<ValueError>([] { (void)softmax(Tensor({1., 2.}), 1); }, "softmax");
  expect_error<DTypeError>(
      [] {
        (void)softmax(Tensor({1, 2}));
      },
      "softmax: 'x' has the wrong dtype: got int32");
  expect_error<ShapeError>([] { (void)softmax(Tensor(1.0)); }, "softmax: a scalar has no axis");
}

TEST(SoftmaxCrossEntropy, EqualsItsDefinition) {
  Tensor x = random_tensor({4, 6}, 1);
  Tensor labels({2, 0, 5, -100}, {4});
  std::vector<double> log = naive_log_softmax(x, 4, 6, 1);
  expect_near(softmax_cross_entropy(x, labels), {-log[2], -log[6], -log[12 + 5], 0});
  std::vector<double> smooth(4);
  for (size_t r = 0; r < 3; ++r)
    for (size_t i = 0; i < 6; ++i) smooth[r] -= 0.1 / 6 * log[r * 6 + i];
  smooth[0] -= 0.9 * log[2];
  smooth[1] -= 0.9 * log[6];
  smooth[2] -= 0.9 * log[17];
  expect_near(softmax_cross_entropy(x, labels, -100, 0.1), smooth);
  Tensor wide({int64_t{2}, int64_t{0}, int64_t{5}, int64_t{3}}, {4});
  expect_near(softmax_cross_entropy(random_tensor<float>({4, 6}, 1), wide, 3),
              {-log[2], -log[6], -log[17], 0}, 1e-6);
}

TEST(SoftmaxCrossEntropy, HasGradientsOfBothOrders) {
  Tensor labels({2, 0, 5, -100}, {4});
  for (double smoothing : {0.0, 0.2})
    check_two_gradients(
        [&](const TensorList& t) { return softmax_cross_entropy(t[0], labels, -100, smoothing); },
        {random_tensor({4, 6}, 1)});
}

TEST(SoftmaxCrossEntropy, NamesALabelOutOfRange) {
  Tensor x = random_tensor({3, 6}, 1);
  expect_error<IndexError>(
      [&] {
        (void)softmax_cross_entropy(x, Tensor({1, 6, 2}));
      },
      "softmax_cross_entropy: a label is out of range: got 6 at position 1, need 0 to 5");
  expect_error<IndexError>(
      [&] {
        (void)softmax_cross_entropy(x, Tensor({1, 2, -1}));
      },
      "got -1 at position 2");
  expect_error<ShapeError>([&] { (void)softmax_cross_entropy(x, Tensor({1, 2})); }, "labels do not fit");
  expect_error<DTypeError>(
      [&] {
        (void)softmax_cross_entropy(x, Tensor({1.F, 2.F, 0.F}));
      },
      "'labels' has the wrong dtype: got float32");
}

TEST(Linear, MultipliesByTheTransposedWeight) {
  Tensor x = random_tensor({2, 3, 4}, 1), w = random_tensor({5, 4}, 2), b = random_tensor({5}, 3);
  std::vector<double> xs = doubles(x), ws = doubles(w), bs = doubles(b), ys;
  for (size_t r = 0; r < 6; ++r)
    for (size_t o = 0; o < 5; ++o) {
      double sum = bs[o];
      for (size_t i = 0; i < 4; ++i) sum += xs[r * 4 + i] * ws[o * 4 + i];
      ys.push_back(sum);
    }
  expect_near(linear(x, w, b), ys);
  check_two_gradients([](const TensorList& t) { return linear(t[0], t[1], t[2]); }, {x, w, b});
  expect_error<ShapeError>([&] { (void)linear(x, w, x); }, "linear: bias does not fit");
}

}  // namespace
}  // namespace sorus
