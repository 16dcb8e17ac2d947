#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "sorus/base/thread_pool.h"
#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/core/tensor.h"
#include "tests/compiler/passes/training_step.h"

/// Products and convolutions with what follows them: which graphs are joined, and that joined ones keep every
/// bit, for every kind of kernel that hands over its result piece by piece.
namespace sorus {
namespace {

Graph joined(const std::string& text) {
  Graph graph = Graph::parse(text);
  PassOptions options;
  options.only = {"fuse", "epilogue"};
  run_passes(graph, options);
  return graph;
}

Ref<Value> random_value(const TensorType& type, std::mt19937& random, bool channels_last = false) {
  Ref<Value> value = make_dense(type);
  visit_floating(type.dtype, [&]<class T>(std::type_identity<T>) {
    auto* to = reinterpret_cast<T*>(value->bytes());
    for (int64_t i = 0; i < type.shape.numel(); ++i)
      to[i] = T(static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 1500.0F);
  });
  if (channels_last) value->strides = Strides::channels_last(type.shape);
  return value;
}

/// Puts infinities of both signs and a NaN somewhere into a value.
void put_specials(Value& value, std::mt19937& random) {
  visit_floating(value.type.dtype, [&]<class T>(std::type_identity<T>) {
    auto* to = reinterpret_cast<T*>(value.bytes());
    const auto size = static_cast<size_t>(value.type.shape.numel());
    for (float special : {INFINITY, -INFINITY, NAN}) to[random() % size] = T(special);
  });
}

using Bytes = std::vector<std::vector<std::byte>>;

Bytes bytes_of(std::span<const Ref<Value>> values) {
  Bytes bytes;
  for (const Ref<Value>& v : values) {
    const Tensor t(v);
    bytes.emplace_back(static_cast<size_t>(t.numel()) * dtype_size(t.dtype()));
    t.copy_to(bytes.back().data(), t.dtype());
  }
  return bytes;
}

/// The bytes of the results. With `donate`, they may be written over (copies of) the inputs; otherwise the
/// graph runs three times, at the second of which weights are packed for the third.
Bytes run(const Graph& graph, std::vector<Ref<Value>> in, bool donate, ExecutableReport* report) {
  Executable executable(graph);
  std::vector<char> donated(in.size(), donate ? 1 : 0);
  if (donate)
    for (Ref<Value>& v : in) {
      Ref<Value> copy = make_dense(v->type);
      copy->strides = v->strides;
      std::memcpy(copy->bytes(), v->bytes(), v->storage->bytes());
      v = copy;
    }
  std::vector<Ref<Value>> out(graph.outputs.size());
  executable.run(in, donated, {}, out, true);
  *report = executable.report();
  Bytes bytes = bytes_of(out);
  for (int again = 0; again < (donate ? 0 : 2); ++again) {
    executable.run(in, donated, {}, out, true);
    EXPECT_TRUE(bytes_of(out) == bytes) << "run " << again + 2;
  }
  return bytes;
}

/// The graph gives the bits of its calls one by one, with `specials` where its first two inputs hold special
/// values; returns how many of its calls are joined ones.
int expect_same_bits(const std::string& text, bool specials = false) {
  SCOPED_TRACE(text);
  const Graph plain = Graph::parse(text);
  const Graph passed = joined(text);
  EXPECT_EQ(Graph::parse(passed.text()).text(), Graph::parse(Graph::parse(passed.text()).text()).text());
  ExecutableReport plain_report, report;
  for (const bool channels_last : {false, true}) {
    std::mt19937 random(7);
    std::vector<Ref<Value>> in;
    for (ValueId v : plain.inputs)
      in.push_back(random_value(plain.type(v), random, channels_last && plain.type(v).shape.rank() == 4));
    for (size_t i = 0; specials && i < 2; ++i) put_specials(*in[i], random);
    const Bytes expected = run(plain, in, false, &plain_report);
    for (int threads : {1, 2, 3}) {
      set_num_threads(threads);
      const bool donate = (threads == 2) != channels_last;
      EXPECT_TRUE(run(passed, in, donate, &report) == expected)
          << threads << " threads, donated " << donate << ", channels last " << channels_last;
    }
    set_num_threads(2);
  }
  EXPECT_GE(report.nodes, plain_report.nodes);  // a reshape may stand inside and beside the call
  return report.epilogues;
}

/// An update stands behind the product that reads the old weight, so that it can be written over it.
TEST(Epilogue, UpdatesOfWeightsAreInPlace) {
  for (int layers : {1, 2, 6, 12}) {
    SCOPED_TRACE(layers);
    const Graph plain = Graph::parse(training_step(layers));
    Graph graph = plain;
    PassOptions options;
    options.only = {"fuse", "epilogue", "order"};
    run_passes(graph, options);
    ExecutableReport plain_report, report;
    const Bytes expected = bytes_of(results_of(plain, &plain_report));
    EXPECT_TRUE(bytes_of(results_of(std::move(graph), &report)) == expected);
    EXPECT_GE(report.epilogues, layers);
    EXPECT_EQ(report.donations, layers);
  }
}

TEST(Epilogue, AProductAndWhatFollowsBecomeOneCall) {
  EXPECT_EQ(joined("graph @g(%0: float32(8, 4), %1: float32(4, 6), %2: float32(6,)) {\n"
                   "  %3 = matmul(%0, %1) : float32(8, 6)\n"
                   "  %4 = reshape(%3) {shape=(2, 4, 6)} : float32(2, 4, 6)\n"
                   "  %5 = add(%4, %2) : float32(2, 4, 6)\n"
                   "  %6 = gelu(%5) : float32(2, 4, 6)\n"
                   "  return %6\n"
                   "}\n")
                .text(),
            "graph @g(%0: float32(8, 4), %1: float32(4, 6), %2: float32(6,)) {\n"
            "  %3 = call(%0, %1, %2) graph @fused(%0: float32(8, 4), %1: float32(4, 6), %2: float32(6,)) {\n"
            "    %3 = matmul(%0, %1) : float32(8, 6)\n"
            "    %4 = reshape(%3) {shape=(2, 4, 6)} : float32(2, 4, 6)\n"
            "    %5 = call(%4, %2) graph @fused(%0: float32(2, 4, 6), %1: float32(6,)) {\n"
            "      %2 = add(%0, %1) : float32(2, 4, 6)\n"
            "      %3 = gelu(%2) : float32(2, 4, 6)\n"
            "      return %3\n"
            "    } : float32(2, 4, 6)\n"
            "    return %5\n"
            "  } : float32(2, 4, 6)\n"
            "  return %3\n"
            "}\n");
}

TEST(Epilogue, OneCallAloneFollowsToo) {
  const Graph g = joined(
      "graph @g(%0: float32(8, 4), %1: float32(4, 6)) {\n"
      "  %2 = matmul(%0, %1) : float32(8, 6)\n"
      "  %3 = relu(%2) : float32(8, 6)\n"
      "  return %3\n"
      "}\n");
  ASSERT_EQ(g.nodes.size(), 1U);
  EXPECT_EQ(g.nodes[0].body->nodes.size(), 2U);
}

/// A value that others read, as a gradient does, is a result of the call as well.
TEST(Epilogue, WhatOthersReadIsAResult) {
  const std::string text =
      "graph @g(%0: float32(40, 24), %1: float32(24, 6), %2: float32(6,)) {\n"
      "  %3 = matmul(%0, %1) : float32(40, 6)\n"
      "  %4 = reshape(%3) {shape=(4, 10, 6)} : float32(4, 10, 6)\n"
      "  %5 = add(%4, %2) : float32(4, 10, 6)\n"
      "  %6 = gelu(%5) : float32(4, 10, 6)\n"
      "  %7 = sum(%4) {axes=(1,), keepdims=true} : float32(4, 1, 6)\n"
      "  return %3, %5, %6, %7\n"
      "}\n";
  const Graph g = joined(text);
  ASSERT_EQ(g.nodes.size(), 3U);
  EXPECT_EQ(g.nodes[0].out.size(), 3U);
  EXPECT_EQ(g.nodes[1].op->name, "reshape");
  EXPECT_EQ(expect_same_bits(text), 1);
}

TEST(Epilogue, OfSeveralProductsTheLastOneIsJoined) {
  const std::string text =
      "graph @g(%0: float32(40, 24), %1: float32(24, 6)) {\n"
      "  %2 = matmul(%0, %1) : float32(40, 6)\n"
      "  %3 = exp(%0) : float32(40, 24)\n"
      "  %4 = matmul(%3, %1) : float32(40, 6)\n"
      "  %5 = add(%2, %4) : float32(40, 6)\n"
      "  %6 = relu(%5) : float32(40, 6)\n"
      "  return %6\n"
      "}\n";
  const Graph g = joined(text);
  ASSERT_EQ(g.nodes.size(), 3U);
  EXPECT_EQ(g.nodes[0].op->name, "matmul");
  EXPECT_TRUE(g.nodes[2].body);
  EXPECT_EQ(expect_same_bits(text), 1);
}

/// What lies between needs neither: the calls go up to the product.
TEST(Epilogue, CallsRiseToTheProduct) {
  const Graph g = joined(
      "graph @g(%0: float32(40, 24), %1: float32(24, 6)) {\n"
      "  %2 = matmul(%0, %1) : float32(40, 6)\n"
      "  %3 = exp(%0) : float32(40, 24)\n"
      "  %4 = matmul(%3, %1) : float32(40, 6)\n"
      "  %5 = softmax(%4) {axis=1} : float32(40, 6)\n"
      "  %6 = relu(%2) : float32(40, 6)\n"
      "  return %5, %6\n"
      "}\n");
  ASSERT_EQ(g.nodes.size(), 4U);
  EXPECT_TRUE(g.nodes[0].body);
  EXPECT_EQ(g.nodes[3].op->name, "softmax");
}

/// As an inference norm is written: its scale is computed after the convolution, of which nothing must be
/// kept.
TEST(Epilogue, SmallCallsRiseBeforeTheHead) {
  const std::string text =
      "graph @g(%0: float32(2, 64, 20, 20), %1: float32(8, 64, 1, 1), %2: float32(8,)) {\n"
      "  %3 = exp(%0) : float32(2, 64, 20, 20)\n"
      "  %4 = conv(%3, %1) {stride=(1, 1), padding=(0, 0, 0, 0), dilation=(1, 1), groups=1, size=()} : "
      "float32(2, 8, 20, 20)\n"
      "  %5 = sqrt(%2) : float32(8,)\n"
      "  %6 = reshape(%5) {shape=(1, 8, 1, 1)} : float32(1, 8, 1, 1)\n"
      "  %7 = mul(%4, %6) : float32(2, 8, 20, 20)\n"
      "  %8 = relu(%7) : float32(2, 8, 20, 20)\n"
      "  return %8\n"
      "}\n";
  const Graph g = joined(text);
  ASSERT_EQ(g.nodes.size(), 4U);
  EXPECT_EQ(g.nodes[1].op->name, "sqrt");
  EXPECT_TRUE(g.nodes[3].body);
}

/// The other operand comes after the product, whose own operands are kept anyway: the product goes down.
TEST(Epilogue, AProductSinksToItsCalls) {
  const std::string text =
      "graph @g(%0: float32(400, 96), %1: float32(96, 6)) {\n"
      "  %2 = matmul(%0, %1) : float32(400, 6)\n"
      "  %3 = softmax(%0) {axis=1} : float32(400, 96)\n"
      "  %4 = sum(%3) {axes=(1,), keepdims=true} : float32(400, 1)\n"
      "  %5 = mul(%2, %4) : float32(400, 6)\n"
      "  return %3, %5\n"
      "}\n";
  const Graph g = joined(text);
  ASSERT_EQ(g.nodes.size(), 2U);
  EXPECT_TRUE(g.nodes[1].body);
  EXPECT_EQ(expect_same_bits(text), 1);
}

TEST(Epilogue, LeavesAlone) {
  auto joins = [](const std::string& text) {
    const Graph g = joined(text);
    return std::count_if(g.nodes.begin(), g.nodes.end(),
                         [](const Node& n) { return n.body && n.body->nodes.back().body; });
  };
  // Somebody reads the product before.
  EXPECT_EQ(joins("graph @g(%0: float32(8, 8)) {\n"
                  "  %1 = matmul(%0, %0) : float32(8, 8)\n"
                  "  %2 = matmul(%1, %0) : float32(8, 8)\n"
                  "  %3 = softmax(%2) {axis=1} : float32(8, 8)\n"
                  "  %4 = sum(%3) {axes=(0,), keepdims=false} : float32(8,)\n"
                  "  %5 = add(%1, %4) : float32(8, 8)\n"
                  "  return %5\n"
                  "}\n"),
            0);
  // The product is repeated along an axis.
  EXPECT_EQ(joins("graph @g(%0: float32(8, 8), %1: float32(3, 8, 8)) {\n"
                  "  %2 = matmul(%0, %0) : float32(8, 8)\n"
                  "  %3 = add(%2, %1) : float32(3, 8, 8)\n"
                  "  return %3\n"
                  "}\n"),
            0);
  // Rows come whole.
  EXPECT_EQ(joins("graph @g(%0: float32(8, 8)) {\n"
                  "  %1 = matmul(%0, %0) : float32(8, 8)\n"
                  "  %2 = relu(%1) : float32(8, 8)\n"
                  "  %3 = softmax(%2) {axis=1} : float32(8, 8)\n"
                  "  return %3\n"
                  "}\n"),
            0);
  // The reference kernel of integers has no pieces.
  EXPECT_EQ(joins("graph @g(%0: int32(8, 8)) {\n"
                  "  %1 = matmul(%0, %0) : int32(8, 8)\n"
                  "  %2 = add(%1, %0) : int32(8, 8)\n"
                  "  return %2\n"
                  "}\n"),
            0);
  // A strided convolution of one tap puts its gradient together afterwards.
  EXPECT_EQ(joins("graph @g(%0: float32(2, 8, 4, 4), %1: float32(8, 8, 1, 1)) {\n"
                  "  %2 = conv_backward_input(%0, %1) {stride=(2, 2), padding=(0, 0, 0, 0), dilation=(1, 1), "
                  "groups=1, size=(8, 8)} : float32(2, 8, 8, 8)\n"
                  "  %3 = relu(%2) : float32(2, 8, 8, 8)\n"
                  "  return %3\n"
                  "}\n"),
            0);
}

struct Product {
  int64_t batch, m, k, n;
  bool transposed;  ///< b lies as the weights of a layer do
};

/// Small ones, tiles of rows, tiles of columns, few rows by a transposed matrix, long sums, batches.
TEST(Epilogue, ProductsKeepEveryBit) {
  const Product products[] = {{0, 1, 1, 1, false},      {0, 7, 5, 3, false},       {0, 700, 64, 96, false},
                              {0, 33, 700, 130, true},  {0, 600, 768, 512, true},  {0, 8, 256, 1000, true},
                              {0, 90, 5000, 40, true},  {0, 20, 4500, 300, false}, {3, 50, 20, 70, false},
                              {0, 3000, 32, 600, false}};
  int joins = 0;
  for (const char* dtype : {"float32", "bfloat16"})
    for (const Product& p : products) {
      const std::string shape =
          p.batch ? fmt::format("({}, {}, {})", p.batch, p.m, p.n) : fmt::format("({}, {})", p.m, p.n);
      const std::string b = p.batch        ? fmt::format("({}, {}, {})", p.batch, p.k, p.n)
                            : p.transposed ? fmt::format("({}, {})", p.n, p.k)
                                           : fmt::format("({}, {})", p.k, p.n);
      const std::string a =
          p.batch ? fmt::format("({}, {}, {})", p.batch, p.m, p.k) : fmt::format("({}, {})", p.m, p.k);
      const std::string t = dtype;
      std::string text = "graph @g(%0: " + t + a + ", %1: " + t + b + ", %2: " + t + "(" +
                         std::to_string(p.n) + ",), %3: " + t + shape + ", %4: " + t + "()) {\n";
      const bool turns = p.transposed && p.batch == 0;
      if (turns) text += fmt::format("  %5 = transpose(%1) {{axes=(1, 0)}} : {}({}, {})\n", t, p.k, p.n);
      text += fmt::format("  %6 = matmul(%0, %{}) : {}{}\n", turns ? 5 : 1, t, shape);
      text += "  %7 = add(%6, %2) : " + t + shape + "\n  %8 = gelu(%7) : " + t + shape +
              "\n  %9 = mul(%8, %4) : " + t + shape + "\n  %10 = add(%3, %9) : " + t + shape;
      joins += expect_same_bits(text + "\n  return %10\n}\n");
      joins += expect_same_bits(text + "\n  return %6, %7, %10\n}\n");
    }
  EXPECT_GE(joins, 8);
}

struct Layer {
  int64_t n, in, out, extent, kernel, stride, padding, groups;
};

/// Few channels, many channels and few positions (taps, slices), pieces of images and rows, products over
/// positions, groups.
const Layer kLayers[] = {{2, 3, 6, 12, 5, 1, 2, 1},     {2, 512, 512, 7, 3, 1, 1, 1},
                         {1, 256, 256, 14, 3, 1, 1, 1}, {3, 32, 48, 20, 3, 1, 1, 1},
                         {1, 64, 64, 56, 3, 1, 1, 1},   {2, 64, 256, 28, 1, 1, 0, 1},
                         {2, 64, 128, 28, 1, 2, 0, 1},  {2, 64, 64, 14, 3, 2, 1, 64},
                         {2, 5, 7, 9, 1, 2, 0, 1},      {4, 128, 512, 7, 1, 1, 0, 1}};

/// Forward with an inference norm and a sum, and the gradient of the input.
int expect_same_bits_of(const Layer& l, const std::string& t, bool specials) {
  const int64_t size = (l.extent + 2 * l.padding - l.kernel) / l.stride + 1;
  const std::string x = fmt::format("{}({}, {}, {}, {})", t, l.n, l.in, l.extent, l.extent);
  const std::string w = fmt::format("{}({}, {}, {}, {})", t, l.out, l.in / l.groups, l.kernel, l.kernel);
  const std::string y = fmt::format("{}({}, {}, {}, {})", t, l.n, l.out, size, size);
  const std::string channel = fmt::format("{}(1, {}, 1, 1)", t, l.out);
  const std::string attributes =
      fmt::format("stride=({0}, {0}), padding=({1}, {1}, {1}, {1}), dilation=(1, 1), groups={2}", l.stride,
                  l.padding, l.groups);
  int joins =
      expect_same_bits("graph @g(%0: " + x + ", %1: " + w + ", %2: " + channel + ", %3: " + channel +
                           ", %4: " + y + ") {\n  %5 = conv(%0, %1) {" + attributes + ", size=()} : " + y +
                           "\n  %6 = mul(%5, %2) : " + y + "\n  %7 = add(%6, %3) : " + y +
                           "\n  %8 = add(%7, %4) : " + y + "\n  %9 = relu(%8) : " + y + "\n  return %9\n}\n",
                       specials);
  joins += expect_same_bits(
      "graph @g(%0: " + y + ", %1: " + w + ", %2: " + x + ") {\n" + "  %3 = conv_backward_input(%0, %1) {" +
          attributes + fmt::format(", size=({0}, {0})}} : ", l.extent) + x + "\n  %4 = add(%2, %3) : " + x +
          "\n  %5 = sigmoid(%4) : " + x + "\n  return %4, %5\n}\n",
      specials);
  return joins;
}

int expect_same_bits_of_all(bool specials) {
  int joins = 0;
  for (const std::string dtype : {"float32", "bfloat16"})
    for (const Layer& l : kLayers) joins += expect_same_bits_of(l, dtype, specials);
  return joins;
}

TEST(Epilogue, ConvolutionsKeepEveryBit) { EXPECT_GE(expect_same_bits_of_all(false), 8); }

/// Results that kernels have spoilt are mended before what follows reads them.
TEST(Epilogue, ConvolutionsOfSpecialValuesKeepEveryBit) { EXPECT_GE(expect_same_bits_of_all(true), 8); }

}  // namespace
}  // namespace sorus
