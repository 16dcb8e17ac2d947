#include "sorus/compiler/replay.h"

#include <gtest/gtest.h>

#include "sorus/autograd/grad.h"
#include "sorus/core/generator.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/random/random.h"
#include "sorus/ops/reduce/reduce.h"

namespace sorus {
namespace {

Tensor vector(std::initializer_list<float> items) {
  return Tensor(items, {static_cast<int64_t>(items.size())});
}

TEST(PureFunction, RunsTheFunctionOnceForASignature) {
  int calls = 0;
  PureFunction f([&](const TensorList& in) {
    ++calls;
    return TensorList{in[0] * in[0] + in[1]};
  });
  for (float x = 1; x < 5; ++x) EXPECT_EQ(f({vector({x}), vector({2})})[0].item<float>(), x * x + 2);
  EXPECT_EQ(calls, 1);
  static_cast<void>(f({vector({1, 2}), vector({2, 3})}));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(f.program_count(), 2U);
}

TEST(PureFunction, UpdatesParametersInPlace) {
  Parameter w(vector({8, 4}), "w");
  auto step = jit_pure([&](const TensorList&) {
    w.set_value(w.value() * 0.5);
    return TensorList{sum(w.value())};
  });
  std::vector<const float*> places;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(step({})[0].item<float>(), 12.F / static_cast<float>(2 << i));
    places.push_back(w.value().data<float>());
  }
  EXPECT_EQ(places[2], places[3]);
  w.set_value(vector({1, 1}));  // from outside: the next replay sees it
  EXPECT_EQ(step({})[0].item<float>(), 1.F);
}

TEST(PureFunction, AnUpdateIsNotSeenThroughAnotherParameterOfTheSameValue) {
  Parameter p(vector({1, 1}), "p"), q(vector({5, 5}), "q");
  auto step = jit_pure([&](const TensorList&) {
    p.set_value(p.value() + 2.0);
    q.set_value(q.value() * 3.0);
    return TensorList{};
  });
  for (int i = 0; i < 2; ++i) static_cast<void>(step({}));
  {
    Tensor both = vector({1, 1});
    p.set_value(both);
    q.set_value(both);
  }
  static_cast<void>(step({}));
  EXPECT_EQ(p.value().to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(q.value().to_vector<float>(), (std::vector<float>{3, 3}));
}

TEST(PureFunction, DrawsNumbersAsThePlainFunctionDoes) {
  auto noisy = [](const TensorList& in) { return TensorList{in[0] + rand({3})}; };
  TensorFunction replayed = jit_pure(noisy);
  std::vector<float> plain, fast;
  set_seed(5);
  for (int i = 0; i < 4; ++i) plain.push_back(noisy({vector({1, 2, 3})})[0].to_vector<float>()[1]);
  set_seed(5);
  for (int i = 0; i < 4; ++i) fast.push_back(replayed({vector({1, 2, 3})})[0].to_vector<float>()[1]);
  EXPECT_EQ(plain, fast);
  EXPECT_NE(fast[1], fast[2]);
}

TEST(PureFunction, AFunctionThatReadsValuesIsRefused) {
  PureFunction f([](const TensorList& in) {
    Tensor y = sum(in[0]);
    return y.item<float>() > 0 ? TensorList{y} : TensorList{in[0]};
  });
  EXPECT_THROW(static_cast<void>(f({vector({1})})), ValueError);
}

TEST(PureFunction, IsDifferentiableWhereAGradientIsAsked) {
  TensorFunction f = jit_pure([](const TensorList& in) { return TensorList{in[0] * in[0]}; });
  static_cast<void>(f({vector({2})}));
  Tensor g = grad([&](const Tensor& x) { return sum(f({x})[0]); }, vector({3}));
  EXPECT_EQ(g.item<float>(), 6.F);
}

TEST(PureFunction, IsRecordedAnewWhenAParameterIsGone) {
  auto w = std::make_unique<Parameter>(vector({2}), "w");
  Parameter* p = w.get();
  int calls = 0;
  PureFunction f([&](const TensorList& in) {
    ++calls;
    return TensorList{in[0] * p->value()};
  });
  EXPECT_EQ(f({vector({3})})[0].item<float>(), 6.F);
  w = std::make_unique<Parameter>(vector({10}), "w");
  p = w.get();
  EXPECT_EQ(f({vector({3})})[0].item<float>(), 30.F);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace sorus
