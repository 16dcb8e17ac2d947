#include "sorus/compiler/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sorus/compiler/pass_manager.h"
#include "sorus/ir/encoding.h"
#include "sorus/ir/picture.h"
#include "tests/engine/engine_testing.h"

namespace sorus::testing {
namespace {

const char* const kChain =
    "graph @g(%0: float32(2,), %1: float32(2,)) {\n"
    "  %2 = add(%0, %1) : float32(2,) # a.py:1\n"
    "  %3 = mul(%2, %1) : float32(2,) # a.py:2\n"
    "  %4 = tanh(%3) : float32(2,) # a.py:3\n"
    "  %5 = add(%4, %0) : float32(2,) # a.py:4\n"
    "  return %5, %3\n"
    "}\n";

/// What the pass alone makes of a graph.
Graph partitioned(const std::string& text, std::vector<std::string> only_passes = {"partition"}) {
  Graph graph = Graph::parse(text);
  PassOptions options;
  options.only = std::move(only_passes);
  run_passes(graph, options);
  return graph;
}

TEST(Partition, WithoutEnginesThereIsNoPass) {
  Graph graph = Graph::parse(kChain);
  PassOptions options;
  std::vector<std::string> run;
  options.after = [&](std::string_view pass, const Graph&, double) { run.emplace_back(pass); };
  run_passes(graph, options);
  EXPECT_FALSE(run.empty());
  EXPECT_EQ(std::count(run.begin(), run.end(), "partition"), 0);
  EXPECT_FALSE(engines_wanted());
  EXPECT_EQ(engines_text(), "");
}

TEST(Partition, CutsPartsWithBorders) {
  Registered engine({.takes = only({"add", "mul"})});
  EXPECT_EQ(partitioned(kChain).text(),
            "graph @g(%0: float32(2,), %1: float32(2,)) {\n"
            "  %2 = call on test(%0, %1) graph @part(%0: float32(2,), %1: float32(2,)) {\n"
            "    %2 = to_engine(%0) : float32(2,)\n"
            "    %3 = to_engine(%1) : float32(2,)\n"
            "    %4 = add(%2, %3) : float32(2,) # a.py:1\n"
            "    %5 = mul(%4, %3) : float32(2,) # a.py:2\n"
            "    %6 = from_engine(%5) : float32(2,)\n"
            "    return %6\n"
            "  } : float32(2,) # a.py:2\n"
            "  %3 = tanh(%2) : float32(2,) # a.py:3\n"
            "  %4 = call on test(%3, %0) graph @part(%0: float32(2,), %1: float32(2,)) {\n"
            "    %2 = to_engine(%0) : float32(2,)\n"
            "    %3 = to_engine(%1) : float32(2,)\n"
            "    %4 = add(%2, %3) : float32(2,) # a.py:4\n"
            "    %5 = from_engine(%4) : float32(2,)\n"
            "    return %5\n"
            "  } : float32(2,) # a.py:4\n"
            "  return %4, %2\n"
            "}\n");
}

TEST(Partition, EnginesInTheHostsMemoryHaveNoBorders) {
  Registered engine({.facts = {.name = "near", .revision = "1", .numerics = "cpu"}});
  EXPECT_EQ(partitioned(kChain).text(),
            "graph @g(%0: float32(2,), %1: float32(2,)) {\n"
            "  %2, %3 = call on near(%0, %1) graph @part(%0: float32(2,), %1: float32(2,)) {\n"
            "    %2 = add(%0, %1) : float32(2,) # a.py:1\n"
            "    %3 = mul(%2, %1) : float32(2,) # a.py:2\n"
            "    %4 = tanh(%3) : float32(2,) # a.py:3\n"
            "    %5 = add(%4, %0) : float32(2,) # a.py:4\n"
            "    return %3, %5\n"
            "  } : float32(2,), float32(2,) # a.py:4\n"
            "  return %3, %2\n"
            "}\n");
}

TEST(Partition, TextBytesAndPictureKeepTheEngine) {
  Registered engine({.takes = only({"add", "mul"})});
  const Graph graph = partitioned(kChain);
  EXPECT_EQ(Graph::parse(graph.text()).text(), graph.text());
  EXPECT_EQ(decode_graph(encode_graph(graph)).text(), graph.text());
  EXPECT_NE(svg_picture(graph).find("on test @part"), std::string::npos);
}

TEST(Partition, DamagedBytesNeverCrash) {
  Registered engine({.takes = only({"add", "mul"})});
  const std::string good = encode_graph(partitioned(kChain));
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random());
    try {
      decode_graph(bad).verify();
    } catch (const Error& e) {
      EXPECT_NE(e.kind(), ErrorKind::kInternal) << e.what();
    }
  }
}

TEST(Partition, ConstantsGoIntoTheParts) {
  Registered engine({.takes = only({"mul"})});
  EXPECT_EQ(partitioned("graph @g(%0: float32(1,)) {\n"
                        "  %1 = constant 0x00000040 : float32(1,)\n"
                        "  %2 = mul(%0, %1) : float32(1,)\n"
                        "  return %2\n"
                        "}\n")
                .nodes[0]
                .in.size(),
            1U);
}

