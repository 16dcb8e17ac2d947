#include "sorus/ops/random/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sorus/core/philox.h"
#include "tests/ops/harness/sample.h"

namespace sorus::samples {
namespace {

constexpr uint64_t kSeed = 0x9e3779b97f4a7c15U;
constexpr uint64_t kOffset = 0xfffffffeU;  // the block number passes 32 bits within a few numbers

Input key_input() { return {items({static_cast<Real>(kSeed), static_cast<Real>(kOffset)}), DType::kUInt64}; }

/// Word i of the stream: four a block.
uint32_t word(int64_t i) {
  return philox(kSeed, kOffset + static_cast<uint64_t>(i / 4))[static_cast<size_t>(i % 4)];
}

OP_SAMPLES(dropout) {
  SampleList list;
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 5, 7}, Shape{129, 401}, Shape{0, 3}})
    for (double p : {0.0, 0.3}) {
      list.push_back({.name = shape.text() + " with " + std::to_string(p),
                      .inputs = {samples::randn(shape, 1), key_input()},
                      .call = [p](const TensorList& in) { return TensorList{dropout(in[0], p, in[1])}; },
                      .reference =
                          [p](const std::vector<HostArray>& in) {
                            HostArray y = in[0];
                            for (size_t i = 0; i < y.values.size(); ++i) {
                              const bool is_kept =
                                  word(static_cast<int64_t>(i)) >= static_cast<uint64_t>(p * 0x1p32);
                              y.values[i] = is_kept ? y.values[i] / (1 - static_cast<Real>(p)) : 0;
                            }
                            return std::vector{y};
                          },
                      .gradient = shape.numel() < 200});
    }
  return list;
}
OP_ERRORS(dropout) {
  return {
      {"probability", [] { (void)dropout(Tensor(1.0F), 1); }, ErrorKind::kValue, "got 1, need 0 <= p < 1"}};
}

OP_SAMPLES(random_uniform) {
  return {{.name = "words to numbers",
           .inputs = {key_input()},
           .call =
               [](const TensorList& in) {
                 return TensorList{random_uniform(in[0], {5, 7})};
               },
           .reference =
               [](const std::vector<HostArray>&) {
                 HostArray u = full({5, 7}, 0);
                 for (int64_t i = 0; i < 35; ++i)
                   u.values[static_cast<size_t>(i)] = static_cast<Real>(word(i) >> 8) * 0x1p-24L;
                 return std::vector{u};
               },
           .dtypes = {DType::kUInt64},
           .ulp = 0},
          {.name = "large, each dtype",
           .inputs = {key_input()},
           .call =
               [](const TensorList& in) {
                 TensorList out;
                 for (DType t : floats()) out.push_back(random_uniform(in[0], {50001}, t));
                 return out;
               },
           .dtypes = {DType::kUInt64}}};
}

OP_SAMPLES(random_normal) {
  return {{.name = "large, each dtype",
           .inputs = {key_input()},
           .call =
               [](const TensorList& in) {
                 TensorList out;
                 for (DType t : floats()) out.push_back(random_normal(in[0], {50001}, t));
                 return out;
               },
           .dtypes = {DType::kUInt64}}};
}

OP_SAMPLES(random_gamma) {
  HostArray special = items({0, -1, NAN, INFINITY});
  return {{.name = "large",
           .inputs = {key_input(), uniform({70, 91}, 0.05L, 9)},
           .call = [](const TensorList& in) { return TensorList{random_gamma(in[0], in[1])}; },
           .gradient = false},
          {.name = "special shapes",
           .inputs = {key_input(), special},
           .call = [](const TensorList& in) { return TensorList{random_gamma(in[0], in[1])}; },
           .reference =
               [](const std::vector<HostArray>&) {
                 return std::vector{items({0, NAN, NAN, INFINITY})};
               },
           .gradient = false}};
}
OP_ERRORS(random_gamma) {
  return {{"dtype",
           [] {
             Generator generator(1);
             (void)random_gamma(generator.key(1), to_tensor(items({1}), DType::kInt32));
           },
           ErrorKind::kDType, "got int32"}};
}

OP_SAMPLES(cumulative_weights) {
  SampleList list;
  for (const Shape& shape : {Shape{5}, Shape{3, 7}, Shape{0, 4}})
    list.push_back({.name = shape.text(),
                    .inputs = {{uniform(shape, 0, 9), DType::kFloat64}},
                    .call = [](const TensorList& in) { return TensorList{cumulative_weights(in[0])}; },
                    .reference =
                        [shape](const std::vector<HostArray>& in) {
                          HostArray y = in[0];
                          const auto classes = static_cast<size_t>(shape.size(shape.rank() - 1));
                          for (size_t i = 0; i < y.values.size(); ++i)
                            if (i % classes != 0) y.values[i] += y.values[i - 1];
                          return std::vector{y};
                        },
                    .ulp = 8,
                    .gradient = false});
  return list;
}
OP_ERRORS(cumulative_weights) {
  const auto of = [](std::initializer_list<Real> weights) {
    return [x = items(weights)] { (void)cumulative_weights(to_tensor(x, DType::kFloat64)); };
  };
  return {{"negative", of({2, -1}), ErrorKind::kValue, "got a least of -1 and a sum of 1 in row 0"},
          {"zeros", of({0, 0}), ErrorKind::kValue, "a sum of 0 in row 0, need finite ones of 0 or more"},
          {"not a number", of({1, NAN}), ErrorKind::kValue, "got a least of nan"},
          {"infinite", of({1, INFINITY}), ErrorKind::kValue, "a sum of inf"},
          {"axes", [] { (void)cumulative_weights(Tensor(1.0)); }, ErrorKind::kShape, "need 1 or 2 axes"}};
}

