#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "sorus/kernels/cpu/conv/conv.h"
#include "tests/kernels/conv_testing.h"

/// Convolutions that give or take rows have the bits of whole ones.
namespace sorus::kernels {
namespace {

using onednn::ConvProblem;
using onednn::testing::Buffer;
using onednn::testing::ConvShape;
using onednn::testing::ConvTensors;
using onednn::testing::floats;
using onednn::testing::problem_of;
using onednn::testing::Threads;

std::vector<float> whole_result(const ConvProblem& p, const ConvTensors& t) {
  std::vector<float> result(static_cast<size_t>(p.n * p.out_positions() * p.out_channels));
  Buffer space = onednn::testing::workspace(conv::workspace(p, onednn::ConvPass::kForward));
  conv::forward(p, floats(t.input), floats(t.weights), p.has_bias ? floats(t.bias) : nullptr, result.data(),
                space.data());
  return result;
}

std::vector<float> packed_weights(const ConvProblem& p, const ConvTensors& t) {
  std::vector<float> packed(conv::packed_weights_bytes(p) / sizeof(float));
  conv::pack_weights(p, floats(t.weights), packed.data());
  return packed;
}

ConvProblem one_tap(int64_t n, int64_t in, int64_t out, int64_t y, int64_t x) {
  return problem_of({"", 2, n, in, out, {y, x}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}});
}

TEST(ConvRows, AnyRowsOfOneTapAreThoseOfTheWhole) {
  const int64_t sizes[][2] = {{1, 1},  {16, 96},   {24, 144}, {40, 240},
                              {7, 49}, {300, 100}, {129, 33}, {1000, 65}};
  for (const auto& [in, out] : sizes)
    for (const bool has_bias : {false, true})
      for (const auto activation : {onednn::Activation::kNone, onednn::Activation::kRelu}) {
        ConvProblem p = one_tap(2, in, out, 9, 11);
        p.has_bias = has_bias;
        p.activation = activation;
        SCOPED_TRACE(::testing::Message() << in << " to " << out << ", bias " << has_bias);
        ASSERT_TRUE(conv::gives_rows(p));
        const ConvTensors t(p);
        const std::vector<float> expected = whole_result(p, t), packed = packed_weights(p, t);
        const int64_t rows = p.n * p.out_positions();
        for (const auto& [begin, end] : {std::pair{int64_t{0}, rows}, {5, 6}, {17, 100}, {rows - 13, rows}}) {
          std::vector<float> part(static_cast<size_t>((end - begin) * out), -7.0F);
          conv::forward_rows(p, floats(t.input), packed.data(), floats(t.bias), begin, end, part.data());
          EXPECT_EQ(std::memcmp(part.data(), expected.data() + begin * out, part.size() * sizeof(float)), 0)
              << "rows " << begin << " to " << end;
        }
      }
}

TEST(ConvRows, WhatGivesRows) {
  EXPECT_FALSE(conv::gives_rows(one_tap(1, 5000, 64, 3, 3)));  // its sums are cut
  ConvProblem p = one_tap(2, 32, 64, 9, 9);
  p.stride = {2, 2, 1};
  EXPECT_FALSE(conv::gives_rows(p));
  p = one_tap(2, 32, 64, 9, 9);
  p.kernel = {3, 3, 1};
  EXPECT_FALSE(conv::gives_rows(p));
  p = one_tap(2, 32, 64, 9, 9);
  p.type = onednn::ElementType::kBFloat16;
  EXPECT_FALSE(conv::gives_rows(p));
  p = one_tap(2, 32, 32, 9, 9);
  p.groups = 32;
  EXPECT_FALSE(conv::gives_rows(p));
}

/// Copies rows of what lies in memory, and counts them.
class Copied final : public RowSource {
 public:
  Copied(const float* from, int64_t channels) : from_(from), channels_(channels) {}
  void fill(int64_t begin, int64_t end, void* to) const override {
    std::memcpy(to, from_ + begin * channels_,
                static_cast<size_t>((end - begin) * channels_) * sizeof(float));
    count_ += end - begin;
  }
  [[nodiscard]] int64_t count() const { return count_; }

