#include <gtest/gtest.h>

#include "sorus/core/generator.h"
#include "sorus/core/parameter.h"
#include "sorus/dispatch/body.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/random/random.h"

/// Functions that are traced to compute and do nothing else.
namespace sorus {
namespace {

const TensorType kTypes[] = {{DType::kFloat32, {}, {2}}};

Traced computing(const TensorFunction& f) { return trace("test", f, kTypes, TraceRule::kComputes); }

TEST(TraceThatComputes, TakesWhatComputes) {
  const Tensor outside({1.F, 2.F});
  const Traced traced = computing([&](const TensorList& in) { return TensorList{in[0] * outside}; });
  ASSERT_EQ(traced.captured.size(), 1U);
  const TensorList out = traced.body->call({Tensor({3.F, 4.F}), outside});
  EXPECT_EQ(out[0].to_vector<float>(), (std::vector<float>{3, 8}));
}

TEST(TraceThatComputes, GivesDrawsBack) {
  set_seed(5);
  const Generator::State before = default_generator().state();
  const auto draws = [](const TensorList& in) { return TensorList{in[0] + rand({2}, DType::kFloat32)}; };
  EXPECT_THROW(computing(draws), NotSupportedError);
  EXPECT_EQ(default_generator().state().offset, before.offset);
  EXPECT_EQ(trace("test", draws, kTypes).draws.size(), 1U);
  EXPECT_NE(default_generator().state().offset, before.offset);
}

TEST(TraceThatComputes, LeavesHandlesAlone) {
  TensorHandle handle(Tensor({1.F, 2.F}));
  const auto writes = [&](const TensorList& in) {
    handle.set(in[0] * in[0]);
    return TensorList{in[0]};
  };
  EXPECT_THROW(computing(writes), NotSupportedError);
  EXPECT_EQ(handle.get().to_vector<float>(), (std::vector<float>{1, 2}));
  const auto writes_what_it_made = [](const TensorList& in) {
    TensorHandle made(in[0] * in[0]);
    made.set(in[0]);
    return TensorList{made.get()};
  };
  EXPECT_THROW(computing(writes_what_it_made), NotSupportedError);
  EXPECT_NO_THROW(static_cast<void>(trace("test", writes_what_it_made, kTypes)));
}

}  // namespace
}  // namespace sorus
