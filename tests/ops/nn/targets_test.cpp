#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/highway.h"
//
#include "sorus/ops/elementwise/activation.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/nn/interpolate.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/norm.h"
#include "sorus/ops/nn/pool.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/reduce/reduce.h"
#include "tests/ops/nn/check.h"

/// The vector kernels of this family have the same bits on every instruction set that this processor has.
namespace sorus {
namespace {

using testing::doubles;
using testing::random_tensor;

/// Results and gradients of all the kernels, one after the other.
template <class T>
std::vector<double> everything() {
  std::vector<double> out;
  auto keep = [&](const std::function<Tensor(const TensorList&)>& f, const TensorList& inputs) {
    Pullback p = vjp([&](const TensorList& t) { return TensorList{f(t)}; }, inputs);
    TensorList gradients = p.pull({random_tensor<T>(p.values[0].shape(), 9)});
    for (const TensorList* list : {&p.values, &gradients})
      for (const Tensor& t : *list)
        for (double v : doubles(t)) out.push_back(v);
  };
  Tensor rows = random_tensor<T>({7, 45}, 1), gamma = random_tensor<T>({45}, 2),
         beta = random_tensor<T>({45}, 3);
  Tensor image = random_tensor<T>({2, 20, 7, 9}, 4), scale = random_tensor<T>({20}, 5);
  Tensor labels({3, 0, 44, 7, 7, 9, 1});
  keep([](const TensorList& t) { return softmax(t[0]); }, {rows});
  keep([](const TensorList& t) { return log_softmax(t[0]); }, {rows});
  keep([](const TensorList& t) { return softmax(t[0], 0); }, {rows});
  keep([](const TensorList& t) { return log_softmax(t[0], 0); }, {rows});
  keep([&](const TensorList& t) { return softmax_cross_entropy(t[0], labels, 7, 0.1); }, {rows});
  keep([](const TensorList& t) { return layer_norm(t[0], {45}, t[1], t[2]); }, {rows, gamma, beta});
  keep([](const TensorList& t) { return rms_norm(t[0], t[1]).y; }, {rows, gamma});
  keep([](const TensorList& t) { return batch_norm_train(t[0], t[1], t[1]).y; }, {image, scale});
  keep([](const TensorList& t) { return group_norm(t[0], 4, t[1], t[1]); }, {image, scale});
  keep([](const TensorList& t) { return max_pool2d(t[0], {2}); }, {image});
  keep([](const TensorList& t) { return max_pool2d(t[0], {3}, {.stride = {2}, .padding = {1}}); }, {image});
  keep([](const TensorList& t) { return avg_pool2d(t[0], {3}, {.stride = {2}, .padding = {1}}); }, {image});
  keep(
      [](const TensorList& t) {
        return interpolate(t[0], Interpolation::kCubic, {.size = {10, 5}});
      },
      {image});
  keep([](const TensorList& t) { return cummax(t[0], 1).values; }, {rows});
  keep([](const TensorList& t) { return cummin(t[0], 0).values; }, {rows});
  keep([](const TensorList& t) { return elu(celu(t[0], 0.7), 0.3) + softplus(t[0], 0.7, 3); }, {rows});
  keep([](const TensorList& t) { return hardswish(t[0]) + silu(t[0]) + gelu_tanh(t[0]); }, {rows});
  keep([](const TensorList& t) { return logaddexp(t[0], t[1]) + logaddexp2(t[0], t[1]); }, {rows, beta});
  keep([](const TensorList& t) { return lerp(t[0], t[1], t[0]) + xlogy(t[0], exp(t[1])); }, {rows, beta});
  keep(
      [](const TensorList& t) {
        return addcmul(t[0], t[0], t[1], 0.7) + addcdiv(t[0], t[1], exp(t[0]), 0.7);
      },
      {rows, beta});
  return out;
}

template <class T>
void expect_equal_targets() {
  std::vector<double> want = everything<T>();
  ASSERT_FALSE(want.empty());
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    EXPECT_EQ(everything<T>(), want) << hwy::TargetName(target);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(Targets, GiveEqualBitsInFloat64) { expect_equal_targets<double>(); }
TEST(Targets, GiveEqualBitsInFloat32) { expect_equal_targets<float>(); }
TEST(Targets, GiveEqualBitsInBFloat16) { expect_equal_targets<BFloat16>(); }

}  // namespace
}  // namespace sorus