 private:
  const float* from_;
  int64_t channels_;
  mutable std::atomic<int64_t> count_{0};
};

void expect_taken_by_rows(const ConvShape& shape, bool has_bias) {
  ConvProblem p = problem_of(shape);
  p.groups = p.in_channels;
  p.has_bias = has_bias;
  ASSERT_TRUE(conv::takes_rows(p));
  const ConvTensors t(p);
  const std::vector<float> expected = whole_result(p, t), packed = packed_weights(p, t);
  Buffer space = onednn::testing::workspace(conv::workspace(p, onednn::ConvPass::kForward));
  for (int threads : {1, 2, 3})
    for (const bool is_packed : {false, true})
      for (const bool is_kept : {false, true}) {
        const Threads set(threads);
        const Copied source(floats(t.input), p.in_channels);
        std::vector<float> taken(expected.size(), -7.0F), kept(expected.size(), -7.0F);
        const onednn::testing::Collector collector(taken.data());
        conv::forward_on_rows(p, source, is_packed ? packed.data() : floats(t.weights), floats(t.bias),
                              is_kept ? kept.data() : nullptr, space.data(),
                              {.taker = &collector, .weights_packed = is_packed});
        EXPECT_EQ(std::memcmp(taken.data(), expected.data(), expected.size() * sizeof(float)), 0);
        EXPECT_EQ(collector.taken(), p.n * p.out_positions());
        EXPECT_TRUE(!is_kept || kept == expected);
        // Few rows are asked for twice.
        EXPECT_LE(source.count(), p.n * p.in_positions() * 115 / 100);
      }
}

TEST(ConvRows, DepthwiseFromRows) {
  const ConvShape shapes[] = {
      {"square", 2, 4, 32, 32, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {"one_image", 2, 1, 96, 96, {112, 60}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {"three_images", 2, 3, 39, 39, {56, 31}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {"wide_kernel", 2, 4, 240, 240, {28, 28}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
      {"wider_than_image", 2, 4, 16, 16, {3, 4}, {7, 7}, {1, 1}, {1, 1}, {3, 3}, {3, 3}},
      {"strided_one_sided", 2, 4, 17, 17, {12, 12}, {5, 5}, {2, 2}, {1, 1}, {1, 1}, {2, 2}},
      {"uncommon_width", 2, 4, 20, 20, {9, 10}, {2, 4}, {1, 1}, {1, 1}, {0, 1}, {1, 0}},
      {"dilated", 2, 4, 24, 24, {11, 9}, {3, 3}, {1, 1}, {2, 3}, {2, 3}, {1, 3}},
      {"dilated_past_image", 2, 4, 16, 16, {2, 1}, {3, 3}, {1, 1}, {3, 3}, {3, 3}, {3, 3}},
      {"far_stride", 2, 5, 48, 48, {31, 20}, {3, 3}, {3, 2}, {1, 1}, {0, 1}, {1, 0}},
      {"long_rows", 2, 4, 512, 512, {9, 120}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {"line", 1, 4, 64, 64, {30, 1}, {5, 1}, {2, 1}, {1, 1}, {2, 0}, {1, 0}},
      {"one_tap", 2, 4, 32, 32, {6, 6}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
  };
  for (const ConvShape& shape : shapes)
    for (const bool has_bias : {false, true}) {
      SCOPED_TRACE(shape.name);
      expect_taken_by_rows(shape, has_bias);
    }
}

TEST(ConvRows, WhatTakesRows) {
  auto takes = [](const ConvShape& shape, int64_t groups) {
    ConvProblem p = problem_of(shape);
    p.groups = groups;
    return conv::takes_rows(p);
  };
  EXPECT_TRUE(takes({"", 2, 4, 32, 32, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 32));
  EXPECT_FALSE(takes({"", 2, 4, 32, 32, {14, 14}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 1));
  // Too few pieces, rows that nobody needs, and windows that no near cache holds.
  EXPECT_FALSE(takes({"", 2, 1, 32, 32, {14, 14}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}}, 32));
  EXPECT_FALSE(takes({"", 2, 4, 32, 32, {14, 14}, {2, 2}, {3, 3}, {1, 1}, {0, 0}, {0, 0}}, 32));
  EXPECT_FALSE(takes({"", 2, 4, 1024, 1024, {14, 100}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, 1024));
}

}  // namespace
}  // namespace sorus::kernels
