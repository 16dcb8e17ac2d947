#include "sorus/autograd/grad.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/random/random.h"
#include "sorus/ops/reduce/reduce.h"

namespace sorus {
namespace {

double at(const Tensor& t, int i = 0) { return t.to_vector<double>()[static_cast<size_t>(i)]; }
Tensor vector(std::initializer_list<double> items) {
  return Tensor(items, {static_cast<int64_t>(items.size())});
}

TEST(Grad, OfAPolynomial) {
  Tensor g = grad([](const Tensor& x) { return sum(x * x * x); }, vector({2, -1}));
  EXPECT_DOUBLE_EQ(at(g, 0), 12);
  EXPECT_DOUBLE_EQ(at(g, 1), 3);
}

TEST(Grad, NestsToAnyOrder) {
  auto f = [](const Tensor& x) { return sum(exp(x * 2.0)); };
  auto d1 = [&](const Tensor& x) { return sum(grad(f, x)); };
  auto d2 = [&](const Tensor& x) { return sum(grad(d1, x)); };
  EXPECT_NEAR(at(grad(d2, vector({0.3}))), 8 * std::exp(0.6), 1e-12);
}

TEST(Grad, OfAGradientWithRespectToAnotherVariable) {
  Tensor a = vector({3});
  auto f = [](const Tensor& x, const Tensor& y) { return sum(x * x * y * y); };
  Tensor mixed = grad([&](const Tensor& y) { return sum(grad([&](const Tensor& x) { return f(x, y); }, a)); },
                      vector({5}));
  EXPECT_DOUBLE_EQ(at(mixed), 4 * 3 * 5);
}

TEST(Grad, StopsAtStopGradient) {
  Tensor g = grad([](const Tensor& x) { return sum(stop_gradient(x) * x); }, vector({7}));
  EXPECT_DOUBLE_EQ(at(g), 7);
}

TEST(Grad, WhatNothingFlowsToIsZero) {
  TensorList in{vector({1, 2}), vector({3, 4})};
  constexpr int kBoth[] = {0, 1};
  ValueAndGrad r = value_and_grad([](const TensorList& v) { return TensorList{sum(v[0])}; }, in, kBoth, {});
  EXPECT_DOUBLE_EQ(at(r.inputs[0]), 1);
  EXPECT_DOUBLE_EQ(at(r.inputs[1]), 0);
}

TEST(Grad, WithAuxDifferentiatesTheFirstResultAlone) {
  constexpr int kFirst[] = {0};
  auto f = [](const TensorList& v) { return TensorList{sum(v[0]), v[0] * 100.0}; };
  EXPECT_DOUBLE_EQ(at(value_and_grad(f, {vector({1})}, kFirst, {}, true).inputs[0]), 1);
  EXPECT_DOUBLE_EQ(at(value_and_grad(f, {vector({1})}, kFirst, {}, false).inputs[0]), 101);
}

TEST(Grad, OfParametersThatAreTied) {
  Parameter w(vector({3}), "w");
  Parameter weights[] = {w};
  auto [loss, g] = value_and_grad([&] { return sum(w.value() * w.value()); }, weights);
  EXPECT_DOUBLE_EQ(at(loss), 9);
  EXPECT_DOUBLE_EQ(at(g[0]), 6);
}

TEST(Grad, RefusesIntegers) {
  EXPECT_THROW(static_cast<void>(grad([](const Tensor& x) { return sum(x); }, Tensor({int32_t{1}}, {1}))),
               DTypeError);
}

TEST(Vjp, MayBePulledManyTimes) {
  Pullback p = vjp([](const TensorList& in) { return TensorList{in[0] * in[0]}; }, {vector({2, 3})});
  EXPECT_DOUBLE_EQ(at(p.pull({vector({1, 0})})[0]), 4);
  EXPECT_DOUBLE_EQ(at(p.pull({vector({0, 10})})[0], 1), 60);
}

TEST(Jvp, IsTheDirectionalDerivative) {
  auto f = [](const TensorList& in) { return TensorList{exp(in[0]) * in[1]}; };
  auto [values, tangents] = jvp(f, {vector({0.5}), vector({2})}, {vector({1}), vector({3})});
  EXPECT_NEAR(at(values[0]), 2 * std::exp(0.5), 1e-12);
  EXPECT_NEAR(at(tangents[0]), std::exp(0.5) * (2 + 3), 1e-12);
}

TEST(CustomGradient, IsUsedAndDifferentiatesAgain) {
  auto f = [](const Tensor& x) {
    return custom_gradient([](const TensorList& in) { return TensorList{in[0] * in[0]}; }, {x},
                           [](const TensorList& in, const TensorList&, const TensorList& g) {
                             return TensorList{g[0] * in[0] * 10.0};
                           })[0];
  };
  Tensor g = grad([&](const Tensor& x) { return sum(f(x)); }, vector({3}));
  EXPECT_DOUBLE_EQ(at(g), 30);
  Tensor gg = grad([&](const Tensor& x) { return sum(grad([&](const Tensor& v) { return sum(f(v)); }, x)); },
                   vector({3}));
  EXPECT_DOUBLE_EQ(at(gg), 10);
}

TEST(Recompute, GivesTheGradientsOfTheFunctionAndOfWhatItCaptures) {
  Parameter w(vector({0.7}), "w");
  Parameter weights[] = {w};
  int calls = 0;
  auto block = [&](const TensorList& in) {
    ++calls;
    return TensorList{exp(in[0] * w.value())};
  };
  auto loss = [&](bool again) {
    return [&, again] {
      Tensor x = vector({2}) * w.value();
      return sum(again ? recompute(block, {x})[0] : block({x})[0]);
    };
  };
  auto [plain, g1] = value_and_grad(loss(false), weights);
  EXPECT_EQ(calls, 1);
  auto [saved, g2] = value_and_grad(loss(true), weights);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(at(plain), at(saved));
  EXPECT_EQ(at(g1[0]), at(g2[0]));
}

TEST(Recompute, DrawsTheSameNumbersAgain) {
  const Tensor x = rand({64}, DType::kFloat64);
  auto inner = [](const TensorList& in) {
    return TensorList{dropout(in[0], 0.5) * rand({64}, DType::kFloat64)};
  };
  auto outer = [&](bool again) {
    return [&, again](const TensorList& in) {
      const Tensor y = dropout(in[0] * in[0], 0.3);
      return TensorList{exp(again ? recompute(inner, {y})[0] : inner({y})[0]) + rand({64}, DType::kFloat64)};
    };
  };
  auto run = [&](int depth) {
    set_seed(3);
    const Tensor gradient = grad(
        [&](const Tensor& v) {
          return sum(depth > 0 ? recompute(outer(depth > 1), {v})[0] : outer(false)({v})[0]);
        },
        x);
    return std::pair(gradient.to_vector<double>(), at(rand({1}, DType::kFloat64)));
  };
  EXPECT_EQ(run(1), run(0));
  EXPECT_EQ(run(2), run(0));
}

TEST(Recompute, RefusesToDrawMoreTheSecondTime) {
  int calls = 0;
  auto f = [&](const TensorList& in) { return TensorList{calls++ > 0 ? dropout(in[0], 0.5) : in[0] * 2.0}; };
  EXPECT_THROW((void)grad([&](const Tensor& v) { return sum(recompute(f, {v})[0]); }, vector({1, 2})),
               ValueError);
}

}  // namespace
}  // namespace sorus
