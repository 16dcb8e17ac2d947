#include "sorus/ir/encoding.h"

#include <gtest/gtest.h>

#include <random>

#include "sorus/dispatch/body.h"
#include "sorus/ir/graph_body.h"
#include "sorus/ops/control/control.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"

namespace sorus {
namespace {

const char* const kText =
    "graph @main(%0: float32(2, 3), %1: float32(3,), %2: bool(0, 3)) {\n"
    "  %3 = constant 0x0000803f : float32()\n"
    "  %4 = constant 0x : int64(0, 2)\n"
    "  %5 = add(%0, %1) : float32(2, 3)\n"
    "  %6 = call(%0, %5) graph @fused(%0: float32(2, 3), %1: float32(2, 3)) {\n"
    "    %2 = mul(%0, %1) : float32(2, 3)\n"
    "    %3 = tanh(%2) : float32(2, 3) # train.py:11 in construct\n"
    "    return %3\n"
    "  } : float32(2, 3) # train.py:12 in construct\n"
    "  %7 = sum(%6) slot 2 varies {axes=(1,), keepdims=false} : float32(2,)\n"
    "  return %7, %4\n"
    "}\n";

/// A graph with a call of control flow, whose bodies are attributes.
Graph with_loop() {
  auto step = [](const TensorList& in) { return TensorList{add(in[0], tanh(in[1])), in[1]}; };
  auto more = [](const TensorList& in) { return TensorList{less(in[0], in[1])}; };
  const TensorType scalar{DType::kFloat32, {}, {}};
  const TensorType types[] = {scalar, scalar};
  const Traced traced = trace(
      "test", [&](const TensorList& in) { return while_loop(more, step, in); }, types);
  return graph_of(*traced.body);
}

TEST(GraphBytes, AreLossless) {
  for (const Graph& graph : {Graph::parse(kText), with_loop()}) {
    const Graph back = decode_graph(encode_graph(graph));
    EXPECT_EQ(back.text(), graph.text());
    EXPECT_EQ(encode_graph(back), encode_graph(graph));
  }
}

TEST(GraphBytes, CanLeaveOutWhatIsKnown) {
  const Tensor weight({1.F, 2.F, 3.F});
  Graph graph;
  graph.outputs = {graph.add_constant(Tensor({4.F})), graph.add_constant(weight)};
  const Tensor known[] = {weight};
  const std::string bytes = encode_graph(graph, {.known = known});
  const Graph back = decode_graph(bytes, {.known = known});
  EXPECT_EQ(back.constant(back.outputs[1]).value().get(), weight.value().get());
  EXPECT_EQ(back.text(), graph.text());
  EXPECT_THROW(decode_graph(bytes), ValueError);  // the constant is not known
}

TEST(GraphBytes, PlacesCanBeLeftOutOrMapped) {
  Graph graph = Graph::parse(kText);
  Graph moved = graph;
  moved.nodes[1].site = "train.py:99 in construct";
  EXPECT_NE(encode_graph(graph), encode_graph(moved));
  EXPECT_EQ(encode_graph(graph, {.sites = false}), encode_graph(moved, {.sites = false}));
  const Graph back =
      decode_graph(encode_graph(graph),
                   {.site = [](std::string_view s) { return s.empty() ? "" : "<" + std::string(s) + ">"; }});
  EXPECT_EQ(back.nodes[1].site, "<train.py:12 in construct>");
  EXPECT_EQ(back.nodes[1].body->nodes[1].site, "<train.py:11 in construct>");
  EXPECT_EQ(back.nodes[0].site, "");
}

TEST(GraphBytes, RefuseUnknownDimensions) {
  Graph graph;
  graph.outputs.push_back(graph.add_input({DType::kFloat32, {}, {Dim::symbol("n")}}));
  EXPECT_THROW(static_cast<void>(encode_graph(graph)), NotSupportedError);
}

TEST(GraphBytes, EveryCutIsRefused) {
  for (const Graph& graph : {Graph::parse(kText), with_loop()}) {
    const std::string bytes = encode_graph(graph);
    for (size_t n = 0; n < bytes.size(); ++n)
      EXPECT_THROW(static_cast<void>(decode_graph(bytes.substr(0, n))), ValueError) << n;
    EXPECT_THROW(static_cast<void>(decode_graph(bytes + '\0')), ValueError);
  }
}

TEST(GraphBytes, RandomDamageNeverCrashes) {
  std::mt19937 random(7);
  int refused = 0;
  for (const Graph& graph : {Graph::parse(kText), with_loop()}) {
    const std::string good = encode_graph(graph);
    for (int i = 0; i < 4000; ++i) {
      std::string bad = good;
      for (int k = 0; k < 1 + i % 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
      try {
        const Graph back = decode_graph(bad);
        EXPECT_EQ(decode_graph(encode_graph(back)).text(), back.text());
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 2000);
}

TEST(GraphVerify, FindsAbsentOperands) {
  Graph graph = Graph::parse(kText);
  graph.nodes[0].in[1] = kNoValue;
  EXPECT_THROW(graph.verify(), Error);
}

}  // namespace
}  // namespace sorus
