#include <gtest/gtest.h>

#include <cstring>

#include "sorus/autograd/grad.h"
#include "sorus/base/thread_pool.h"
#include "sorus/compiler/boundary.h"
#include "sorus/core/generator.h"
#include "sorus/nn/layers.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/random/random.h"
#include "sorus/optim/optimizers.h"

namespace sorus {
namespace {

struct LeNet5 : nn::Cell {
  nn::Conv2d conv1{{this, "conv1"}, 1, 6, {5}, {.pad_mode = nn::PadMode::kValid}};
  nn::Conv2d conv2{{this, "conv2"}, 6, 16, {5}, {.pad_mode = nn::PadMode::kValid}};
  nn::MaxPool2d pool{{this, "pool"}, {2}, {.stride = {2}}};
  nn::Flatten flatten{{this, "flatten"}};
  nn::Dense fc1{{this, "fc1"}, 16 * 5 * 5, 120};
  nn::Dense fc2{{this, "fc2"}, 120, 84};
  nn::Dropout dropout{{this, "dropout"}, 0.1};
  nn::Dense fc3{{this, "fc3"}, 84, 10};

  using nn::Cell::construct;
  Tensor construct(const Tensor& x) override {
    Tensor h = pool(relu(conv1(x)));
    h = flatten(pool(relu(conv2(h))));
    return fc3(dropout(relu(fc2(relu(fc1(h))))));
  }
};

struct Trained {
  std::vector<float> bits;
  std::vector<std::string> names;
};

/// A few steps on random images; the losses and the weights afterwards.
Trained train(bool graph, int threads, int steps = 6) {
  set_num_threads(threads);
  set_seed(7);
  boundaries_enabled() = graph;
  LeNet5 net;
  net.set_train();
  nn::SoftmaxCrossEntropyWithLogits loss_fn;
  optim::Momentum optimizer(net.trainable_params(), optim::exponential_decay(0.01, 0.9, 1), 0.9);
  std::vector<Parameter> weights = optimizer.parameters();
  uint64_t id = new_boundary_id();
  Trained result;
  for (int i = 0; i < steps; ++i) {
    Tensor x = randn({8, 1, 32, 32});
    Tensor y({int32_t{0}, int32_t{1}, int32_t{2}, int32_t{3}, int32_t{4}, int32_t{5}, int32_t{6}, int32_t{7}},
             {8});
    Tensor loss;
    run_boundary(id, [&] {
      auto [value, gradients] = value_and_grad([&] { return loss_fn(TensorList{net(x), y})[0]; }, weights);
      optimizer(gradients);
      loss = value;
    });
    result.bits.push_back(loss.item<float>());
  }
  for (const Parameter& p : net.parameters()) {
    result.names.push_back(p.name());
    for (float v : p.value().to_vector<float>()) result.bits.push_back(v);
  }
  boundaries_enabled() = true;
  set_num_threads(2);
  return result;
}

bool same(const Trained& a, const Trained& b) {
  return a.bits.size() == b.bits.size() &&
         std::memcmp(a.bits.data(), b.bits.data(), a.bits.size() * sizeof(float)) == 0;
}

TEST(LeNet, ParametersHaveTheFieldsNames) {
  LeNet5 net;
  std::vector<std::string> names;
  for (const Parameter& p : net.parameters()) names.push_back(p.name());
  EXPECT_EQ(names, (std::vector<std::string>{"conv1.weight", "conv2.weight", "fc1.weight", "fc1.bias",
                                             "fc2.weight", "fc2.bias", "fc3.weight", "fc3.bias"}));
}

TEST(LeNet, EagerAndGraphTrainingHaveEqualBits) {
  Trained eager = train(false, 2);
  follow_stats() = {};
  Trained graph = train(true, 2);
  EXPECT_TRUE(same(eager, graph));
  EXPECT_EQ(follow_stats().mismatches, 0);
  EXPECT_EQ(follow_stats().runs, 5);
  EXPECT_NE(eager.bits[0], eager.bits[1]);
}

TEST(LeNet, OneAndTwoThreadsHaveEqualBits) { EXPECT_TRUE(same(train(true, 1), train(true, 2))); }

TEST(LeNet, RunsTwiceTheSame) { EXPECT_TRUE(same(train(true, 2), train(true, 2))); }

}  // namespace
}  // namespace sorus
