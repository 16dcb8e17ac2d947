#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "sorus/base/thread_pool.h"
#include "sorus/base/tunable.h"
#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/core/tensor.h"
#include "sorus/dispatch/kernel.h"

/// Convolutions of one tap that run as the depthwise convolutions after them want their results: which graphs
/// are joined, and that joined ones keep every bit.
namespace sorus {
namespace {

/// An expanding convolution and a depthwise one, each with a norm and an activation.
struct Block {
  int64_t n = 1, in = 16, channels = 96;
  int64_t height = 56, width = 56;
  int64_t kernel = 3, stride = 1, padding = 1, dilation = 1;
  const char* activation = "relu6";
  const char* dtype = "float32";
  int64_t first_stride = 1;
  bool is_depthwise = true;
  bool has_bias = false;
  const char* more = "";     ///< lines between the convolutions; %10 is what the second one reads
  const char* results = "";  ///< beside that of the second one

  [[nodiscard]] int64_t size(int64_t length) const {
    return (length + 2 * padding - (kernel - 1) * dilation - 1) / stride + 1;
  }
  [[nodiscard]] std::string text() const {
    auto type = [&](int64_t a, int64_t b, int64_t c, int64_t d) {
      return fmt::format("{}({}, {}, {}, {})", dtype, a, b, c, d);
    };
    const int64_t groups = is_depthwise ? channels : 1;
    const std::string x = type(n, in, height * first_stride, width * first_stride);
    const std::string y = type(n, channels, height, width), z = type(n, channels, size(height), size(width));
    const std::string w = type(channels, in, 1, 1), v = type(channels, channels / groups, kernel, kernel);
    const std::string row = type(1, channels, 1, 1), bias = fmt::format("{}({},)", dtype, channels);
    std::string text = "graph @g(%0: " + x + ", %1: " + w + ", %2: " + v;
    for (int i = 3; i < 7; ++i) text += fmt::format(", %{}: {}", i, row);
    text += ", %50: " + bias + ") {\n";
    const std::string with_bias = has_bias ? ", %50" : "";
    text += fmt::format(
        "  %7 = conv(%0, %1{0}) {{stride=({1}, {1}), padding=(0, 0, 0, 0), dilation=(1, 1), groups=1, "
        "size=()}} : {2}\n",
        with_bias, first_stride, y);
    text += "  %8 = mul(%7, %3) : " + y + "\n  %9 = add(%8, %4) : " + y + "\n";
    text += fmt::format("  %10 = {}(%9) : {}\n", activation, y) + more;
    text += fmt::format(
        "  %20 = conv(%10, %2{0}) {{stride=({1}, {1}), padding=({2}, {2}, {2}, {2}), dilation=({3}, {3}), "
        "groups={4}, size=()}} : {5}\n",
        with_bias, stride, padding, dilation, groups, z);
    text += "  %21 = mul(%20, %5) : " + z + "\n  %22 = add(%21, %6) : " + z + "\n";
    return text + fmt::format("  %23 = {}(%22) : {}\n  return %23{}\n}}\n", activation, z, results);
  }
};

Graph passed(const std::string& text, bool with_pass = true) {
  Graph graph = Graph::parse(text);
  PassOptions options;
  options.only = {"fuse", "epilogue", "order", "bundle"};
  if (with_pass) options.only.emplace_back("depth_first");
  run_passes(graph, options);
  return graph;
}

int64_t pairs_of(const Graph& graph) {
  return std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) {
    return n.body && n.body->nodes.front().body && n.body->nodes.front().body->nodes.back().body;
  });
}
int64_t pairs_of(const Block& block) { return pairs_of(passed(block.text())); }

/// Pairs of values of any size.
class SmallValues {
 public:
  SmallValues() : scope_(&values()) {}

 private:
  static const TunedValues& values() {
    static const TunedValues all = TunedValues::parse("depth_first.least_bytes=65536");
    return all;
  }
  TuningScope scope_;
};

