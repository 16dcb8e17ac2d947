#include "sorus/ops/nn/loss.h"

#include "sorus/base/error.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/softmax.h"
#include "tests/ops/nn/check.h"

namespace sorus {
namespace {

using testing::check_two_gradients;
using testing::doubles;
using testing::expect_error;
using testing::expect_near;
using testing::ListFunction;
using testing::random_tensor;

constexpr Reduction kNone = Reduction::kNone;
constexpr Reduction kSum = Reduction::kSum;

Tensor x3() { return Tensor({0.5, -1.5, 2.}); }
Tensor t3() { return Tensor({0.25, 1., 0.5}); }

TEST(Loss, ElementwiseOnesEqualTheirDefinitions) {
  expect_near(mse_loss(x3(), t3(), kNone), {0.0625, 6.25, 2.25});
  expect_near(mse_loss(x3(), t3()), {(0.0625 + 6.25 + 2.25) / 3});
  expect_near(l1_loss(x3(), t3(), kSum), {0.25 + 2.5 + 1.5});
  expect_near(smooth_l1_loss(x3(), t3(), 2, kNone), {0.0625 / 4, 1.5, 2.25 / 4});
  expect_near(smooth_l1_loss(x3(), t3(), 0, kNone), {0.25, 2.5, 1.5});
  expect_near(huber_loss(x3(), t3(), 2, kNone), {0.0625 / 2, 3, 2.25 / 2});
  Tensor p({0.25, 0.5, 1.}), one({1., 0., 0.});
  expect_near(binary_cross_entropy(p, one, {}, kNone), {-std::log(0.25), -std::log(0.5), 100});
  expect_near(binary_cross_entropy_with_logits(x3(), one, {}, {}, kNone),
              {std::log1p(std::exp(-0.5)), std::log1p(std::exp(-1.5)), std::log1p(std::exp(2))});
  expect_near(
      binary_cross_entropy_with_logits(x3(), one, t3(), Tensor({2., 2., 2.}), kNone),
      {0.25 * 2 * std::log1p(std::exp(-0.5)), std::log1p(std::exp(-1.5)), 0.5 * std::log1p(std::exp(2))});
  expect_near(binary_cross_entropy_with_logits(Tensor({1000., -1000.}), Tensor({0., 0.}), {}, {}, kNone),
              {1000, 0});
  expect_near(soft_margin_loss(x3(), Tensor({1., -1., 1.}), kNone),
              {std::log1p(std::exp(-0.5)), std::log1p(std::exp(-1.5)), std::log1p(std::exp(-2))});
  expect_near(gaussian_nll_loss(x3(), t3(), Tensor({1., 2., 0.}), false, 0.5, kNone),
              {0.03125, (std::log(2) + 6.25 / 2) / 2, (std::log(0.5) + 2.25 / 0.5) / 2});
}

TEST(Loss, CrossEntropyOfSaturatedProbabilitiesHasAGradient) {
  const Tensor p({0., 1., 0., 1., 0.25}), t({0., 1., 1., 0., 1.});
  const auto loss = [&](const Tensor& x) { return binary_cross_entropy(x, t, {}, kSum); };
  expect_near(loss(p), {200 - std::log(0.25)});
  expect_near(grad(loss, p), {1, -1, 0, 0, -4});
}

TEST(Loss, DivergenceSkipsZeroTargets) {
  Tensor x({-1., -2., -3., -4.}, {2, 2}), t({0.5, 0., 0.25, 1.}, {2, 2});
  std::vector<double> need{0.5 * (std::log(0.5) + 1), 0, 0.25 * (std::log(0.25) + 3), 4};
  expect_near(kl_div(x, t, kNone), need);
  expect_near(kl_div(x, t, Reduction::kBatchMean), {(need[0] + need[2] + need[3]) / 2});
}

TEST(Loss, EmbeddingOnesEqualTheirDefinitions) {
  Tensor a({1., 0., 3., 4.}, {2, 2}), b({1., 1., 3., 4.}, {2, 2}), t({1, -1});
  expect_near(cosine_embedding_loss(a, b, t, 0.25, kNone), {1 - std::sqrt(0.5), 0.75}, 1e-9);
  expect_near(hinge_embedding_loss(Tensor({0.5, 0.25, 3.}), Tensor({1, -1, -1}), 1, kNone), {0.5, 0.75, 0});
  expect_near(margin_ranking_loss(Tensor({1., 2.}), Tensor({2., 0.}), Tensor({1., 1.}), 0.5, kNone),
              {1.5, 0});
  expect_near(triplet_margin_loss(Tensor({0., 0.}, {1, 2}), Tensor({3., 4.}, {1, 2}),
                                  Tensor({0., 1.}, {1, 2}), 1, 2, 0, false, kNone),
              {5});
  expect_near(triplet_margin_loss(Tensor({0., 0.}, {1, 2}), Tensor({3., 4.}, {1, 2}),
                                  Tensor({0., 1.}, {1, 2}), 1, 1, 0, true, kNone),
              {7});
}

TEST(Loss, HasGradientsOfBothOrders) {
  Tensor x = random_tensor({3, 4}, 1), y = random_tensor({3, 4}, 2), labels({1, -100, 3}),
         w({1., 2., 0.5, 3.});
  Tensor p = softmax(y), sign({1., -1., 1.}, {3, 1});
  std::vector<ListFunction> functions = {
      [](const TensorList& t) { return mse_loss(t[0], t[1]); },
      [](const TensorList& t) { return smooth_l1_loss(t[0], t[1], 0.7); },
      [](const TensorList& t) { return huber_loss(t[0], t[1], 0.7, kSum); },
      [&](const TensorList& t) { return binary_cross_entropy(softmax(t[0]), p, t[1]); },
      [&](const TensorList& t) { return binary_cross_entropy_with_logits(t[0], p, {}, t[1]); },
      [&](const TensorList& t) { return kl_div(t[0], softmax(t[1])); },
      [&](const TensorList& t) {
        return cosine_embedding_loss(t[0], t[1], Tensor({1, -1, 1}), -1);
      },
      [&](const TensorList& t) { return soft_margin_loss(t[0] * t[1], sign); },
      [](const TensorList& t) { return triplet_margin_loss(t[0], t[1], t[0] * t[1]); },
      [](const TensorList& t) { return triplet_margin_loss(t[0], t[1], t[0] * t[1], 1, 3); },
      [](const TensorList& t) { return gaussian_nll_loss(t[0], t[1], exp(t[0]), true); },
      [&](const TensorList& t) { return cross_entropy(t[0] * t[1], labels, w, -100, Reduction::kMean, 0.1); },
      [&](const TensorList& t) { return cross_entropy(t[0], softmax(t[1]), w); },
  };
  for (size_t i = 0; i < functions.size(); ++i) {
    SCOPED_TRACE("function " + std::to_string(i));
    check_two_gradients(functions[i], {x, y}, 1e-5);
  }
}

TEST(Loss, SlopeAtZeroIsRight) {
  Pullback p = vjp(
      [](const TensorList& t) {
        return TensorList{binary_cross_entropy_with_logits(t[0], Tensor({1., 0.}), {}, {}, kSum)};
      },
      {Tensor({0., 0.})});
  expect_near(p.pull({Tensor(1.0)})[0], {-0.5, 0.5});
}

TEST(Loss, NamesWhatDoesNotFit) {
  Tensor x = random_tensor({3, 4}, 1);
  expect_error<ValueError>([] { (void)reduction_from_name("avg"); }, "'reduction' is unknown: got 'avg'");
  expect_error<ValueError>([&] { (void)huber_loss(x, x, 0); }, "huber_loss: 'delta' is too small");
  expect_error<ShapeError>(
      [&] {
        (void)cross_entropy(x, Tensor({1, 2, 3}), Tensor({1., 2.}));
      },
      "cross_entropy: 'weight' does not fit: got shape (2,), need (4,)");
  expect_error<IndexError>([&] { (void)cross_entropy(x, Tensor({1, 4, 3})); }, "got 4 at position 1");
  expect_error<IndexError>(
      [&] {
        (void)nll_loss(x, Tensor({1, -1, 3}));
      },
      "nll_loss: a label is out of range: got -1 at position 1");
  expect_error<ShapeError>([&] { (void)nll_loss(x, Tensor({1, 2})); }, "nll_loss: 'target' does not fit");
}

}  // namespace
}  // namespace sorus
