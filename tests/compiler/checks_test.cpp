#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "sorus/compiler/boundary.h"
#include "sorus/compiler/replay.h"
#include "sorus/core/parameter.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

/// Errors about values (an index, a label) come at the call, in every mode.
namespace sorus {
namespace {

Tensor floats(std::initializer_list<float> items) {
  return Tensor(items, {static_cast<int64_t>(items.size())});
}
Tensor indices(std::initializer_list<int32_t> items) {
  return Tensor(items, {static_cast<int64_t>(items.size())});
}

/// Text of the error, empty when there is none.
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const IndexError& e) {
    return e.what();
  }
  return "";
}

/// What the program notes, plainly and in boundaries.
using Notes = std::vector<std::string>;
FollowStats compare(const std::function<void(Notes&)>& program) {
  Notes eager, graph;
  boundaries_enabled() = false;
  program(eager);
  boundaries_enabled() = true;
  follow_stats() = {};
  program(graph);
  EXPECT_EQ(eager, graph);
  EXPECT_FALSE(eager.empty());
  return follow_stats();
}
std::string text_of(const Tensor& t) {
  std::string text;
  for (float x : t.to_vector<float>()) text += std::to_string(x) + " ";
  return text;
}

TEST(Checks, AnErrorComesAtTheCallAndLeavesNoTrace) {
  uint64_t id = new_boundary_id();
  FollowStats stats = compare([&](Notes& notes) {
    Parameter w(floats({1, 2, 3}), "w");
    for (int i = 0; i < 6; ++i)
      run_boundary(id, [&] {
        Tensor y = w.value() * 2;
        w.set_value(y);
        notes.push_back(error_of([&] { y = gather(y, indices({0, 3}), 0); }));
        w.set_value(y + w.value());
        notes.push_back(text_of(w));
      });
  });
  EXPECT_EQ(stats.mismatches, 0);
  EXPECT_GT(stats.followed, 0);
}

TEST(Checks, AnErrorThatLeavesTheBoundaryKeepsTheWritesBeforeIt) {
  uint64_t id = new_boundary_id();
  compare([&](Notes& notes) {
    Parameter w(floats({1, 2, 3}), "w");
    Tensor logits({1.F, 2.F, 3.F, 4.F, 5.F, 6.F}, Shape{2, 3});
    for (int i = 0; i < 9; ++i) {
      notes.push_back(error_of([&] {
        run_boundary(id, [&] {
          w.set_value(w.value() + 1);
          Tensor loss = softmax_cross_entropy(logits, indices({0, i % 3 == 2 ? 5 : 1}));
          w.set_value(w.value() * 2 + sum(loss));
        });
      }));
      notes.push_back(text_of(w));
    }
  });
}

TEST(Checks, IndicesThatAreComputedAreReadFirst) {
  uint64_t id = new_boundary_id();
  FollowStats stats = compare([&](Notes& notes) {
    for (int i = 0; i < 12; ++i)
      run_boundary(id, [&] {
        Tensor x = floats({1, 2, 3}) * static_cast<double>(1 + i % 2);
        Tensor at = cast(sum(x) * (i % 4 == 3 ? 1. : 0.1), DType::kInt32);
        Tensor y = tanh(x);
        std::string error = error_of([&] { y = gather(y, at, 0) + x; });
        notes.push_back(error + text_of(y * 2));
      });
  });
  EXPECT_LE(stats.branches, 2);
  EXPECT_LE(stats.mismatches, 3);
  EXPECT_GT(stats.runs, 6);
}

TEST(Checks, AReplayChecksBeforeTheKernelAndWritesNothing) {
  Parameter w(floats({1, 2, 3}), "w");
  int calls = 0;
  auto f = jit_pure([&](const TensorList& in) {
    ++calls;
    w.set_value(w.value() + 1);
    Tensor doubled = in[0] + in[0];  // computed indices
    Tensor unused = gather(w.value(), doubled, 0);
    return TensorList{w.value() * 2};
  });
  static_cast<void>(f({indices({0, 1})}));
  static_cast<void>(f({indices({1, 0})}));
  EXPECT_EQ(text_of(w), text_of(floats({3, 4, 5})));
  std::string error = error_of([&] { static_cast<void>(f({indices({0, 2})})); });
  EXPECT_EQ(error.find("gather: index out of range on axis 0: got 4, need -3 <= index < 3"), 0U) << error;
  EXPECT_EQ(text_of(w), text_of(floats({3, 4, 5})));
  EXPECT_EQ(text_of(f({indices({1, 1})})[0]), text_of(floats({8, 10, 12})));
  EXPECT_EQ(calls, 1);
}

TEST(Checks, RangesOfAnyWidthAndStride) {
  auto refused = [](const Tensor& x, const Tensor& at) {
    return error_of([&] { static_cast<void>(gather(x, at, 0)); });
  };
  Tensor x = floats({1, 2, 3, 4});
  EXPECT_EQ(refused(x, indices({-4, 3, 0, 0, 0, 0, 0, 0, 0})), "");
  for (int64_t wrong : {int64_t{4}, int64_t{-5}, INT64_MAX, INT64_MIN, int64_t{1} << 32})
    EXPECT_NE(refused(x, Tensor({int64_t{0}, wrong, int64_t{7}})).find("got " + std::to_string(wrong) + ","),
              std::string::npos);
  for (int32_t wrong : {4, -5, INT32_MAX, INT32_MIN})
    EXPECT_NE(refused(x, indices({0, 3, wrong})).find("got " + std::to_string(wrong) + ","),
              std::string::npos);
  Tensor table({0, 9, 1, 9, 2, 9}, Shape{3, 2});
  EXPECT_EQ(refused(x, narrow(table, 1, 0, 1)), "");
  EXPECT_NE(refused(x, narrow(table, 1, 1, 1)), "");
  EXPECT_NE(refused(floats({}), indices({0})), "");
  EXPECT_EQ(refused(floats({}), indices({})), "");
}

TEST(Checks, CoordinatesNameTheFirstThatIsWrong) {
  Tensor x({1.F, 2.F, 3.F, 4.F, 5.F, 6.F}, Shape{2, 3});
  auto refused = [&](std::vector<int64_t> at) {
    return error_of([&] {
      static_cast<void>(gather_nd(x, Tensor(std::span<const int64_t>(at), Shape{2, 2})));
    });
  };
  EXPECT_EQ(refused({1, 2, -2, -3}), "");
  EXPECT_EQ(refused({1, 3, 2, 0}), "gather_nd: index out of range on axis 1: got 3, need -3 <= index < 3");
  EXPECT_EQ(refused({0, 0, 2, 3}), "gather_nd: index out of range on axis 0: got 2, need -2 <= index < 2");
}

}  // namespace
}  // namespace sorus