TEST(DepthFirst, TwoConvolutionsBecomeOneCall) {
  const Graph g = passed(Block{}.text());
  ASSERT_EQ(g.nodes.size(), 1U);
  const Graph& body = *g.nodes[0].body;
  ASSERT_EQ(body.nodes.size(), 2U);
  for (const Node& n : body.nodes) EXPECT_EQ(n.body->nodes.front().op->name, "conv");
  EXPECT_EQ(body.outputs.size(), 1U);
  EXPECT_EQ(Graph::parse(g.text()).text(), g.text());
  ExecutableReport report = Executable(g).report();
  EXPECT_EQ(report.depth_first, 1);
  EXPECT_EQ(report.regions, 1);
  EXPECT_EQ(report.epilogues, 2);
  EXPECT_EQ(report.bundled, 0);
  EXPECT_EQ(report.nodes, 8);
}

TEST(DepthFirst, TheValueBetweenTakesNoMemory) {
  const Block block{.n = 2, .stride = 2};
  const int64_t between = 4 * block.n * block.channels * block.height * block.width;
  const ExecutableReport apart = Executable(passed(block.text(), false)).report();
  const ExecutableReport joined = Executable(passed(block.text())).report();
  EXPECT_LT(joined.planned_bytes, apart.planned_bytes - between / 2);
}

TEST(DepthFirst, JoinsWhatItCan) {
  EXPECT_EQ(pairs_of({.n = 2, .stride = 2}), 1);
  EXPECT_EQ(
      pairs_of({.n = 8, .in = 40, .channels = 240, .height = 28, .width = 28, .kernel = 5, .padding = 2}), 1);
  EXPECT_EQ(pairs_of({.activation = "silu"}), 1);
  EXPECT_EQ(pairs_of({.channels = 100}), 1);
  EXPECT_EQ(pairs_of({.has_bias = true}), 1);
}

TEST(DepthFirst, LeavesAlone) {
  // The value is small.
  EXPECT_EQ(pairs_of({.height = 28, .width = 28}), 0);
  // Somebody else reads it, as a gradient does.
  EXPECT_EQ(pairs_of({.more = "  %11 = exp(%10) : float32(1, 96, 56, 56)\n", .results = ", %11"}), 0);
  EXPECT_EQ(
      pairs_of({.more = "  %11 = sum(%10) {axes=(), keepdims=false} : float32()\n", .results = ", %11"}), 0);
  // It is a result of the graph, or the convolution's own result is.
  EXPECT_EQ(pairs_of({.results = ", %10"}), 0);
  EXPECT_EQ(pairs_of({.results = ", %7"}), 0);
  // The second convolution is not depthwise.
  EXPECT_EQ(pairs_of({.is_depthwise = false}), 0);
  // The first one has a stride.
  EXPECT_EQ(pairs_of({.first_stride = 2}), 0);
  // Another dtype.
  EXPECT_EQ(pairs_of({.n = 2, .dtype = "bfloat16"}), 0);
  // An image that would be one piece: there is nothing for other threads.
  EXPECT_EQ(pairs_of({.channels = 960, .height = 20, .width = 20, .kernel = 7, .padding = 3}), 0);
  // Few channels, for which another kernel is there.
  EXPECT_EQ(pairs_of({.channels = 8, .height = 224, .width = 224}), 0);
  // Windows that do not touch each other.
  EXPECT_EQ(pairs_of({.n = 4, .kernel = 1, .stride = 2, .padding = 0}), 0);
}

/// The second convolution's own calls read the value as well.
TEST(DepthFirst, LeavesAloneWhatIsAddedAgain) {
  std::string text = Block{}.text();
  const size_t at = text.find("add(%21, %6)");
  text.replace(at, 12, "add(%21, %10)");
  EXPECT_EQ(pairs_of(passed(text)), 0);
}

Ref<Value> random_value(const TensorType& type, std::mt19937& random, bool has_special) {
  Ref<Value> value = make_dense(type);
  auto* to = reinterpret_cast<float*>(value->bytes());
  for (int64_t i = 0; i < type.shape.numel(); ++i)
    to[i] = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 1000.0F;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                           -0.0F,     1e-41F,     3e38F};
  for (int i = 0; has_special && i < 12; ++i)
    to[random() % static_cast<uint32_t>(type.shape.numel())] = special[i % 6];
  return value;
}

