#include "sorus/kernels/cpu/matmul/matmul.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "sorus/base/cpu_features.h"
#include "sorus/base/error.h"
#include "tests/kernels/onednn_testing.h"

namespace sorus::kernels::onednn {
namespace {

using testing::Buffer;
using testing::Threads;

struct Case {
  int64_t batch, m, n, k;
};

// Odd sizes, both sides of every cut: rows, columns and long sums in parts, one row, one column.
const Case kCases[] = {{1, 1, 1, 1},       {1, 3, 5, 7},      {1, 32, 120, 400}, {1, 32, 84, 120},
                       {1, 32, 10, 84},    {1, 130, 200, 65}, {1, 257, 190, 33}, {1, 1, 130, 500},
                       {1, 130, 1, 500},   {5, 7, 70, 33},    {3, 65, 130, 64},  {40, 4, 4, 4},
                       {1, 12, 20, 9001},  {2, 30, 40, 4500}, {1, 600, 17, 130}, {1, 8, 768, 768},
                       {1, 100, 300, 513}, {1, 66, 27, 63},   {1, 129, 20, 63},  {1, 8, 130, 65}};

/// Layout of a dense rows x cols matrix, transposed or not, its rows `gap` elements further apart than
/// needed.
MatrixLayout layout(int64_t rows, int64_t cols, bool transposed, int64_t gap) {
  MatrixLayout result;
  result.row_stride = transposed ? 1 : cols + gap;
  result.col_stride = transposed ? rows + gap : 1;
  result.batch_stride[0] = (transposed ? cols : rows) * ((transposed ? rows : cols) + gap) + gap;
  return result;
}

/// The dense matrices written into memory of another layout.
Buffer lay_out(const Buffer& dense, ElementType type, int64_t batch, int64_t rows, int64_t cols,
               const MatrixLayout& to) {
  Buffer result(type, batch * to.batch_stride[0] + 1);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j) {
        result.set(b * to.batch_stride[0] + i * to.row_stride + j * to.col_stride,
                   dense.get((b * rows + i) * cols + j));
      }
    }
  }
  return result;
}

MatmulProblem dense_problem(const Case& c, ElementType type) {
  MatmulProblem p;
  p.m = c.m, p.n = c.n, p.k = c.k, p.type = type, p.out_type = type;
  p.batch[2] = c.batch;  // any of the batch dimensions will do; the layouts below use the third
  for (auto [side, rows, cols] : {std::tuple{&p.a, c.m, c.k}, {&p.b, c.k, c.n}, {&p.out, c.m, c.n}}) {
    side->row_stride = cols, side->batch_stride[2] = rows * cols;
  }
  return p;
}

void run(const MatmulProblem& p, const Buffer& a, const Buffer& b, const float* bias, Buffer& out) {
  Buffer space = testing::workspace(matmul::workspace(p));
  matmul::multiply(p, a.data(), b.data(), bias, out.data(), space.data());
}

bool usable(ElementType type) { return type == ElementType::kFloat32 || cpu_features().avx512; }

class MatmulTest : public ::testing::TestWithParam<std::tuple<Case, ElementType>> {};

TEST_P(MatmulTest, MatchesDoubleReference) {
  auto [c, type] = GetParam();
  if (!usable(type)) GTEST_SKIP() << "oneDNN has no bfloat16 on this CPU";
  for (bool fused : {false, true}) {
    MatmulProblem p = dense_problem(c, type);
    p.has_bias = fused;
    p.activation = fused ? Activation::kRelu : Activation::kNone;
    Buffer a(type, c.batch * c.m * c.k), b(type, c.batch * c.k * c.n), out(type, c.batch * c.m * c.n);
    Buffer bias(ElementType::kFloat32, c.n);
    a.fill(1), b.fill(2), bias.fill(3);
    run(p, a, b, static_cast<const float*>(bias.data()), out);
    double unit = type == ElementType::kFloat32 ? 0x1p-24 : 0x1p-9;
    for (int64_t r = 0; r < c.batch * c.m; ++r) {
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = fused ? bias.get(j) : 0, magnitude = std::abs(sum);
        for (int64_t q = 0; q < c.k; ++q) {
          double term = static_cast<double>(a.get(r * c.k + q)) * b.get((r / c.m * c.k + q) * c.n + j);
          sum += term, magnitude += std::abs(term);
        }
        double want = fused && sum < 0 ? 0 : sum;
        double bound =
            magnitude * 0x1p-24 * std::sqrt(static_cast<double>(c.k) + 16) * 2 + std::abs(want) * unit * 2;
        ASSERT_NEAR(out.get(r * c.n + j), want, bound + 1e-30) << "row " << r << " column " << j;
      }
    }
  }
}

