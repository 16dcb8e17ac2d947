#include <gtest/gtest.h>

#include <cstring>

#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "tests/compiler/passes/training_step.h"

namespace sorus {
namespace {

void only_order(Graph& graph) {
  PassOptions options;
  options.only = {"order"};
  run_passes(graph, options);
}

std::string ordered(const std::string& text, bool values_checked = true) {
  Graph graph = Graph::parse(text);
  graph.values_checked = values_checked;
  only_order(graph);
  return graph.text();
}

TEST(Order, AnUpdateFollowsItsGradient) {
  EXPECT_EQ(ordered("graph @g(%0: float32(4,), %1: float32(4,)) {\n"
                    "  %2 = exp(%0) : float32(4,)\n"
                    "  %3 = exp(%1) : float32(4,)\n"
                    "  %4 = sub(%0, %2) : float32(4,)\n"
                    "  %5 = sub(%1, %3) : float32(4,)\n"
                    "  return %4, %5\n"
                    "}\n"),
            "graph @g(%0: float32(4,), %1: float32(4,)) {\n"
            "  %2 = exp(%0) : float32(4,)\n"
            "  %3 = sub(%0, %2) : float32(4,)\n"
            "  %4 = exp(%1) : float32(4,)\n"
            "  %5 = sub(%1, %4) : float32(4,)\n"
            "  return %3, %5\n"
            "}\n");
}

TEST(Order, AnUpdateWaitsForTheLastReaderOfWhatItWritesOver) {
  const std::string text =
      "graph @g(%0: float32(2, 2), %1: float32(2, 2)) {\n"
      "  %2 = matmul(%1, %1) : float32(2, 2)\n"
      "  %3 = matmul(%1, %0) : float32(2, 2)\n"
      "  %4 = matmul(%3, %3) : float32(2, 2)\n"
      "  %5 = sub(%0, %2) : float32(2, 2)\n"
      "  return %5, %4\n"
      "}\n";
  EXPECT_EQ(ordered(text),
            "graph @g(%0: float32(2, 2), %1: float32(2, 2)) {\n"
            "  %2 = matmul(%1, %1) : float32(2, 2)\n"
            "  %3 = matmul(%1, %0) : float32(2, 2)\n"
            "  %4 = sub(%0, %2) : float32(2, 2)\n"
            "  %5 = matmul(%3, %3) : float32(2, 2)\n"
            "  return %4, %5\n"
            "}\n");
}

TEST(Order, ViewsDoNotStandBetween) {
  EXPECT_EQ(ordered("graph @g(%0: float32(2, 3), %1: float32(3, 2)) {\n"
                    "  %2 = exp(%1) : float32(3, 2)\n"
                    "  %3 = exp(%0) : float32(2, 3)\n"
                    "  %4 = transpose(%2) {axes=(1, 0)} : float32(2, 3)\n"
                    "  %5 = sub(%0, %4) : float32(2, 3)\n"
                    "  return %3, %5\n"
                    "}\n"),
            "graph @g(%0: float32(2, 3), %1: float32(3, 2)) {\n"
            "  %2 = exp(%1) : float32(3, 2)\n"
            "  %3 = transpose(%2) {axes=(1, 0)} : float32(2, 3)\n"
            "  %4 = exp(%0) : float32(2, 3)\n"
            "  %5 = sub(%0, %3) : float32(2, 3)\n"
            "  return %4, %5\n"
            "}\n");
}

TEST(Order, WhatGrowsStaysWhereItIs) {
  const std::string text =
      "graph @g(%0: float32(4,)) {\n"
      "  %1 = exp(%0) : float32(4,)\n"
      "  %2 = tanh(%0) : float32(4,)\n"
      "  %3 = broadcast_to(%1) {shape=(3, 4)} : float32(3, 4)\n"
      "  %4 = add(%3, %2) : float32(3, 4)\n"
      "  %5 = add(%4, %1) : float32(3, 4)\n"
      "  return %5, %1, %2\n"
      "}\n";
  const std::string after = ordered(text);
  EXPECT_LT(after.find("tanh"), after.find("add"));
  EXPECT_EQ(ordered(after), after);
}

TEST(Order, NothingPassesACallThatMayThrow) {
  const std::string text =
      "graph @g(%0: float32(4, 2), %1: float32(4, 2), %2: int64(1,)) {\n"
      "  %3 = exp(%1) : float32(4, 2)\n"
      "  %4 = gather(%0, %2) {axis=0} : float32(1, 2)\n"
      "  %5 = sub(%1, %3) : float32(4, 2)\n"
      "  return %5, %4\n"
      "}\n";
  EXPECT_EQ(ordered(text, false), Graph::parse(text).text());
  EXPECT_NE(ordered(text, true), Graph::parse(text).text());
}

TEST(Order, KeepsBitsAndTakesTheMemoryOfOneGradient) {
  for (int layers : {1, 3, 12}) {
    const Graph graph = Graph::parse(training_step(layers));
    Graph after = graph;
    only_order(after);
    ExecutableReport plain, better;
    const auto wanted = results_of(graph, &plain);
    const auto found = results_of(std::move(after), &better);
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(std::memcmp(wanted[i]->bytes(), found[i]->bytes(), wanted[i]->storage->bytes()), 0);
    EXPECT_EQ(better.donations, layers);
    const int64_t gradient = 64 * 64 * 4;
    EXPECT_GE(plain.lower_bound_bytes, layers * gradient);
    EXPECT_LT(better.lower_bound_bytes, 2 * gradient + 30 * 8 * 64 * 4);
  }
}

}  // namespace
}  // namespace sorus