TEST(Philox, GivesTheKnownAnswer) {
  // Of the vectors published with the paper's code, the one that a 64-bit block number can state.
  EXPECT_EQ(philox(0, 0), (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

/// Mean, and mean of powers of the distance from it.
struct Moments {
  double mean = 0, second = 0, third = 0, fourth = 0;
};
Moments moments(const Tensor& t) {
  const HostArray a = to_host(t);
  Moments m;
  for (Real v : a.values) m.mean += static_cast<double>(v);
  const auto n = static_cast<double>(a.values.size());
  m.mean /= n;
  for (Real v : a.values) {
    const double d = static_cast<double>(v) - m.mean;
    m.second += d * d / n;
    m.third += d * d * d / n;
    m.fourth += d * d * d * d / n;
  }
  return m;
}

TEST(Random, NumbersHaveTheMomentsOfTheirDistributions) {
  Generator generator(7);
  for (DType t : wide_floats()) {
    const Moments u = moments(rand({200000}, t, generator));
    EXPECT_NEAR(u.mean, 0.5, 0.004);
    EXPECT_NEAR(u.second, 1.0 / 12, 0.001);
    const Moments z = moments(randn({200000}, t, generator));
    EXPECT_NEAR(z.mean, 0, 0.012);
    EXPECT_NEAR(z.second, 1, 0.02);
    EXPECT_NEAR(z.third, 0, 0.05);
    EXPECT_NEAR(z.fourth, 3, 0.15);
  }
}

TEST(Random, IntegersFillTheirRangeEvenly) {
  Generator generator(11);
  std::array<int, 7> counts{};
  for (int64_t v : random_integers(-3, 4, {70000}, DType::kInt64, generator).to_vector<int64_t>())
    ++counts.at(static_cast<size_t>(v + 3));
  for (int n : counts) EXPECT_NEAR(n, 10000, 400);
  EXPECT_THROW((void)random_integers(3, 3, {2}), ValueError);
}

TEST(Random, PermutationsHoldEveryNumberOnce) {
  Generator generator(5);
  auto order = random_permutation(1000, DType::kInt32, generator).to_vector<int32_t>();
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  for (int32_t i = 0; i < 1000; ++i) ASSERT_EQ(order[static_cast<size_t>(i)], i);
}

TEST(Random, GammaNumbersHaveTheirMoments) {
  Generator generator(5);
  for (double alpha : {0.2, 1.0, 7.5}) {
    const Tensor shape = Tensor(static_cast<float>(alpha));
    const Moments m = moments(gamma_distribution({200000}, shape, Tensor(2.0F), generator));
    EXPECT_NEAR(m.mean, alpha / 2, 0.02);
    EXPECT_NEAR(m.second, alpha / 4, 0.06 * alpha / 4 + 0.01);
    // The third moment about the mean is 2 alpha / beta^3.
    EXPECT_NEAR(m.third, alpha / 4, 0.2 * alpha / 4 + 0.02);
  }
  EXPECT_EQ(gamma_distribution({4, 1}, Tensor({1.0F, 2.0F}, Shape{2}), Tensor(1.0F), generator).shape(),
            (Shape{4, 2}));
}

TEST(Random, BernoulliFollowsEachProbability) {
  Generator generator(5);
  Tensor p = to_tensor(full({100000}, 0.3L), DType::kFloat32);
  EXPECT_NEAR(moments(bernoulli(p, generator)).mean, 0.3, 0.006);
  EXPECT_EQ(moments(bernoulli(to_tensor(full({100}, 1), DType::kFloat16), generator)).mean, 1);
}

TEST(Random, TruncatedNormalKeepsItsBounds) {
  Generator generator(5);
  Tensor t = truncated_normal({100000}, -1, 2, DType::kFloat32, generator);
  for (float v : t.to_vector<float>()) ASSERT_TRUE(v >= -1 && v <= 2) << v;
  // (phi(-1) - phi(2)) / (Phi(2) - Phi(-1))
  EXPECT_NEAR(moments(t).mean, 0.22964, 0.01);
}

TEST(Random, StreamsGoOnAndStartAgain) {
  Generator a(3);
  Generator b(3);
  const auto first = rand({10}, DType::kFloat32, a).to_vector<float>();
  EXPECT_EQ(rand({10}, DType::kFloat32, b).to_vector<float>(), first);
  EXPECT_NE(rand({10}, DType::kFloat32, a).to_vector<float>(), first);
  const Generator::State state = a.state();
  const auto next = rand({10}, DType::kFloat32, a).to_vector<float>();
  a.set_state(state);
  EXPECT_EQ(rand({10}, DType::kFloat32, a).to_vector<float>(), next);
}

}  // namespace
}  // namespace sorus::samples
