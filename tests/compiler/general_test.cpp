#include "sorus/compiler/general.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <vector>

#include "sorus/autograd/grad.h"
#include "sorus/compiler/boundary.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/nn/norm.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

Tensor noise(const Shape& shape, double frequency) {
  std::vector<float> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(std::sin((static_cast<double>(i) + 1) * frequency));
  return Tensor(std::span<const float>(v), shape);
}

using Function = std::function<Tensor(const Tensor&)>;

/// Calls the function with each shape plainly and as a boundary; the bits are the same. The counters are
/// those of the boundary's calls.
FollowStats compare(const Function& f, const std::vector<Shape>& shapes) {
  const Function compiled = jit(f);
  FollowStats all = follow_stats() = {};
  for (const Shape& shape : shapes) {
    const Tensor x = noise(shape, .37);
    const std::vector<float> plain = f(x).to_vector<float>();
    follow_stats() = all;
    const std::vector<float> followed = compiled(x).to_vector<float>();
    all = follow_stats();
    const auto same_bits = [](float a, float b) {
      return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
    };
    EXPECT_TRUE(std::equal(plain.begin(), plain.end(), followed.begin(), followed.end(), same_bits))
        << shape.text();
  }
  return all;
}

std::vector<Shape> rows(std::initializer_list<int64_t> counts, int64_t width) {
  std::vector<Shape> shapes;
  for (int64_t n : counts) shapes.push_back({n, width});
  return shapes;
}

Tensor chain(const Tensor& x) { return softmax(tanh(x * 2.) + x, -1) * x; }

TEST(General, TheThirdExtentFollowsWhatTwoHaveInCommon) {
  const FollowStats stats = compare(chain, rows({4, 5, 6, 7}, 16));
  EXPECT_EQ(stats.signatures, 2);
  EXPECT_EQ(stats.specialized, 2);
  EXPECT_EQ(stats.recorded, 2 * 5);
  EXPECT_EQ(stats.mismatches, 0);
}

TEST(General, ProgramsForFurtherExtentsNeedNoPasses) {
  const FollowStats stats = compare(chain, rows({4, 5, 6, 7, 8, 9, 10, 8, 9}, 16));
  EXPECT_EQ(stats.programs, 2);
  EXPECT_EQ(stats.instances, 3);
  EXPECT_EQ(stats.runs, 7);
}

TEST(General, AttributesThatGoWithExtentsAreReplaced) {
  const Function f = [](const Tensor& x) {
    const int64_t n = x.shape().size(0);
    const Tensor heads = transpose(reshape(x, {n, 4, 4}), {1, 0, 2});
    return reshape(tanh(heads) + full({DType::kFloat32, {}, Shape{4, n, 4}}, 1), {4 * n, 4});
  };
  const FollowStats stats = compare(f, rows({4, 5, 6, 7, 8, 9, 1, 2, 3}, 16));
  EXPECT_EQ(stats.signatures, 2);
  EXPECT_EQ(stats.programs, 2);
  EXPECT_EQ(stats.instances, 5);
}

TEST(General, WhatIsFoldedDoesNotComeFromAttributesThatVary) {
  const Function f = [](const Tensor& x) {
    const int64_t n = x.shape().size(0);
    return x + reshape(arange(0, n, 1, DType::kFloat32) * 2. + 1., {n, 1});
  };
  const FollowStats stats = compare(f, rows({4, 5, 6, 7, 8, 9}, 3));
  EXPECT_EQ(stats.instances, 2);
}

/// Numbers that were equal twice are different the third time.
TEST(General, ExtentsThatPartAreRecordedAndLearned) {
  const Function f = [](const Tensor& x) { return matmul(x, transpose(x, {1, 0})) * 2.; };
  std::vector<Shape> shapes = {{4, 4}, {5, 5}, {6, 6}, {4, 7}, {5, 8}, {6, 2}, {3, 9}};
  const FollowStats stats = compare(f, shapes);
  EXPECT_EQ(stats.signatures, 3);
  EXPECT_EQ(stats.specialized, 4);
}

/// The same shape in both recordings, by chance: a reshape that did nothing does something now.
TEST(General, WhatAPassRemovedComesBack) {
  const Function f = [](const Tensor& x) {
    const int64_t n = x.shape().size(0);
    const int64_t rows = n % 2 == 0 && n > 6 ? n / 2 : n;
    return tanh(reshape(x, {rows, x.shape().numel() / rows})) * 3.;
  };
  compare(f, rows({3, 4, 5, 6, 3, 4, 8, 10, 8, 10, 12, 14, 7, 9}, 4));
}

TEST(General, ProgramsThatGoAnotherWayAreRecorded) {
  const Function f = [](const Tensor& x) {
    Tensor y = x;
    for (int64_t i = 0; i < x.shape().size(0); ++i) y = tanh(y + 1.);
    return y;
  };
  const FollowStats stats = compare(f, rows({2, 3, 4, 5, 2, 3, 4, 5}, 3));
  EXPECT_EQ(stats.signatures, 4);
  EXPECT_EQ(stats.specialized, 0);
}

TEST(General, SegmentsFollowOneAfterTheOther) {
  const Function f = [](const Tensor& x) {
    const Tensor y = tanh(x);
    const double scale = sum(y).item<float>() > 100 ? 2. : 3.;
    return y * scale + x;
  };
  const FollowStats stats = compare(f, rows({2, 3, 4, 5, 6, 7, 4}, 3));
  EXPECT_EQ(stats.signatures, 2);
  EXPECT_EQ(stats.specialized, 4);
  EXPECT_EQ(stats.instances, 2 * 2);
}

TEST(General, EmptyAndSingleRowsAreRight) {
  compare(chain, rows({4, 5, 6, 0, 1, 7, 1, 0, 2}, 16));
  compare(chain, rows({0, 5, 6, 1, 7, 8, 9}, 16));
  compare([](const Tensor& x) { return layer_norm(x * 2., {x.shape().size(1)}) + x; },
          {{4, 8}, {5, 9}, {6, 10}, {7, 1}, {3, 2}, {1, 1}, {8, 0}, {0, 8}});
}

TEST(General, GradientsFollowToo) {
  const Function f = [](const Tensor& x) { return grad([](const Tensor& t) { return sum(chain(t)); }, x); };
  const FollowStats stats = compare(f, rows({4, 5, 6, 7, 8, 9}, 16));
  EXPECT_EQ(stats.signatures, 2);
  EXPECT_EQ(stats.instances, 2);
}

TEST(General, AnErrorInTheMiddleLeavesNothingHalfDone) {
  const Tensor weights = noise({5, 3}, .7);
  Parameter count(full({DType::kFloat32, {}, Shape{}}, 0), "count");
  const Function f = [&](const Tensor& x) {
    count.set_value(count.value() + 1.);
    return matmul(tanh(x), weights);
  };
  const Function compiled = jit(f);
  float calls = 0;
  for (const Shape& shape : {Shape{2, 5}, Shape{3, 5}, Shape{4, 5}}) {
    static_cast<void>(compiled(noise(shape, .3)).to_vector<float>());
    ++calls;
  }
  EXPECT_THROW(static_cast<void>(compiled(noise({6, 4}, .3))), ShapeError);
  ++calls;
  EXPECT_EQ(count.value().item<float>(), calls);
  for (int i = 0; i < 2; ++i) {
    const Tensor x = noise({6, 5}, .3);
    EXPECT_EQ(compiled(x).to_vector<float>(), matmul(tanh(x), weights).to_vector<float>());
  }
  EXPECT_EQ(count.value().item<float>(), calls + 2);
}

}  // namespace
}  // namespace sorus
