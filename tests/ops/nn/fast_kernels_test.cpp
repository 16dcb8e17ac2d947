#include <limits>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/ops/nn/conv.h"
#include "sorus/ops/nn/interpolate.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/norm.h"
#include "sorus/ops/nn/pool.h"
#include "sorus/ops/nn/softmax.h"
#include "tests/ops/nn/check.h"

/// The fast kernels against the reference ones, and with one thread against two, forward and backward.
namespace sorus {
namespace {

using testing::doubles;
using testing::expect_near;
using testing::random_tensor;

using Function = std::function<TensorList(const TensorList&)>;

/// Results of f and, for results that are floating, gradients of the operands that are.
TensorList forward_and_backward(const Function& f, const TensorList& inputs) {
  Pullback p = vjp(f, inputs);
  TensorList cotangents;
  uint64_t seed = 100;
  for (const Tensor& v : p.values)
    cotangents.push_back(v.dtype() == DType::kFloat32    ? random_tensor<float>(v.shape(), seed++)
                         : v.dtype() == DType::kFloat64  ? random_tensor<double>(v.shape(), seed++)
                         : v.dtype() == DType::kBFloat16 ? random_tensor<BFloat16>(v.shape(), seed++)
                                                         : random_tensor<Float16>(v.shape(), seed++));
  TensorList out = p.values;
  for (const Tensor& g : p.pull(cotangents)) out.push_back(g);
  return out;
}

void check(const Function& f, const TensorList& inputs, double tolerance) {
  TensorList fast = forward_and_backward(f, inputs);
  reference_kernels_only() = true;
  TensorList slow = forward_and_backward(f, inputs);
  reference_kernels_only() = false;
  int threads = num_threads();
  set_num_threads(threads == 1 ? 2 : 1);
  TensorList other = forward_and_backward(f, inputs);
  set_num_threads(threads);
  ASSERT_EQ(fast.size(), slow.size());
  for (size_t i = 0; i < fast.size(); ++i) {
    SCOPED_TRACE("result " + std::to_string(i));
    if (!fast[i].defined() || !is_floating(fast[i].dtype())) continue;
    expect_near(fast[i], doubles(slow[i]), tolerance);
    EXPECT_EQ(doubles(fast[i]), doubles(other[i])) << "one thread and two";
  }
}

/// The check for operands of those shapes in every floating dtype.
void check_dtypes(const Function& f, const std::vector<Shape>& shapes) {
  TensorList twice, single, brain, half;
  for (size_t i = 0; i < shapes.size(); ++i) {
    twice.push_back(random_tensor<double>(shapes[i], i + 1));
    single.push_back(random_tensor<float>(shapes[i], i + 1));
    brain.push_back(random_tensor<BFloat16>(shapes[i], i + 1));
    half.push_back(random_tensor<Float16>(shapes[i], i + 1));
  }
  check(f, twice, 1e-13);
  check(f, single, 2e-5);
  check(f, brain, 0.02);
  check(f, half, 0.003);
}

TEST(FastKernels, ComeBeforeTheReference) {
  for (const char* op :
       {"conv", "conv_backward_input", "conv_backward_weight", "softmax", "log_softmax",
        "softmax_cross_entropy", "layer_norm", "rms_norm", "batch_norm", "max_pool", "avg_pool"}) {
    const OpDef* def = find_op(op);
    ASSERT_NE(def, nullptr) << op;
    EXPECT_GE(kernels_of(*def, Device{}).size(), 2U) << op;
  }
}

TEST(FastKernels, SoftmaxOfShortAndLongRows) {
  for (int64_t n : {1, 5, 16, 31, 1000}) {
    check_dtypes([](const TensorList& t) { return TensorList{softmax(t[0])}; }, {{40, n}});
    check_dtypes([](const TensorList& t) { return TensorList{log_softmax(t[0])}; }, {{40, n}});
  }
}

TEST(FastKernels, SoftmaxAlongOuterAxes) {
  for (int64_t axis : {0, 1}) {
    check_dtypes([axis](const TensorList& t) { return TensorList{softmax(t[0], axis)}; }, {{7, 9, 37}});
    check_dtypes([axis](const TensorList& t) { return TensorList{log_softmax(t[0], axis)}; }, {{7, 9, 37}});
  }
}

TEST(FastKernels, CrossEntropy) {
  for (double smoothing : {0.0, 0.1}) {
    std::vector<int32_t> items;
    for (int i = 0; i < 40; ++i) items.push_back(i % 7 == 0 ? -100 : i % 10);
    Tensor labels(std::span<const int32_t>(items), {40});
    auto f = [&](const TensorList& t) {
      return TensorList{softmax_cross_entropy(t[0], labels, -100, smoothing)};
    };
    check_dtypes(f, {{40, 10}});
    check_dtypes(f, {{40, 37}});
  }
}

TEST(FastKernels, Norms) {
  for (int64_t n : {3, 16, 70, 768}) {
    check_dtypes(
        [&](const TensorList& t) {
          NormResult r = layer_norm_with_statistics(t[0], 1, t[1], t[2]);
          return TensorList{r.y};
        },
        {{67, n}, {n}, {n}});
    check_dtypes([](const TensorList& t) { return TensorList{rms_norm(t[0], t[1]).y}; }, {{67, n}, {n}});
    check_dtypes([&](const TensorList& t) { return TensorList{batch_norm_train(t[0], t[1], t[2]).y}; },
                 {{5, n, 7, 6}, {n}, {n}});
  }
  check_dtypes([](const TensorList& t) { return TensorList{batch_norm_train(t[0]).y}; }, {{3, 20, 50}});
  check_dtypes([](const TensorList& t) { return TensorList{layer_norm(t[0], {5, 6})}; }, {{3, 5, 6}});
  check_dtypes([](const TensorList& t) { return TensorList{group_norm(t[0], 3, t[1], t[2])}; },
               {{3, 6, 5, 7}, {6}, {6}});
  check_dtypes([](const TensorList& t) { return TensorList{group_norm(t[0], 1, t[1], t[2])}; },
               {{2, 4, 70, 50}, {4}, {4}});
  check_dtypes([](const TensorList& t) { return TensorList{instance_norm(t[0])}; }, {{3, 6, 20}});
}

TEST(FastKernels, Pools) {
  for (int64_t channels : {1, 6, 16, 70}) {
    for (const PoolOptions& o : {PoolOptions{}, PoolOptions{.stride = {1}, .padding = {1}, .ceil_mode = true},
                                 PoolOptions{.stride = {3}, .padding = {0, 1, 1, 0}}}) {
      check_dtypes([&](const TensorList& t) { return TensorList{max_pool2d(t[0], {2}, o)}; },
                   {{3, channels, 9, 8}});
      check_dtypes(
          [&](const TensorList& t) {
            return TensorList{avg_pool2d(t[0], {2, 3}, o)};
          },
          {{3, channels, 9, 8}});
    }
    check_dtypes([](const TensorList& t) { return TensorList{max_pool1d(t[0], {3}, {.dilation = {2}})}; },
                 {{2, channels, 11}});
    check_dtypes([](const TensorList& t) { return TensorList{avg_pool3d(t[0], {2})}; },
                 {{2, channels, 4, 4, 5}});
    check_dtypes(
        [](const TensorList& t) {
          return TensorList{adaptive_avg_pool(t[0], {3, 2})};
        },
        {{2, channels, 7, 5}});
  }
}

TEST(FastKernels, Interpolation) {
  for (int64_t channels : {1, 6, 20, 70})
    for (Interpolation mode : {Interpolation::kNearest, Interpolation::kLinear, Interpolation::kCubic}) {
      check_dtypes(
          [&](const TensorList& t) {
            return TensorList{interpolate(t[0], mode, {.size = {9, 5}})};
          },
          {{2, channels, 4, 7}});
      check_dtypes(
          [&](const TensorList& t) {
            return TensorList{interpolate(t[0], mode, {.size = {1, 3}})};
          },
          {{2, channels, 5, 1}});
    }
  check_dtypes(
      [](const TensorList& t) {
        return TensorList{interpolate(t[0], Interpolation::kLinear, {.size = {5, 3, 4}})};
      },
      {{1, 3, 3, 4, 2}});
}

/// Values with many ties and a NaN, as after relu: the gradient goes to the first of them.
TEST(FastKernels, MaxPoolAgreesOnTies) {
  for (int64_t channels : {1, 6, 20, 32}) {
    Shape shape{2, channels, 7, 9};
    std::vector<float> items;
    for (double v : testing::numbers(shape.numel(), 3))
      items.push_back(std::max(0.F, std::round(2 * float(v))));
    items[5] = std::numeric_limits<float>::quiet_NaN();
    Tensor x(std::span<const float>(items), shape);
    Pullback p = vjp([](const TensorList& t) { return TensorList{max_pool2d(t[0], {2})}; }, {x});
    Tensor g = random_tensor<float>(p.values[0].shape(), 4);
    std::vector<float> fast = p.pull({g})[0].to_vector<float>();
    reference_kernels_only() = true;
    std::vector<float> slow = p.pull({g})[0].to_vector<float>();
    reference_kernels_only() = false;
    EXPECT_EQ(fast, slow) << channels << " channels";
  }
}

TEST(FastKernels, MaxPoolHasTheBitsOfTheReference) {
  Tensor x = random_tensor<float>({2, 6, 9, 8}, 1);
  Tensor fast = max_pool2d(x, {3}, {.stride = {2}, .padding = {1}});
  reference_kernels_only() = true;
  Tensor slow = max_pool2d(x, {3}, {.stride = {2}, .padding = {1}});
  reference_kernels_only() = false;
  EXPECT_EQ(fast.to_vector<float>(), slow.to_vector<float>());
}

}  // namespace
}  // namespace sorus
