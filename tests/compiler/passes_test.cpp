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

TEST(Passes, CanonicalizeReadsPastWhatChangesNothing) {
  EXPECT_EQ(after("canonicalize",
                  "graph @g(%0: int32(2, 3, 4)) {\n"
                  "  %1 = transpose(%0) {axes=(1, 2, 0)} : int32(3, 4, 2)\n"
                  "  %2 = transpose(%1) {axes=(1, 0, 2)} : int32(4, 3, 2)\n"
                  "  %3 = reshape(%2) {shape=(12, 2)} : int32(12, 2)\n"
                  "  %4 = reshape(%3) {shape=(24,)} : int32(24,)\n"
                  "  %5 = cast(%4) {dtype=float64} : float64(24,)\n"
                  "  %6 = cast(%5) {dtype=int32} : int32(24,)\n"
                  "  %7 = cast(%4) {dtype=int64} : int64(24,)\n"
                  "  %8 = cast(%7) {dtype=float32} : float32(24,)\n"
                  "  return %6, %8\n"
                  "}\n"),
            "graph @g(%0: int32(2, 3, 4)) {\n"
            "  %1 = transpose(%0) {axes=(1, 2, 0)} : int32(3, 4, 2)\n"
            "  %2 = transpose(%0) {axes=(2, 1, 0)} : int32(4, 3, 2)\n"
            "  %3 = reshape(%2) {shape=(12, 2)} : int32(12, 2)\n"
            "  %4 = reshape(%2) {shape=(24,)} : int32(24,)\n"
            "  %5 = cast(%4) {dtype=float64} : float64(24,)\n"
            "  %6 = cast(%4) {dtype=int32} : int32(24,)\n"
            "  %7 = cast(%4) {dtype=int64} : int64(24,)\n"
            "  %8 = cast(%4) {dtype=float32} : float32(24,)\n"
            "  return %4, %8\n"
            "}\n");
}

/// float32 has no room for all of int32, and a float that was a half may be a signalling NaN.
TEST(Passes, CanonicalizeKeepsCastsThatLose) {
  const std::string text =
      "graph @g(%0: int32(4,), %1: float16(4,)) {\n"
      "  %2 = cast(%0) {dtype=float32} : float32(4,)\n"
      "  %3 = cast(%2) {dtype=int32} : int32(4,)\n"
      "  %4 = cast(%1) {dtype=float32} : float32(4,)\n"
      "  %5 = cast(%4) {dtype=float16} : float16(4,)\n"
      "  return %3, %5\n"
      "}\n";
  EXPECT_EQ(after("canonicalize", text), text);
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
