#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "sorus/base/thread_pool.h"
#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/core/tensor.h"

/// Random graphs of elementwise calls and calls on rows, with broadcasting, 16-bit floats, products that cut
/// regions and operands in other memory orders: fused, and joined to products, they must keep every bit.
namespace sorus {
namespace {

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed)
      : random_(seed), half_(seed % 3 == 0 ? DType::kFloat16 : DType::kBFloat16) {
    const int64_t rows[] = {1, 3, 40, 1300};
    const int64_t row[] = {2, 31, 64, 400};
    rows_ = rows[pick(4)];
    n_ = row[pick(4)];
    for (const Shape& s : {Shape{rows_, n_}, Shape{rows_, n_}, Shape{rows_, 1}, Shape{n_}, Shape{}})
      inputs_.push_back(add(DType::kFloat32, s));
    inputs_.push_back(add(half_, {rows_, n_}));
    inputs_.push_back(add(DType::kFloat32, {n_, n_}));
    const int calls = 4 + pick(24);
    for (int i = 0; i < calls; ++i) call();
  }

  /// The graph, with some of its values as results.
  std::string text() {
    std::string head = "graph @random(";
    for (int v : inputs_) head += fmt::format("{}%{}: {}", v == 0 ? "" : ", ", v, type(v));
    std::string results;
    for (size_t v = inputs_.size(); v < types_.size(); ++v)
      if (v + 1 == types_.size() || pick(4) == 0)
        results += fmt::format("{}%{}", results.empty() ? "" : ", ", v);
    return head + ") {\n" + body_ + "  return " + results + "\n}\n";
  }
  [[nodiscard]] const std::vector<int>& inputs() const { return inputs_; }
  [[nodiscard]] const TensorType& type(int v) const { return types_[static_cast<size_t>(v)]; }
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

 private:
  int add(DType dtype, const Shape& shape) {
    types_.push_back({dtype, {}, shape});
    return static_cast<int>(types_.size()) - 1;
  }
  /// A value of the dtype whose shape is one of those given, an older one more seldom.
  int value(DType dtype, std::initializer_list<Shape> shapes) {
    std::vector<int> fitting;
    for (size_t v = 0; v < types_.size(); ++v)
      if (types_[v].dtype == dtype &&
          std::find(shapes.begin(), shapes.end(), types_[v].shape) != shapes.end())
        fitting.push_back(static_cast<int>(v));
    const auto count = static_cast<int>(fitting.size());
    return fitting[static_cast<size_t>(std::max(pick(count), pick(count)))];
  }
  void line(const std::string& call, DType dtype, const Shape& shape) {
    const int v = add(dtype, shape);
    body_ += fmt::format("  %{} = {} : {}\n", v, call, type(v));
  }
  void call() {
    const Shape full{rows_, n_}, column{rows_, 1};
    const DType dtype = pick(4) == 0 ? half_ : DType::kFloat32;
    const bool single = dtype == DType::kFloat32;
    const int x = value(dtype, {full});
    switch (pick(9)) {
      case 0:
      case 1: {
        const char* const names[] = {"add", "sub", "mul", "maximum", "div", "relu_backward"};
        const int y = single ? value(dtype, {full, column, Shape{n_}, Shape{}}) : value(dtype, {full});
        const bool swapped = pick(2) == 0;
        const int op = pick(types_[static_cast<size_t>(y)].shape == full ? 6 : 5);
        return line(fmt::format("{}(%{}, %{})", names[op], swapped ? y : x, swapped ? x : y), dtype, full);
      }
      case 2:
      case 3: {
        const char* const names[] = {"relu", "tanh",   "sigmoid", "abs",       "gelu",       "neg",
                                     "exp",  "square", "relu6",   "hardswish", "hardsigmoid"};
        return line(fmt::format("{}(%{})", names[pick(11)], x), dtype, full);
      }
      case 4: {
        const char* const names[] = {"sum", "mean", "amax"};
        if (pick(3) == 0)
          return line(fmt::format("{}(%{}) {{axes=(1,), keepdims=false}}", names[pick(3)], x), dtype,
                      Shape{rows_});
        return line(fmt::format("{}(%{}) {{axes=(1,), keepdims=true}}", names[pick(3)], x), dtype, column);
      }
      case 5: {
        line(fmt::format("greater(%{}, %{})", x, value(dtype, {full})), DType::kBool, full);
        const auto mask = static_cast<int>(types_.size()) - 1;
        return line(fmt::format("where(%{}, %{}, %{})", mask, x, value(dtype, {full})), dtype, full);
      }
      case 6: {
        const DType to = single ? half_ : DType::kFloat32;
        return line(fmt::format("cast(%{}) {{dtype={}}}", x, dtype_name(to)), to, full);
      }
      case 7:
        if (pick(2) == 0) return line(fmt::format("softmax(%{}) {{axis=1}}", x), dtype, full);
        line(fmt::format("tanh(%{})", value(DType::kFloat32, {column})), DType::kFloat32, column);
        return line(fmt::format("sub(%{}, %{})", value(DType::kFloat32, {full}), types_.size() - 1),
                    DType::kFloat32, full);
      default:
        if (pick(3) > 0) return line(fmt::format("sqrt(%{})", x), dtype, full);
        return line(fmt::format("matmul(%{}, %6)", value(DType::kFloat32, {full})), DType::kFloat32, full);
    }
  }