TEST_P(MatmulTest, BitsDependOnNeitherThreadsNorStrides) {
  auto [c, type] = GetParam();
  if (!usable(type)) GTEST_SKIP() << "oneDNN has no bfloat16 on this CPU";
  MatmulProblem p = dense_problem(c, type);
  Buffer a(type, c.batch * c.m * c.k), b(type, c.batch * c.k * c.n), want(type, c.batch * c.m * c.n);
  a.fill(4), b.fill(5);
  {
    Threads one(1);
    run(p, a, b, nullptr, want);
  }
  for (int threads : {1, 2, 3}) {
    Threads scope(threads);
    for (int variant = 0; variant < 8; ++variant) {
      MatmulProblem q = p;
      q.batch = {c.batch, 1, 1, 1, 1, 1};
      q.a = layout(c.m, c.k, variant & 1, variant & 4 ? 3 : 0);
      q.b = layout(c.k, c.n, variant & 2, variant & 4 ? 5 : 0);
      q.out = layout(c.m, c.n, false, variant & 4 ? 2 : 0);
      Buffer out(type, c.batch * q.out.batch_stride[0] + 1);
      run(q, lay_out(a, type, c.batch, c.m, c.k, q.a), lay_out(b, type, c.batch, c.k, c.n, q.b), nullptr,
          out);
      Buffer expected = lay_out(want, type, c.batch, c.m, c.n, q.out);
      ASSERT_TRUE(out == expected) << threads << " threads, variant " << variant;
    }
  }
}

TEST_P(MatmulTest, PackedOperandGivesTheSameBits) {
  auto [c, type] = GetParam();
  if (!usable(type)) GTEST_SKIP() << "oneDNN has no bfloat16 on this CPU";
  MatmulProblem p = dense_problem(c, type);
  Buffer a(type, c.batch * c.m * c.k), b(type, c.batch * c.k * c.n);
  Buffer want(type, c.batch * c.m * c.n), out(type, c.batch * c.m * c.n);
  a.fill(6), b.fill(7);
  run(p, a, b, nullptr, want);
  Buffer packed = testing::workspace(matmul::packed_b_bytes(p));
  matmul::pack_b(p, b.data(), packed.data());
  p.b_is_packed = true;
  run(p, a, packed, nullptr, out);
  EXPECT_TRUE(out == want);
}

INSTANTIATE_TEST_SUITE_P(Sizes, MatmulTest,
                         ::testing::Combine(::testing::ValuesIn(kCases),
                                            ::testing::Values(ElementType::kFloat32, ElementType::kBFloat16)),
                         [](const auto& sample) {
                           const Case& c = std::get<0>(sample.param);
                           return fmt::format(
                               "b{}_{}x{}x{}_{}", c.batch, c.m, c.n, c.k,
                               std::get<1>(sample.param) == ElementType::kFloat32 ? "f32" : "bf16");
                         });

// The library may be given b as it lies or packed; that the bits are the same is a property of its kernels
// which no document promises.
TEST(Matmul, EveryFormOfTheRightOperandGivesTheSameBits) {
  std::mt19937 generator(11);
  auto below = [&](int64_t n) { return static_cast<int64_t>(generator() % static_cast<uint32_t>(n)) + 1; };
  for (int i = 0; i < 60; ++i) {
    ElementType type =
        i % 2 == 0 || !usable(ElementType::kBFloat16) ? ElementType::kFloat32 : ElementType::kBFloat16;
    Case c{1, below(200), below(i % 4 < 2 ? 130 : 500), below(type == ElementType::kFloat32 ? 2000 : 1200)};
    MatmulProblem p = dense_problem(c, type);
    Buffer a(type, c.m * c.k), b(type, c.k * c.n), plain(type, c.m * c.n), other(type, c.m * c.n);
    a.fill(1), b.fill(2);
    run(p, a, b, nullptr, plain);
    MatmulProblem transposed = p, packed = p;
    transposed.b = layout(c.k, c.n, true, 0);
    run(transposed, a, lay_out(b, type, 1, c.k, c.n, transposed.b), nullptr, other);
    EXPECT_TRUE(other == plain) << "transposed, " << c.m << " x " << c.n << " x " << c.k << ", " << i % 2;
    packed.b_is_packed = true;
    Buffer memory = testing::workspace(matmul::packed_b_bytes(p));
    matmul::pack_b(p, b.data(), memory.data());
    run(packed, a, memory, nullptr, other);
    EXPECT_TRUE(other == plain) << "packed, " << c.m << " x " << c.n << " x " << c.k << ", " << i % 2;
  }
}

TEST(Matmul, RepeatsAMatrixOverABatch) {
  Case c{6, 9, 20, 31};
  MatmulProblem p = dense_problem(c, ElementType::kFloat32);
  Buffer a(p.type, c.batch * c.m * c.k), b(p.type, c.k * c.n), all(p.type, c.batch * c.k * c.n);
  a.fill(1), b.fill(2);
  for (int64_t i = 0; i < all.size(); ++i) all.set(i, b.get(i % b.size()));
  Buffer want(p.type, c.batch * c.m * c.n), out(p.type, c.batch * c.m * c.n);
  run(p, a, all, nullptr, want);
  p.b.batch_stride = {};
  run(p, a, b, nullptr, out);
  EXPECT_TRUE(out == want);
}

