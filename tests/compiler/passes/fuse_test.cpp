#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/core/tensor.h"

namespace sorus {
namespace {

Graph fused(const std::string& text) {
  Graph graph = Graph::parse(text);
  PassOptions options;
  options.only = {"fuse"};
  run_passes(graph, options);
  return graph;
}

/// Values that differ from one element to the next.
template <class T = float>
Tensor numbers(const Shape& shape, double scale = 0.01) {
  std::vector<T> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = T(static_cast<float>(scale * (static_cast<double>(i % 997) - 300)));
  return Tensor(std::span<const T>(v), shape);
}

std::vector<std::byte> bytes_of(const Ref<Value>& v) {
  const Tensor t(v);
  std::vector<std::byte> out(static_cast<size_t>(t.numel()) * dtype_size(t.dtype()));
  t.copy_to(out.data(), t.dtype());
  return out;
}

std::vector<Ref<Value>> run(Graph graph, const std::vector<Tensor>& in) {
  Executable executable(std::move(graph));
  std::vector<Ref<Value>> values;
  for (const Tensor& t : in) values.push_back(t.value());
  std::vector<char> donated(values.size(), 0);
  std::vector<Ref<Value>> out(executable.graph().outputs.size());
  executable.run(values, donated, {}, out, true);
  return out;
}

/// The results are those of the calls one by one, to the bit.
void expect_same_bits(const std::string& text, const std::vector<Tensor>& in) {
  const std::vector<Ref<Value>> expected = run(Graph::parse(text), in);
  const std::vector<Ref<Value>> got = run(fused(text), in);
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(bytes_of(got[i]) == bytes_of(expected[i])) << "result " << i;
}

TEST(Fuse, AChainBecomesOneCall) {
  EXPECT_EQ(fused("graph @g(%0: float32(2, 3), %1: float32(3,)) {\n"
                  "  %2 = mul(%0, %1) : float32(2, 3) # a.py:1\n"
                  "  %3 = tanh(%2) : float32(2, 3) # a.py:2\n"
                  "  return %3\n"
                  "}\n")
                .text(),
            "graph @g(%0: float32(2, 3), %1: float32(3,)) {\n"
            "  %2 = call(%0, %1) graph @fused(%0: float32(2, 3), %1: float32(3,)) {\n"
            "    %2 = mul(%0, %1) : float32(2, 3) # a.py:1\n"
            "    %3 = tanh(%2) : float32(2, 3) # a.py:2\n"
            "    return %3\n"
            "  } : float32(2, 3) # a.py:2\n"
            "  return %2\n"
            "}\n");
}

TEST(Fuse, OneCallAloneStays) {
  const Graph g = fused(
      "graph @g(%0: float32(4,)) {\n"
      "  %1 = exp(%0) : float32(4,)\n"
      "  return %1\n"
      "}\n");
  ASSERT_EQ(g.nodes.size(), 1U);
  EXPECT_FALSE(g.nodes[0].body);
}

TEST(Fuse, ValuesThatOthersReadAreResults) {
  const Graph g = fused(
      "graph @g(%0: float32(4, 4)) {\n"
      "  %1 = exp(%0) : float32(4, 4)\n"
      "  %2 = tanh(%1) : float32(4, 4)\n"
      "  %3 = matmul(%1, %2) : float32(4, 4)\n"
      "  return %2, %3\n"
      "}\n");
  ASSERT_EQ(g.nodes.size(), 2U);
  EXPECT_EQ(g.nodes[0].out.size(), 2U);
  EXPECT_EQ(g.nodes[1].op->name, "matmul");
}

/// exp feeds a product whose result meets exp again: together they would need themselves.
TEST(Fuse, NoRegionNeedsItself) {
  const Graph g = fused(
      "graph @g(%0: float32(4, 4)) {\n"
      "  %1 = exp(%0) : float32(4, 4)\n"
      "  %2 = matmul(%1, %1) : float32(4, 4)\n"
      "  %3 = add(%1, %2) : float32(4, 4)\n"
      "  return %3\n"
      "}\n");
  EXPECT_EQ(g.nodes.size(), 3U);
}

/// Each pair alone would be fine; both together would be a circle of two regions.
TEST(Fuse, NoTwoRegionsNeedEachOther) {
  const std::string text =
      "graph @g(%0: float32(4, 4), %1: float32(4, 4)) {\n"
      "  %2 = exp(%0) : float32(4, 4)\n"
      "  %3 = tanh(%1) : float32(4, 4)\n"
      "  %4 = matmul(%2, %2) : float32(4, 4)\n"
      "  %5 = matmul(%3, %3) : float32(4, 4)\n"
      "  %6 = add(%3, %4) : float32(4, 4)\n"
      "  %7 = add(%2, %5) : float32(4, 4)\n"
      "  return %6, %7\n"
      "}\n";
  EXPECT_EQ(fused(text).nodes.size(), 5U);
  expect_same_bits(text, {numbers({4, 4}), numbers({4, 4}, 0.02)});
}

TEST(Fuse, CallsThatCheckValuesStayOut) {
  const Graph g = fused(
      "graph @g(%0: float32(4, 8), %1: int32(4,)) {\n"
      "  %2 = exp(%0) : float32(4, 8)\n"
      "  %3 = softmax_cross_entropy(%2, %1) {ignore_index=-100, label_smoothing=0x0p+0} : float32(4,)\n"
      "  %4 = tanh(%3) : float32(4,)\n"
      "  return %4\n"
      "}\n");
  EXPECT_EQ(g.nodes.size(), 3U);
}

TEST(Fuse, RowsTakeTheirPrologueAndEpilogue) {
  const std::string text =
      "graph @g(%0: float32(70, 96), %1: float32(), %2: float32(96,), %3: float32(96,)) {\n"
      "  %4 = mul(%0, %1) : float32(70, 96)\n"
      "  %5 = add(%4, %2) : float32(70, 96)\n"
      "  %6 = gelu(%5) : float32(70, 96)\n"
      "  %7, %8, %9 = layer_norm(%6, %2, %3) {begin_axis=1, groups=1, epsilon=0x1.4f8b588e368f1p-17} : "
      "float32(70, 96), float32(70, 1), float32(70, 1)\n"
      "  %10 = tanh(%7) : float32(70, 96)\n"
      "  return %10, %8\n"
      "}\n";
  const Graph g = fused(text);
  ASSERT_EQ(g.nodes.size(), 1U);
  EXPECT_EQ(g.nodes[0].out.size(), 2U);
  expect_same_bits(text, {numbers({70, 96}), numbers({}), numbers({96}), numbers({96}, 0.1)});
}

TEST(Fuse, ReductionsThatKeepTheirAxisMeetTheRowsAgain) {
  const std::string text =
      "graph @g(%0: float32(3, 50, 33), %1: float32(33,)) {\n"
      "  %2 = add(%0, %1) : float32(3, 50, 33)\n"
      "  %3 = amax(%2) {axes=(2,), keepdims=true} : float32(3, 50, 1)\n"
      "  %4 = sub(%2, %3) : float32(3, 50, 33)\n"
      "  %5 = exp(%4) : float32(3, 50, 33)\n"
      "  %6 = sum(%5) {axes=(2,), keepdims=true} : float32(3, 50, 1)\n"
      "  %7 = log(%6) : float32(3, 50, 1)\n"
      "  %8 = div(%5, %6) : float32(3, 50, 33)\n"
      "  %9 = mean(%8) {axes=(2,), keepdims=false} : float32(3, 50)\n"
      "  return %8, %9, %7\n"
      "}\n";
  ASSERT_EQ(fused(text).nodes.size(), 1U);
  expect_same_bits(text, {numbers({3, 50, 33}), numbers({33})});
}

/// A sum that loses its axis would meet the elements along the wrong one.
TEST(Fuse, AReductionWithoutItsAxisEndsARegion) {
  const std::string text =
      "graph @g(%0: float32(5, 5)) {\n"
      "  %1 = exp(%0) : float32(5, 5)\n"
      "  %2 = sum(%1) {axes=(1,), keepdims=false} : float32(5,)\n"
      "  %3 = sub(%0, %2) : float32(5, 5)\n"
      "  return %3\n"
      "}\n";
  EXPECT_EQ(fused(text).nodes.size(), 2U);
  expect_same_bits(text, {numbers({5, 5})});
}

/// A mean over the pixels of a convolution's result, whose channels lie innermost, is no row of a region, for
/// which all of it would be turned around.
TEST(Fuse, RowsOfChannelsLastValuesStayOut) {
  const std::string text =
      "graph @g(%0: float32(2, 32, 12, 12), %1: float32(48, 32, 1, 1), %2: float32(1, 48, 1, 1)) {\n"
      "  %3 = conv(%0, %1) {stride=(1, 1), padding=(0, 0, 0, 0), dilation=(1, 1), groups=1, size=()} : "
      "float32(2, 48, 12, 12)\n"
      "  %4 = add(%3, %2) : float32(2, 48, 12, 12)\n"
      "  %5 = silu(%4) : float32(2, 48, 12, 12)\n"
      "  %6 = mean(%5) {axes=(2, 3), keepdims=true} : float32(2, 48, 1, 1)\n"
      "  %7 = mul(%5, %6) : float32(2, 48, 12, 12)\n"
      "  return %7\n"
      "}\n";
  const Graph g = fused(text);
  ASSERT_EQ(g.nodes.size(), 4U);
  EXPECT_EQ(g.nodes[2].op->name, "mean");
  expect_same_bits(text, {numbers({2, 32, 12, 12}), numbers({48, 32, 1, 1}), numbers({1, 48, 1, 1})});
}

TEST(Fuse, SixteenBitValuesRoundAfterEveryCall) {
  const std::string text =
      "graph @g(%0: bfloat16(9, 200), %1: bfloat16(200,)) {\n"
      "  %2 = mul(%0, %1) : bfloat16(9, 200)\n"
      "  %3 = add(%2, %1) : bfloat16(9, 200)\n"
      "  %4 = greater(%3, %2) : bool(9, 200)\n"
      "  %5 = where(%4, %3, %0) : bfloat16(9, 200)\n"
      "  %6 = softmax(%5) {axis=1} : bfloat16(9, 200)\n"
      "  %7 = cast(%6) {dtype=float32} : float32(9, 200)\n"
      "  return %7, %2\n"
      "}\n";
  ASSERT_EQ(fused(text).nodes.size(), 1U);
  expect_same_bits(text, {numbers<BFloat16>({9, 200}), numbers<BFloat16>({200})});
}

TEST(Fuse, AnyStridesGiveTheSameBits) {
  const std::string text =
      "graph @g(%0: float32(2, 8, 30, 31), %1: float32(1, 8, 1, 1), %2: float32(30, 1)) {\n"
      "  %3 = mul(%0, %1) : float32(2, 8, 30, 31)\n"
      "  %4 = add(%3, %2) : float32(2, 8, 30, 31)\n"
      "  %5 = relu(%4) : float32(2, 8, 30, 31)\n"
      "  return %5\n"
      "}\n";
  ASSERT_EQ(fused(text).nodes.size(), 1U);
  const Tensor x = numbers({2, 8, 30, 31});
  expect_same_bits(text, {x, numbers({1, 8, 1, 1}), numbers({30, 1})});
  Ref<Value> last = Value::make(x.type());
  last->strides = Strides::channels_last(x.shape());
  last->storage = Storage::allocate(static_cast<size_t>(x.numel()) * 4);
  const Strides row_major = Strides::contiguous(x.shape());
  copy_strided(x.value()->bytes(), row_major, last->bytes(), last->strides, x.shape(), 4);
  expect_same_bits(text, {Tensor(last), numbers({1, 8, 1, 1}), numbers({30, 1})});
  expect_same_bits(
      "graph @g(%0: float32(2, 8, 30, 31)) {\n"
      "  %1 = exp(%0) : float32(2, 8, 30, 31)\n"
      "  %2 = softmax(%1) {axis=3} : float32(2, 8, 30, 31)\n"
      "  return %2\n"
      "}\n",
      {Tensor(last)});
}

TEST(Fuse, ResultsTakeThePlaceOfDeadOperands) {
  Graph graph = fused(
      "graph @g(%0: float32(100,), %1: float32(100,)) {\n"
      "  %2 = exp(%0) : float32(100,)\n"
      "  %3 = mul(%2, %1) : float32(100,)\n"
      "  %4 = cumsum(%3) {axis=0, exclusive=false, reverse=false} : float32(100,)\n"
      "  %5 = tanh(%4) : float32(100,)\n"
      "  %6 = add(%5, %3) : float32(100,)\n"
      "  return %6\n"
      "}\n");
  Executable executable(std::move(graph));
  const ExecutableReport report = executable.report();
  EXPECT_EQ(report.nodes, 5);
  EXPECT_EQ(report.regions, 2);
  EXPECT_EQ(report.fused_nodes, 4);
  EXPECT_EQ(report.steps, 3);
  EXPECT_EQ(report.in_place, 1);
}

/// The sum of transposed operands goes through memory in their order, the rest in the other one.
TEST(Fuse, CallsKeepToTheOrdersOfTheirOperands) {
  const std::string text =
      "graph @g(%0: float32(60, 50), %1: float32(60, 50), %2: float32(60, 50), %3: float32(50, 60)) {\n"
      "  %4 = transpose(%0) {axes=(1, 0)} : float32(50, 60)\n"
      "  %5 = transpose(%1) {axes=(1, 0)} : float32(50, 60)\n"
      "  %6 = transpose(%2) {axes=(1, 0)} : float32(50, 60)\n"
      "  %7 = mul(%3, %3) : float32(50, 60)\n"
      "  %8 = add(%4, %5) : float32(50, 60)\n"
      "  %9 = add(%8, %6) : float32(50, 60)\n"
      "  %10 = add(%7, %9) : float32(50, 60)\n"
      "  %11 = tanh(%10) : float32(50, 60)\n"
      "  return %9, %11\n"
      "}\n";
  Graph graph = fused(text);
  ASSERT_EQ(graph.nodes.size(), 4U);
  const ExecutableReport report = Executable(std::move(graph)).report();
  EXPECT_EQ(report.regions, 2);
  EXPECT_EQ(report.fused_nodes, 5);
  EXPECT_EQ(report.steps, 2);
  expect_same_bits(text,
                   {numbers({60, 50}), numbers({60, 50}, 0.02), numbers({60, 50}, 0.03), numbers({50, 60})});
}

/// Both results of an update go over what they replace; the gradient's memory stays inside.
TEST(Fuse, ResultsThatLeaveTakeThePlaceOfInputs) {
  Graph graph = fused(
      "graph @g(%0: float32(), %1: float32(100,), %2: float32(100,), %3: float32(100,)) {\n"
      "  %4 = cumsum(%2) {axis=0, exclusive=false, reverse=false} : float32(100,)\n"
      "  %5 = mul(%0, %1) : float32(100,)\n"
      "  %6 = add(%5, %4) : float32(100,)\n"
      "  %7 = sub(%3, %6) : float32(100,)\n"
      "  return %6, %7\n"
      "}\n");
  const ExecutableReport report = Executable(std::move(graph)).report();
  EXPECT_EQ(report.regions, 1);
  EXPECT_EQ(report.donations, 2);
  EXPECT_EQ(report.planned_bytes, 448);
}

/// Together, the sums would keep all products alive until the last one is there; small ones may wait.
TEST(Fuse, SumsOfLargeProductsTakeEachAsItComes) {
  auto regions = [](int n) {
    const std::string type = fmt::format("float32({}, {})", n, n);
    std::string text = "graph @g(%0: " + type + ") {\n  %1 = matmul(%0, %0) : " + type + "\n";
    for (int i = 2; i < 10; i += 2)
      text += fmt::format("  %{0} = matmul(%0, %0) : {1}\n  %{2} = add(%{3}, %{0}) : {1}\n", i, type, i + 1,
                          i - 1);
    return fused(text + "  return %9\n}\n").nodes.size();
  };
  EXPECT_EQ(regions(128), 9U);
  EXPECT_LT(regions(16), 9U);
}

}  // namespace
}  // namespace sorus