/// The bits of the results of three runs: at the second one weights are packed for the third.
std::vector<std::vector<float>> run(const Graph& graph, std::span<const Ref<Value>> in,
                                    ExecutableReport* report) {
  Executable executable(graph);
  *report = executable.report();
  std::vector<std::vector<float>> results;
  for (int i = 0; i < 3; ++i) {
    std::vector<char> donated(in.size(), 0);
    std::vector<Ref<Value>> out(graph.outputs.size());
    executable.run(in, donated, {}, out, true);
    for (const Ref<Value>& v : out) {
      const Tensor t(v);
      results.emplace_back(static_cast<size_t>(t.numel()));
      t.copy_to(results.back().data(), DType::kFloat32);
    }
  }
  return results;
}

/// All numbers have the same bits; a NaN is one.
bool same_bits(const std::vector<std::vector<float>>& a, const std::vector<std::vector<float>>& b) {
  auto are_same = [](float x, float y) {
    return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y) || (std::isnan(x) && std::isnan(y));
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), are_same);
  });
}

void expect_same_bits(const Block& block) {
  const std::string text = block.text();
  SCOPED_TRACE(text);
  const Graph plain = Graph::parse(text);
  const Graph joined = passed(text);
  ASSERT_EQ(pairs_of(joined), 1);
  ExecutableReport report;
  for (const bool has_special : {false, true}) {
    std::mt19937 random(11);
    std::vector<Ref<Value>> in;
    for (ValueId v : plain.inputs) in.push_back(random_value(plain.type(v), random, has_special));
    const auto expected = run(plain, in, &report);
    for (int threads : {1, 2, 3}) {
      set_num_threads(threads);
      EXPECT_TRUE(same_bits(run(joined, in, &report), expected))
          << threads << " threads, special " << has_special;
      EXPECT_EQ(report.depth_first, 1);
    }
    set_num_threads(2);
  }
}

TEST(DepthFirst, EveryShapeKeepsItsBits) {
  const SmallValues small;
  const Block blocks[] = {
      {.n = 1, .height = 71, .width = 13},
      {.n = 2, .height = 30, .width = 17, .stride = 2},
      {.n = 3, .in = 5, .channels = 39, .height = 23, .width = 19},
      {.n = 2, .in = 24, .channels = 49, .height = 40, .width = 21, .kernel = 5, .stride = 2, .padding = 2},
      {.n = 1, .in = 17, .channels = 40, .height = 130, .width = 13, .kernel = 5, .padding = 2},
      {.n = 4, .in = 8, .channels = 33, .height = 20, .width = 14, .kernel = 7, .padding = 3},
      {.n = 4, .channels = 64, .height = 15, .width = 16, .kernel = 7, .stride = 3, .padding = 2},
      {.n = 4, .channels = 48, .height = 25, .width = 24, .padding = 2, .dilation = 2},
      {.n = 4, .channels = 48, .height = 26, .width = 24, .stride = 2, .padding = 3, .dilation = 3},
      {.n = 4, .channels = 80, .height = 18, .width = 18, .padding = 0},
      {.n = 4, .channels = 80, .height = 18, .width = 18, .kernel = 1, .padding = 0},
      {.n = 4, .channels = 80, .height = 19, .width = 18, .kernel = 2, .stride = 2, .padding = 1},
      {.n = 2, .in = 300, .channels = 56, .height = 24, .width = 20},
      {.n = 2, .channels = 200, .height = 56, .width = 56, .kernel = 5, .padding = 2},
      {.n = 2, .height = 33, .width = 32, .activation = "silu"},
      {.n = 2, .height = 33, .width = 32, .activation = "hardswish"},
      {.n = 2, .channels = 50, .height = 33, .width = 32, .activation = "tanh"},
      {.n = 2, .height = 33, .width = 32, .has_bias = true},
  };
  for (const Block& block : blocks) expect_same_bits(block);
}

