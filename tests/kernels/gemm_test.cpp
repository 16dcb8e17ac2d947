#include "sorus/kernels/cpu/gemm/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "tests/kernels/onednn_testing.h"

// The float32 products of our own promise more than closeness: every sum is one chain of fused multiply-adds
// over k, so a plain loop gives the same bits, whatever tiles, packing or transposition the kernels choose.
namespace sorus::kernels {
namespace {

using onednn::ElementType;
using onednn::testing::Buffer;

struct Sizes {
  const char* name;
  int64_t batch, m, n, k;
};

/// Where the two operands lie: whole rows, whole columns, or elements two apart.
enum class Form { kRows, kColumns, kApart };

MatrixLayout layout(Form form, int64_t rows, int64_t columns) {
  MatrixLayout l;
  l.batch_stride[0] = rows * columns * (form == Form::kApart ? 2 : 1);
  l.row_stride = form == Form::kColumns ? 1 : form == Form::kRows ? columns : 2 * columns;
  l.col_stride = form == Form::kColumns ? rows : form == Form::kRows ? 1 : 2;
  return l;
}

MatmulProblem problem(const Sizes& s, Form a, Form b) {
  MatmulProblem p;
  p.batch[0] = s.batch;
  p.m = s.m, p.n = s.n, p.k = s.k;
  p.a = layout(a, s.m, s.k);
  p.b = layout(b, s.k, s.n);
  p.out.batch_stride[0] = s.m * s.n;
  p.out.row_stride = s.n;
  return p;
}

/// What the kernels promise: chains over k; beginning at kLongestSum, the chains of `parts` added in order.
std::vector<float> expected(const MatmulProblem& p, const Buffer& a, const Buffer& b, int64_t part) {
  std::vector<float> out;
  for (int64_t matrix = 0; matrix < p.batch[0]; ++matrix) {
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j) {
        float sum = 0;
        for (int64_t begin = 0; begin < p.k; begin += part) {
          float chain = 0;
          for (int64_t q = begin; q < std::min(p.k, begin + part); ++q) {
            float x = a.get(matrix * p.a.batch_stride[0] + i * p.a.row_stride + q * p.a.col_stride);
            float y = b.get(matrix * p.b.batch_stride[0] + q * p.b.row_stride + j * p.b.col_stride);
            chain = std::fma(x, y, chain);
          }
          sum = begin == 0 ? chain : sum + chain;
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

void expect_chains(const Sizes& s, Form a_form, Form b_form, int64_t part) {
  MatmulProblem p = problem(s, a_form, b_form);
  Buffer a(ElementType::kFloat32, 2 * s.batch * s.m * s.k), b(ElementType::kFloat32, 2 * s.batch * s.k * s.n);
  a.fill(1);
  b.fill(2);
  std::vector<float> want = expected(p, a, b, part);
  for (int threads : {1, 2, 3}) {
    int before = num_threads();
    set_num_threads(threads);
    Buffer out(ElementType::kFloat32, s.batch * s.m * s.n);
    Buffer space(ElementType::kFloat32, static_cast<int64_t>(gemm::workspace(p) / sizeof(float)) + 1);
    gemm::multiply(p, static_cast<const float*>(a.data()), static_cast<const float*>(b.data()), nullptr,
                   static_cast<float*>(out.data()), space.data());
    set_num_threads(before);
    int64_t different = 0;
    for (int64_t i = 0; i < out.size(); ++i) different += out.get(i) != want[static_cast<size_t>(i)];
    EXPECT_EQ(different, 0) << s.name << " with " << threads << " threads, forms " << static_cast<int>(a_form)
                            << " and " << static_cast<int>(b_form);
  }
}

class GemmTest : public ::testing::TestWithParam<Sizes> {
  void SetUp() override {
    if (!gemm::takes(MatmulProblem{})) GTEST_SKIP() << "this CPU has no AVX2";
  }
};

TEST_P(GemmTest, EverySumIsOneChain) {
  for (Form a : {Form::kRows, Form::kColumns, Form::kApart}) {
    for (Form b : {Form::kRows, Form::kColumns, Form::kApart}) expect_chains(GetParam(), a, b, GetParam().k);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, GemmTest,
                         ::testing::Values(Sizes{"one", 1, 1, 1, 1}, Sizes{"row", 1, 1, 200, 70},
                                           Sizes{"column", 1, 150, 1, 33}, Sizes{"few_rows", 1, 5, 130, 40},
                                           Sizes{"layer", 1, 32, 120, 400}, Sizes{"odd", 1, 61, 93, 131},
                                           Sizes{"narrow", 1, 75, 27, 50}, Sizes{"narrower", 1, 44, 11, 37},
                                           Sizes{"batch", 7, 13, 21, 19}, Sizes{"square", 1, 128, 128, 300},
                                           Sizes{"deep", 1, 9, 70, 2100}, Sizes{"tall", 1, 1100, 20, 30},
                                           Sizes{"vector", 1, 1, 167, 203}, Sizes{"vectors", 3, 1, 40, 64},
                                           Sizes{"by_vector", 2, 115, 1, 48},
                                           Sizes{"short_vector", 1, 1, 33, 5}),
                         [](const auto& tested) { return tested.param.name; });

TEST(Gemm, LongSumsAreCutByTheShapeAlone) {
  if (!gemm::takes(MatmulProblem{})) GTEST_SKIP() << "this CPU has no AVX2";
  for (Form a : {Form::kRows, Form::kColumns}) {
    for (Form b : {Form::kRows, Form::kColumns}) {
      expect_chains({"long", 1, 24, 9, 4096}, a, b, 2048);
      expect_chains({"longer", 1, 9, 24, 8000}, a, b, 2000);
      expect_chains({"long_vector", 1, 1, 99, 4096}, a, b, 2048);
      // Gradients of a convolution's weights, whose columns of a may be read where they lie.
      expect_chains({"wide", 1, 70, 130, 4096}, a, b, 2048);
      expect_chains({"panel", 1, 131, 64, 4096}, a, b, 2048);
      expect_chains({"wider", 1, 8, 600, 4096}, a, b, 2048);
    }
  }
}

TEST(Gemm, ResultsBeyondTheCachesAreTheSame) {
  if (!gemm::takes(MatmulProblem{})) GTEST_SKIP() << "this CPU has no AVX2";
  expect_chains({"large", 1, 33000, 256, 3}, Form::kRows, Form::kColumns, 3);
}

}  // namespace
}  // namespace sorus::kernels
