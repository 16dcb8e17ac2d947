#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/conv.h"
#include "sorus/ops/nn/linear.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/pool.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/nn/check.h"

/// LeNet-5 from public functions alone: its parts work together and learn.
namespace sorus {
namespace {

using testing::random_tensor;

constexpr int64_t kBatch = 8;

Tensor lenet(const Tensor& image, const TensorList& w) {
  Tensor h = max_pool2d(relu(conv2d(image, w[0], w[1])), {2});
  h = max_pool2d(relu(conv2d(h, w[2], w[3])), {2});
  h = reshape(h, {kBatch, 400});
  h = relu(linear(h, w[4], w[5]));
  h = relu(linear(h, w[6], w[7]));
  return linear(h, w[8], w[9]);
}

TensorList initial_weights() {
  const Shape shapes[] = {{6, 1, 5, 5}, {6},       {16, 6, 5, 5}, {16},     {120, 400},
                          {120},        {84, 120}, {84},          {10, 84}, {10}};
  TensorList w;
  for (uint64_t i = 0; const Shape& s : shapes) {
    double fan_in = s.rank() == 1 ? 100 : static_cast<double>(s.numel()) / static_cast<double>(s.size(0));
    w.push_back(random_tensor<float>(s, i++) * std::sqrt(3 / fan_in));
  }
  return w;
}

TEST(LeNet, LearnsABatchByHeart) {
  Tensor image = random_tensor<float>({kBatch, 1, 32, 32}, 100);
  Tensor labels({0, 1, 2, 3, 4, 5, 6, 7});
  TensorFunction loss = [&](const TensorList& w) {
    return TensorList{cross_entropy(lenet(image, w), labels, {}, -100, Reduction::kSum)};
  };
  TensorList w = initial_weights();
  std::vector<int> positions{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  float first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    ValueAndGrad r = value_and_grad(loss, w, positions, {});
    last = r.values[0].item<float>() / kBatch;
    if (step == 0) first = last;
    for (size_t i = 0; i < w.size(); ++i) {
      ASSERT_EQ(r.inputs[i].shape(), w[i].shape());
      w[i] = w[i] - r.inputs[i] * 0.01;
    }
  }
  EXPECT_NEAR(first, std::log(10.0), 0.5);
  EXPECT_LT(last, first / 4);
}

}  // namespace
}  // namespace sorus