/// A chain that reads the convolution's result again, and one that is more than a chain.
TEST(DepthFirst, OtherCallsBetweenKeepTheirBits) {
  const SmallValues small;
  const char* const type = "float32(1, 96, 56, 56)";
  for (const char* rest :
       {"  %11 = sigmoid(%7) : {0}\n  %12 = mul(%7, %11) : {0}\n  %13 = sub(%12, %10) : {0}\n",
        "  %11 = cast(%10) {{dtype=bfloat16}} : bfloat16(1, 96, 56, 56)\n"
        "  %12 = cast(%11) {{dtype=float32}} : {0}\n  %13 = sub(%12, %10) : {0}\n"}) {
    std::string text = Block{.more = "MORE"}.text();
    text.replace(text.find("MORE"), 4, fmt::format(fmt::runtime(rest), type));
    text.replace(text.find("conv(%10"), 8, "conv(%13");
    SCOPED_TRACE(text);
    const Graph joined = passed(text);
    EXPECT_EQ(pairs_of(joined), 1);
    std::mt19937 random(3);
    std::vector<Ref<Value>> in;
    for (ValueId v : joined.inputs) in.push_back(random_value(joined.type(v), random, true));
    ExecutableReport report;
    EXPECT_TRUE(same_bits(run(joined, in, &report), run(Graph::parse(text), in, &report)));
  }
}

/// Where reference kernels are asked for, the call gives way to its parts, and these to their calls.
TEST(DepthFirst, FallsApartWhereItCannotRun) {
  const std::string text = Block{.channels = 96, .height = 56, .width = 50}.text();
  const Graph joined = passed(text);
  ASSERT_EQ(pairs_of(joined), 1);
  std::mt19937 random(5);
  std::vector<Ref<Value>> in;
  for (ValueId v : joined.inputs) in.push_back(random_value(joined.type(v), random, false));
  ExecutableReport report;
  reference_kernels_only() = true;
  const auto expected = run(Graph::parse(text), in, &report);
  const auto result = run(joined, in, &report);
  reference_kernels_only() = false;
  EXPECT_EQ(report.depth_first, 0);
  EXPECT_TRUE(same_bits(result, expected));
}

/// Weights that come from a call are packed at every run.
TEST(DepthFirst, WeightsThatAreComputedAreNotKept) {
  std::string text = Block{}.text();
  const std::string w = "float32(96, 16, 1, 1)";
  const size_t at = text.find("  %7 = conv(%0, %1)");
  text.replace(at, 19, "  %30 = tanh(%1) : " + w + "\n  %7 = conv(%0, %30)");
  const Graph plain = Graph::parse(text);
  const Graph joined = passed(text);
  ASSERT_EQ(pairs_of(joined), 1);
  std::mt19937 random(5);
  std::vector<Ref<Value>> in;
  for (ValueId v : joined.inputs) in.push_back(random_value(joined.type(v), random, false));
  ExecutableReport report;
  EXPECT_TRUE(same_bits(run(joined, in, &report), run(plain, in, &report)));
}

/// The result may be written over what the second convolution's calls read, but over nothing that the first
/// one reads for other rows.
TEST(DepthFirst, SumsWithTheInputKeepTheirBits) {
  const SmallValues small;
  std::string text = Block{.n = 4, .in = 48, .channels = 48, .height = 20, .width = 20}.text();
  text.replace(text.find("add(%21, %6)"), 12, "add(%21, %0)");
  const Graph plain = Graph::parse(text);
  const Graph joined = passed(text);
  ASSERT_EQ(pairs_of(joined), 1);
  std::mt19937 random(5);
  std::vector<Ref<Value>> in;
  for (ValueId v : joined.inputs) {
    in.push_back(random_value(joined.type(v), random, false));
    if (joined.type(v).shape.rank() == 4) in.back()->strides = Strides::channels_last(joined.type(v).shape);
  }
  ExecutableReport report;
  const auto expected = run(plain, in, &report);
  EXPECT_TRUE(same_bits(run(joined, in, &report), expected));
  Executable executable(joined);
  std::vector<char> donated(in.size(), 0);
  donated[0] = 1;
  std::vector<Ref<Value>> out(1);
  executable.run(in, donated, {}, out, true);
  const Tensor t(out[0]);
  std::vector<float> result(static_cast<size_t>(t.numel()));
  t.copy_to(result.data(), DType::kFloat32);
  EXPECT_EQ(std::memcmp(result.data(), expected[0].data(), result.size() * sizeof(float)), 0);
}

}  // namespace
}  // namespace sorus