TEST(Matmul, TakesTwoBatchDimensionsWithStridesOfTheirOwn) {
  // Heads of attention: (batch, position, head, depth) read as (batch, head) matrices of position x depth.
  constexpr int64_t kB = 2, kS = 19, kH = 3, kD = 16;
  MatmulProblem p;
  p.m = kS, p.n = kS, p.k = kD, p.batch = {1, 1, 1, 1, kB, kH};
  p.a = {{0, 0, 0, 0, kS * kH * kD, kD}, kH * kD, 1};
  p.b = {{0, 0, 0, 0, kS * kH * kD, kD}, 1, kH * kD};
  p.out = {{0, 0, 0, 0, kH * kS * kS, kS * kS}, kS, 1};
  Buffer q(p.type, kB * kS * kH * kD), k(p.type, kB * kS * kH * kD), out(p.type, kB * kH * kS * kS);
  q.fill(1), k.fill(2);
  run(p, q, k, nullptr, out);
  for (int64_t b = 0; b < kB; ++b) {
    for (int64_t h = 0; h < kH; ++h) {
      for (int64_t i = 0; i < kS; ++i) {
        for (int64_t j = 0; j < kS; ++j) {
          double want = 0;
          for (int64_t d = 0; d < kD; ++d) {
            want += static_cast<double>(q.get(((b * kS + i) * kH + h) * kD + d)) *
                    k.get(((b * kS + j) * kH + h) * kD + d);
          }
          ASSERT_NEAR(out.get(((b * kH + h) * kS + i) * kS + j), want, 1e-5);
        }
      }
    }
  }
}

TEST(Matmul, SumsBFloat16IntoFloat32) {
  if (!usable(ElementType::kBFloat16)) GTEST_SKIP() << "oneDNN has no bfloat16 on this CPU";
  Case c{1, 20, 30, 40};
  MatmulProblem p = dense_problem(c, ElementType::kBFloat16);
  p.out_type = ElementType::kFloat32;
  Buffer a(p.type, c.m * c.k), b(p.type, c.k * c.n), out(p.out_type, c.m * c.n);
  a.fill(1), b.fill(2);
  run(p, a, b, nullptr, out);
  double want = 0;
  for (int64_t q = 0; q < c.k; ++q) want += static_cast<double>(a.get(q)) * b.get(q * c.n);
  EXPECT_NEAR(out.get(0), want, 1e-5);
}

TEST(Matmul, EmptySumsAreTheBias) {
  MatmulProblem p = dense_problem({1, 2, 3, 0}, ElementType::kFloat32);
  p.has_bias = true;
  p.activation = Activation::kRelu;
  float bias[] = {-1, 2, 3}, out[6];
  matmul::multiply(p, nullptr, nullptr, bias, out, nullptr);
  EXPECT_EQ(std::vector<float>(out, out + 6), (std::vector<float>{0, 2, 3, 0, 2, 3}));
  p.m = 0;
  matmul::multiply(p, nullptr, nullptr, bias, nullptr, nullptr);
}

TEST(Matmul, RefusesWhatItsContractExcludes) {
  MatmulProblem p = dense_problem({1, 2, 3, 4}, ElementType::kFloat32);
  p.out_type = ElementType::kBFloat16;
  EXPECT_THROW((void)matmul::workspace(p), DTypeError);
  p.out_type = ElementType::kFloat32;
  p.out.col_stride = 2;
  EXPECT_THROW((void)matmul::workspace(p), ValueError);
  p.out.col_stride = 1;
  p.m = -1;
  EXPECT_THROW((void)matmul::workspace(p), ShapeError);
}

TEST(Matmul, SeveralCallersAtOnceAreRight) {
  Case c{1, 200, 300, 150};
  MatmulProblem p = dense_problem(c, ElementType::kFloat32);
  Buffer a(p.type, c.m * c.k), b(p.type, c.k * c.n), want(p.type, c.m * c.n);
  a.fill(1), b.fill(2);
  run(p, a, b, nullptr, want);
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> callers;
  for (int& count : wrong) {
    callers.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Buffer out(p.type, c.m * c.n);
        run(p, a, b, nullptr, out);
        count += !(out == want);
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(Matmul, StartsNoOpenMPThreadAndKeepsTheCallersSetting) {
  Threads two(2);
  parallel_for(2, [](int64_t) {});  // the pool's own thread
  int64_t before = testing::thread_count();
  testing::set_openmp_threads(7);
  Case c{1, 300, 310, 320};
  MatmulProblem p = dense_problem(c, ElementType::kFloat32);
  Buffer a(p.type, c.m * c.k), b(p.type, c.k * c.n), out(p.type, c.m * c.n);
  a.fill(1), b.fill(2);
  run(p, a, b, nullptr, out);
  EXPECT_EQ(testing::openmp_threads(), 7);
  EXPECT_EQ(testing::thread_count(), before);
}

}  // namespace
}  // namespace sorus::kernels::onednn
