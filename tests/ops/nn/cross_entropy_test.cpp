#include "sorus/base/error.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/embedding.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/softmax.h"
#include "tests/ops/nn/check.h"

namespace sorus {
namespace {

using testing::doubles;
using testing::expect_error;
using testing::expect_near;
using testing::random_tensor;

constexpr Reduction kNone = Reduction::kNone;
constexpr Reduction kSum = Reduction::kSum;

TEST(CrossEntropy, WeighsClassesAndSkipsIgnoredRows) {
  Tensor x = random_tensor({3, 4}, 1), w({1., 2., 0.5, 3.}), labels({1, -100, 3});
  std::vector<double> log = doubles(log_softmax(x));
  expect_near(cross_entropy(x, labels, {}, -100, kNone), {-log[1], 0, -log[11]});
  expect_near(cross_entropy(x, labels), {-(log[1] + log[11]) / 2});
  expect_near(cross_entropy(x, labels, w), {-(2 * log[1] + 3 * log[11]) / 5});
  expect_near(nll_loss(log_softmax(x), labels, w, -100, kSum), {-(2 * log[1] + 3 * log[11])});
  expect_near(nll_loss(log_softmax(x), Tensor({1, 0, 3}), {}, 3, kNone), {-log[1], -log[4], 0});
  Tensor ones({1., 1., 1., 1.});
  expect_near(cross_entropy(x, labels, ones, -100, kNone, 0.3),
              doubles(cross_entropy(x, labels, {}, -100, kNone, 0.3)));
}

TEST(CrossEntropy, TakesProbabilitiesAndSpatialAxes) {
  Tensor x = random_tensor({2, 3, 4}, 1), labels({0, 1, 2, 0, 2, 2, 1, 0}, {2, 4});
  std::vector<double> log = doubles(log_softmax(x, 1)), need, hot(24);
  for (size_t n = 0; n < 2; ++n)
    for (size_t d = 0; d < 4; ++d) {
      size_t label = static_cast<size_t>(labels.to_vector<int32_t>()[n * 4 + d]);
      need.push_back(-log[(n * 3 + label) * 4 + d]);
      hot[(n * 3 + label) * 4 + d] = 1;
    }
  Tensor probabilities(std::span<const double>(hot), {2, 3, 4});
  expect_near(cross_entropy(x, labels, {}, -100, kNone), need);
  expect_near(cross_entropy(x, probabilities, {}, -100, kNone), need);
  expect_near(cross_entropy(x, probabilities, {}, -100, kNone, 0.1),
              doubles(cross_entropy(x, labels, {}, -100, kNone, 0.1)));
  expect_near(softmax_cross_entropy_with_logits(Tensor({1., 2.}, {1, 2}), Tensor({0.5, 0.5}, {1, 2})),
              {std::log(std::exp(1) + std::exp(2)) - 1.5});
}

TEST(Embedding, TakesRowsAndFreezesThePaddingRow) {
  Tensor table = random_tensor({4, 2}, 1), ids({1, 3, 1}, {3});
  std::vector<double> t = doubles(table);
  expect_near(embedding(ids, table), {t[2], t[3], t[6], t[7], t[2], t[3]});
  Pullback p = vjp([&](const TensorList& in) { return TensorList{embedding(ids, in[0], -1)}; }, {table});
  expect_near(p.pull({Tensor({1., 2., 3., 4., 5., 6.}, {3, 2})})[0], {0, 0, 6, 8, 0, 0, 0, 0});
  expect_error<IndexError>([&] { (void)embedding(Tensor({4}), table); }, "4");
}

}  // namespace
}  // namespace sorus