/// The way from the first part to the second leads over the host, so that they cannot be one.
TEST(Partition, NoWayLeadsOutOfAPartAndBack) {
  Registered engine({.facts = {.name = "near", .revision = "1", .numerics = "cpu"}, .takes = only({"add"})});
  EXPECT_EQ(parts_of(partitioned("graph @g(%0: float32(2,)) {\n"
                                 "  %1 = add(%0, %0) : float32(2,)\n"
                                 "  %2 = tanh(%1) : float32(2,)\n"
                                 "  %3 = add(%1, %2) : float32(2,)\n"
                                 "  %4 = add(%0, %1) : float32(2,)\n"
                                 "  return %3, %4\n"
                                 "}\n")),
            "near: add, add; near: add");
}

/// Two engines side by side, each with a way to the other.
TEST(Partition, NoWayLeadsBackThroughOtherEngines) {
  Registered near({.facts = {.name = "near", .revision = "1", .numerics = "cpu"}, .takes = only({"add"})});
  Registered far({.takes = only({"mul"})});
  const Graph graph = partitioned(
      "graph @g(%0: float32(2,)) {\n"
      "  %1 = add(%0, %0) : float32(2,)\n"
      "  %2 = mul(%0, %0) : float32(2,)\n"
      "  %3 = mul(%1, %1) : float32(2,)\n"
      "  %4 = add(%2, %2) : float32(2,)\n"
      "  return %3, %4\n"
      "}\n");
  graph.verify();
  EXPECT_EQ(graph.nodes.size(), 4U);
}

TEST(Partition, CopiesAreCounted) {
  // A call is 100 ns cheaper, or so, and the two values in and one out take more than that.
  TestEngine::Options far{.takes = only({"add", "mul"})};
  far.facts.copy_ns = 200;
  {
    Registered engine(far);
    EXPECT_EQ(parts_of(partitioned(kChain)), "");
  }
  // A longer chain pays for them.
  std::string text = "graph @g(%0: float32(2,)) {\n";
  for (int i = 1; i <= 8; ++i) text += fmt::format("  %{} = mul(%{}, %0) : float32(2,)\n", i, i - 1);
  text += "  return %8\n}\n";
  {
    Registered engine(far);
    EXPECT_EQ(parts_of(partitioned(text)),
              "test: to_engine, mul, mul, mul, mul, mul, mul, mul, mul, from_engine");
  }
  far.facts.start_ns = 1e6;
  Registered engine(far);
  EXPECT_EQ(parts_of(partitioned(text)), "");
}

/// A view costs the host nothing, but leaving and coming back does.
TEST(Partition, CheapCallsStayAmongTheirNeighbours) {
  TestEngine::Options far{.takes = only({"mul", "reshape"})};
  far.facts.copy_ns = 50;
  Registered engine(far);
  EXPECT_EQ(parts_of(partitioned("graph @g(%0: float32(4,)) {\n"
                                 "  %1 = mul(%0, %0) : float32(4,)\n"
                                 "  %2 = reshape(%1) {shape=(2, 2)} : float32(2, 2)\n"
                                 "  %3 = mul(%2, %2) : float32(2, 2)\n"
                                 "  return %3\n"
                                 "}\n")),
            "test: to_engine, mul, reshape, mul, from_engine");
}

TEST(Partition, TheCheapestOfTwoEnginesGetsACall) {
  Registered dear({.facts = {.name = "dear", .revision = "1", .numerics = "cpu"}, .ns = 50});
  Registered cheap({.facts = {.name = "cheap", .revision = "1", .numerics = "cpu"},
                    .ns = 20,
                    .takes = only({"add", "mul"})});
  EXPECT_EQ(parts_of(partitioned(kChain)), "cheap: add, mul; dear: tanh; cheap: add");
}

TEST(Partition, OtherNumericsAreNotMixedInUnasked) {
  Registered other({.facts = {.name = "other", .revision = "1", .numerics = "fast"}});
  EXPECT_FALSE(engines_wanted());
  {
    ScopedEngines wish({.use = "other"});
    EXPECT_EQ(parts_of(partitioned(kChain)), "other: add, mul, tanh, add");
  }
  ScopedEngines wish({.use_for = {{"tanh", "other"}}});
  EXPECT_EQ(parts_of(partitioned(kChain)), "other: tanh");
}

TEST(Partition, TheUserMayForbidAndDemand) {
  Registered engine({.takes = only({"add", "tanh"})});
  {
    ScopedEngines wish({.forbid = {"test"}});
    EXPECT_EQ(parts_of(partitioned(kChain)), "");
  }
  {
    ScopedEngines wish({.use = "cpu"});
    EXPECT_EQ(parts_of(partitioned(kChain)), "");
  }
  {
    ScopedEngines wish({.use_for = {{"add", "cpu"}}});
    EXPECT_EQ(parts_of(partitioned(kChain)), "test: to_engine, tanh, from_engine");
  }
  {
    ScopedEngines wish({.use = "cpu_reference"});
    EXPECT_EQ(parts_of(partitioned(kChain)), "cpu_reference: add, mul, tanh, add");
  }
  // Asked for, it is used even where it does not pay.
  TestEngine::Options dear{.facts = {.name = "dear", .revision = "1", .numerics = "cpu"}, .ns = 1e9};
  Registered slow(dear);
  ScopedEngines wish({.use_for = {{"mul", "dear"}}, .forbid = {"test"}});
  EXPECT_EQ(parts_of(partitioned(kChain)), "dear: mul");
}