  std::mt19937 random_;
  DType half_;  ///< the 16-bit floats of this graph
  int64_t rows_ = 0, n_ = 0;
  std::vector<TensorType> types_;
  std::vector<int> inputs_;
  std::string body_;
};

/// A value with random numbers, in row-major or column-major order.
Ref<Value> make_input(RandomGraph& graph, int v) {
  const TensorType& type = graph.type(v);
  Ref<Value> value = make_dense(type);
  visit_floating(type.dtype, [&]<class T>(std::type_identity<T>) {
    auto* to = reinterpret_cast<T*>(value->bytes());
    for (int64_t i = 0; i < type.shape.numel(); ++i)
      to[i] = T(static_cast<float>(graph.pick(4001) - 2000) / 500.0F);
  });
  if (type.shape.rank() == 2 && graph.pick(2) == 0) value->strides = Strides::dense(type.shape, Ints{1, 0});
  return value;
}

/// The bytes of the results. With `donate`, they may be written over (copies of) the inputs.
std::vector<std::vector<std::byte>> run(Graph graph, std::vector<Ref<Value>> in, bool donate,
                                        ExecutableReport* report) {
  Executable executable(std::move(graph));
  std::vector<char> donated(in.size(), donate ? 1 : 0);
  if (donate)
    for (Ref<Value>& v : in) {
      Ref<Value> copy = make_dense(v->type);
      copy->strides = v->strides;
      std::memcpy(copy->bytes(), v->bytes(), v->storage->bytes());
      v = copy;
    }
  std::vector<Ref<Value>> out(executable.graph().outputs.size());
  executable.run(in, donated, {}, out, true);
  *report = executable.report();
  std::vector<std::vector<std::byte>> bytes;
  for (const Ref<Value>& v : out) {
    const Tensor t(v);
    bytes.emplace_back(static_cast<size_t>(t.numel()) * dtype_size(t.dtype()));
    t.copy_to(bytes.back().data(), t.dtype());
    // Which of two NaNs a sum has is left open by IEEE 754, and by compilers.
    if (is_floating(t.dtype()))
      visit_floating(t.dtype(), [&]<class T>(std::type_identity<T>) {
        auto* x = reinterpret_cast<T*>(bytes.back().data());
        for (int64_t i = 0; i < t.numel(); ++i)
          if (std::isnan(static_cast<ComputeType<T>>(x[i])))
            x[i] = T(std::numeric_limits<ComputeType<T>>::quiet_NaN());
      });
  }
  return bytes;
}

void only(Graph& graph, const std::vector<std::string>& passes) {
  PassOptions options;
  options.only = passes;
  run_passes(graph, options);
}

TEST(FuseRandom, KeepsEveryBit) {
  int fused_nodes = 0;
  int epilogues = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    RandomGraph random(seed);
    std::vector<Ref<Value>> in;
    for (int v : random.inputs()) in.push_back(make_input(random, v));
    Graph graph = Graph::parse(random.text());
    only(graph, {"dce"});
    Graph fused = graph;
    only(fused, {"fuse"});
    Graph joined = graph;
    only(joined, {"fuse", "epilogue"});
    ExecutableReport plain, report;
    const auto expected = run(std::move(graph), in, false, &plain);
    for (const Graph& passed : {fused, joined}) {
      EXPECT_EQ(Graph::parse(passed.text()).text(), Graph::parse(Graph::parse(passed.text()).text()).text());
      for (int threads : {1, 3}) {
        set_num_threads(threads);
        for (bool donate : {false, true})
          EXPECT_TRUE(run(passed, in, donate, &report) == expected)
              << "seed " << seed << ", donated " << donate << "\n"
              << passed.text();
      }
      EXPECT_EQ(report.nodes, plain.nodes);
      fused_nodes += report.fused_nodes;
    }
    epilogues += report.epilogues;
  }
  EXPECT_GT(fused_nodes, 4000);
  EXPECT_GT(epilogues, 20);
}

}  // namespace
}  // namespace sorus
