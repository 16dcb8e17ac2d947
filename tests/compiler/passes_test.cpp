#include <gtest/gtest.h>

#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"

namespace sorus {
namespace {

std::string after(const std::string& pass, const std::string& text) {
  Graph graph = Graph::parse(text);
  PassOptions options;
  options.only = {pass};
  run_passes(graph, options);
  return graph.text();
}

TEST(Passes, CseComputesEqualCallsOnce) {
  EXPECT_EQ(after("cse",
                  "graph @g(%0: float32(2,)) {\n"
                  "  %1 = exp(%0) : float32(2,)\n"
                  "  %2 = exp(%0) : float32(2,)\n"
                  "  %3 = add(%1, %2) : float32(2,)\n"
                  "  return %3\n"
                  "}\n"),
            "graph @g(%0: float32(2,)) {\n"
            "  %1 = exp(%0) : float32(2,)\n"
            "  %2 = exp(%0) : float32(2,)\n"
            "  %3 = add(%1, %1) : float32(2,)\n"
            "  return %3\n"
            "}\n");
}

TEST(Passes, DceDropsWhatNoOutputNeeds) {
  EXPECT_EQ(after("dce",
                  "graph @g(%0: float32(2,)) {\n"
                  "  %1 = exp(%0) : float32(2,)\n"
                  "  %2 = tanh(%1) : float32(2,)\n"
                  "  return %1\n"
                  "}\n"),
            "graph @g(%0: float32(2,)) {\n"
            "  %1 = exp(%0) : float32(2,)\n"
            "  return %1\n"
            "}\n");
}

TEST(Passes, ConstantsFoldByTheEagerKernels) {
  Graph graph = Graph::parse(
      "graph @g(%0: float32(1,)) {\n"
      "  %1 = constant 0x00000040 : float32(1,)\n"
      "  %2 = mul(%1, %1) : float32(1,)\n"
      "  %3 = add(%0, %2) : float32(1,)\n"
      "  return %3\n"
      "}\n");
  run_passes(graph);
  ASSERT_EQ(graph.nodes.size(), 1U);
  ASSERT_TRUE(graph.is_constant(graph.nodes[0].in[1]));
  EXPECT_EQ(graph.constant(graph.nodes[0].in[1]).item<float>(), 4.F);
}

TEST(Passes, CanonicalizeRemovesWhatChangesNothing) {
  Graph graph = Graph::parse(
      "graph @g(%0: float32(2, 3)) {\n"
      "  %1 = transpose(%0) {axes=(1, 0)} : float32(3, 2)\n"
      "  %2 = transpose(%1) {axes=(1, 0)} : float32(2, 3)\n"
      "  %3 = neg(%2) : float32(2, 3)\n"
      "  %4 = neg(%3) : float32(2, 3)\n"
      "  %5 = exp(%4) : float32(2, 3)\n"
      "  return %5\n"
      "}\n");
  run_passes(graph);
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].in[0], graph.inputs[0]);
}

TEST(Passes, AnUnknownPassIsRefused) {
  Graph graph;
  PassOptions options;
  options.skip = {"no_such_pass"};
  EXPECT_THROW(run_passes(graph, options), ValueError);
}

TEST(Executable, ReportsPlanAndWorksInPlace) {
  Graph graph = Graph::parse(
      "graph @g(%0: float32(100,)) {\n"
      "  %1 = exp(%0) : float32(100,)\n"
      "  %2 = tanh(%1) : float32(100,)\n"
      "  %3 = exp(%2) : float32(100,)\n"
      "  %4 = reshape(%3) {shape=(10, 10)} : float32(10, 10)\n"
      "  return %4\n"
      "}\n");
  Executable executable(std::move(graph));
  ExecutableReport report = executable.report();
  EXPECT_EQ(report.nodes, 4);
  EXPECT_EQ(report.steps, 3);
  EXPECT_EQ(report.views, 1);
  EXPECT_EQ(report.in_place, 2);
  EXPECT_EQ(report.planned_bytes, 0);  // everything happens in the result's own buffer
}

}  // namespace
}  // namespace sorus