TEST(Partition, ChecksAndEffectsStayOnTheHostInOrder) {
  Registered engine({.facts = {.name = "near", .revision = "1", .numerics = "cpu"}});
  const Graph graph = partitioned(
      "graph @g(%0: float32(4, 2), %1: int64(3,), %2: float32(3, 2)) {\n"
      "  %3 = add(%2, %2) : float32(3, 2)\n"
      "  %4 = tanh(%3) : float32(3, 2)\n"
      "  %5 = gather(%0, %1) {axis=0, batch_dims=0} : float32(3, 2)\n"
      "  %6 = add(%5, %4) : float32(3, 2)\n"
      "  return %6\n"
      "}\n");
  EXPECT_EQ(parts_of(graph), "near: add, tanh; near: add");
}

TEST(Partition, AttributesThatComeAtEachRunStayOnTheHost) {
  Registered engine;
  EXPECT_EQ(parts_of(partitioned("graph @g(%0: float32(2,)) {\n"
                                 "  %1 = sum(%0) slot 0 {axes=(), keepdims=false} : float32()\n"
                                 "  return %1\n"
                                 "}\n")),
            "");
}

TEST(Partition, EnginesRunTheirOwnPasses) {
  TestEngine::Options options{.takes = only({"add", "mul"})};
  options.facts.own_memory = false;
  int relaxed = 0;
  options.passes = {{"swap", false,
                     [](Graph& part) {
                       for (Node& n : part.nodes)
                         if (n.op->name == "mul") std::swap(n.in[0], n.in[1]);
                     }},
                    {"loose", true, [&](Graph&) { ++relaxed; }}};
  Registered engine(options);
  Graph graph = Graph::parse(kChain);
  std::vector<std::string> run;
  PassOptions watched;
  watched.only = {"partition"};
  watched.after = [&](std::string_view pass, const Graph&, double) { run.emplace_back(pass); };
  run_passes(graph, watched);
  EXPECT_EQ(run, (std::vector<std::string>{"partition", "test.swap"}));
  EXPECT_NE(graph.text().find("mul(%1, %2)"), std::string::npos) << graph.text();
  EXPECT_EQ(relaxed, 0);
  watched.relaxed = true;
  watched.skip = {"test.swap"};
  graph = Graph::parse(kChain);
  run_passes(graph, watched);
  EXPECT_EQ(relaxed, 2);
  EXPECT_EQ(graph.text().find("mul(%1, %2)"), std::string::npos);
}

TEST(Partition, APassOfAnEngineThatBreaksAPartIsNamed) {
  TestEngine::Options options;
  options.passes = {{"break", false, [](Graph& part) { part.outputs.clear(); }}};
  Registered engine(options);
  try {
    static_cast<void>(partitioned(kChain));
    ADD_FAILURE() << "must throw";
  } catch (const InternalError& e) {
    EXPECT_NE(std::string(e.what()).find("after pass test.break"), std::string::npos) << e.what();
  }
}

/// Random graphs and assignments: the cut is a valid graph of the same calls, and parts are as few as their
/// levels.
TEST(Partition, AnyAssignmentGivesAGraphWithoutCircles) {
  Registered near({.facts = {.name = "near", .revision = "1", .numerics = "cpu"}});
  Registered far;
  std::mt19937 random(7);
  const OpDef& add = *find_op("add");
  for (int round = 0; round < 300; ++round) {
    Graph graph;
    std::vector<ValueId> values{graph.add_input({DType::kFloat32, {}, {3}})};
    const int count = 1 + static_cast<int>(random() % 24);
    for (int i = 0; i < count; ++i) {
      const ValueId in[] = {values[random() % values.size()], values[random() % values.size()]};
      values.push_back(graph.add_node(add, AttrsRef(NoAttrs{}), in).out[0]);
    }
    for (ValueId v : values)
      if (random() % 3 == 0) graph.outputs.push_back(v);
    Assignment engines;
    for (int i = 0; i < count; ++i)
      engines.push_back(random() % 3 == 0   ? nullptr
                        : random() % 2 == 0 ? near.get()
                                            : std::shared_ptr<Engine>(far.get()));
    Graph cut = graph;
    cut_graph(cut, engines);
    cut.verify();
    size_t calls = 0;
    for (const Node& n : cut.nodes)
      for (const Node& inner : n.body ? n.body->nodes : std::vector<Node>{n}) calls += inner.op == &add;
    EXPECT_LE(calls, static_cast<size_t>(count));
    EXPECT_EQ(parts_problem(cut), "");
    EXPECT_EQ(Graph::parse(cut.text()).text(), cut.text());
  }
}

}  // namespace
}  // namespace sorus::testing
