#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "sorus/base/thread_pool.h"
#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "sorus/core/tensor.h"
#include "tests/compiler/passes/random_graph.h"

/// Random graphs of elementwise calls and calls on rows, with broadcasting, 16-bit floats, products that cut
/// regions and operands in other memory orders: fused, and joined to products, they must keep every bit.
namespace sorus {
namespace {

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
