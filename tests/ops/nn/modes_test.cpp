#include <cstring>

#include "sorus/compiler/boundary.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/attention.h"
#include "sorus/ops/nn/conv.h"
#include "sorus/ops/nn/interpolate.h"
#include "sorus/ops/nn/linear.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/norm.h"
#include "sorus/ops/nn/pool.h"
#include "sorus/ops/nn/recurrent.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/nn/check.h"

/// Networks of the neural-network ops, forward and backward, have the bits of eager mode when they are
/// followed and compiled.
namespace sorus {
namespace {

using testing::random_tensor;
using Network = std::function<Tensor(const TensorList&)>;

std::vector<std::byte> bytes_of(const TensorList& list) {
  std::vector<std::byte> all;
  for (const Tensor& t : list) {
    std::vector<std::byte> one(static_cast<size_t>(t.numel()) * dtype_size(t.dtype()));
    t.copy_to(one.data(), t.dtype());
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// The loss of the network and its gradients, four times over, each time with other weights.
std::vector<std::byte> train(const Network& network, TensorList weights, uint64_t boundary) {
  std::vector<int> positions;
  for (size_t i = 0; i < weights.size(); ++i) positions.push_back(static_cast<int>(i));
  TensorList seen;
  for (int step = 0; step < 4; ++step) {
    TensorList results;
    auto body = [&] {
      ValueAndGrad r = value_and_grad([&](const TensorList& w) { return TensorList{sum(network(w))}; },
                                      weights, positions, {});
      results = r.inputs;
      results.push_back(r.values[0]);
      for (size_t i = 0; i < weights.size(); ++i) weights[i] = weights[i] - r.inputs[i] * 0.01;
    };
    run_boundary(
        boundary, [](void* context) { (*static_cast<decltype(body)*>(context))(); }, &body);
    for (const Tensor& t : results) seen.push_back(t);
  }
  return bytes_of(seen);
}

void check_modes(const Network& network, const TensorList& weights) {
  uint64_t boundary = new_boundary_id();
  boundaries_enabled() = false;
  std::vector<std::byte> eager = train(network, weights, boundary);
  boundaries_enabled() = true;
  follow_stats() = {};
  std::vector<std::byte> graph = train(network, weights, boundary);
  EXPECT_EQ(eager, graph);
  EXPECT_GE(follow_stats().runs, 2);
}

template <class T>
void check_convolutional() {
  Tensor image = random_tensor<T>({4, 3, 17, 16}, 50);
  check_modes(
      [&](const TensorList& w) {
        Tensor h = conv2d(image, w[0], w[1], {.stride = {2}, .padding = {1}});
        h = relu(batch_norm_train(h, w[2], w[3]).y);
        h = max_pool2d(h, {3}, {.stride = {2}, .padding = {1}});
        h = conv2d(h, w[4], {}, {.padding = {1}, .groups = 2});
        h = avg_pool2d(relu(group_norm(h, 2)), {2});
        h = interpolate(conv_transpose(h, w[4], {}, {.groups = 2}), Interpolation::kLinear, {.size = {5, 5}});
        return cross_entropy(linear(flatten(adaptive_avg_pool(h, {1, 1}), 1), w[5]), Tensor({1, 0, 2, 3}));
      },
      {random_tensor<T>({8, 3, 3, 3}, 1), random_tensor<T>({8}, 2), random_tensor<T>({8}, 3),
       random_tensor<T>({8}, 4), random_tensor<T>({8, 4, 3, 3}, 5), random_tensor<T>({5, 8}, 6)});
}
TEST(Modes, ConvolutionalNetworkInFloat32) { check_convolutional<float>(); }
TEST(Modes, ConvolutionalNetworkInBFloat16) { check_convolutional<BFloat16>(); }

TEST(Modes, AttentionAndNorms) {
  Tensor x = random_tensor<float>({2, 3, 10, 16}, 50);
  check_modes(
      [&](const TensorList& w) {
        Tensor h = layer_norm(linear(x, w[0]), {16}, w[1], w[2]);
        h = scaled_dot_product_attention(h, h * 2, h, {.causal = true});
        return softmax_cross_entropy_with_logits(rms_norm(h, w[1]).y, softmax(h));
      },
      {random_tensor<float>({16, 16}, 1), random_tensor<float>({16}, 2), random_tensor<float>({16}, 3)});
}

TEST(Modes, RecurrentLayers) {
  Tensor x = random_tensor<float>({5, 3, 4}, 50), h = random_tensor<float>({2, 3, 6}, 51);
  check_modes(
      [&](const TensorList& w) {
        std::vector<RecurrentWeights> layers{{w[0], w[1], w[2], w[2]}, {w[0], w[1], w[2], w[2]}};
        return recurrent(x, {h, h}, layers, {.kind = RecurrentKind::kLstm, .bidirectional = true}).y;
      },
      {random_tensor<float>({24, 4}, 1), random_tensor<float>({24, 6}, 2), random_tensor<float>({24}, 3)});
}

/// Pieces of samples, packed weights, and samples of different lengths.
TEST(Modes, RecurrentLayersOfManySamples) {
  Tensor x = random_tensor<float>({34, 9, 8}, 50), h = random_tensor<float>({2, 34, 16}, 51);
  std::vector<int> lengths;
  for (int i = 0; i < 34; ++i) lengths.push_back(i % 10);
  const Tensor steps(std::span<const int>(lengths), {34});
  check_modes(
      [&](const TensorList& w) {
        std::vector<RecurrentWeights> layers{{w[0], w[1], w[2], w[3]}, {w[0], w[1], w[3], w[2]}};
        const RecurrentOptions options{
            .kind = RecurrentKind::kGru, .bidirectional = true, .batch_first = true, .lengths = steps};
        const RecurrentResult r = recurrent(x, {h, {}}, layers, options);
        return concat(std::vector<Tensor>{flatten(r.y), flatten(r.h)}, 0);
      },
      {random_tensor<float>({48, 8}, 1), random_tensor<float>({48, 16}, 2), random_tensor<float>({48}, 3),
       random_tensor<float>({48}, 4)});
}

}  // namespace
}  // namespace sorus
