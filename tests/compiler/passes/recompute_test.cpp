#include <gtest/gtest.h>

#include <cstring>

#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"
#include "tests/compiler/passes/training_step.h"

namespace sorus {
namespace {

/// The pass alone, with a limit of so many bytes.
std::string within(int64_t limit, const std::string& text) {
  Graph graph = Graph::parse(text);
  PassOptions options;
  options.only = {"recompute"};
  set_memory_limit(limit);
  run_passes(graph, options);
  set_memory_limit(0);
  return graph.text();
}

const char* const kIdle =
    "graph @g(%0: float32(4,)) {\n"
    "  %1 = exp(%0) : float32(4,)\n"
    "  %2 = mul(%0, %1) : float32(4,)\n"
    "  %3 = sin(%2) : float32(4,)\n"
    "  %4 = cos(%3) : float32(4,)\n"
    "  %5 = add(%4, %1) : float32(4,)\n"
    "  return %5\n"
    "}\n";

TEST(Recompute, AValueThatLiesIdleIsComputedAnew) {
  EXPECT_EQ(within(32, kIdle),
            "graph @g(%0: float32(4,)) {\n"
            "  %1 = exp(%0) : float32(4,)\n"
            "  %2 = mul(%0, %1) : float32(4,)\n"
            "  %3 = sin(%2) : float32(4,)\n"
            "  %4 = cos(%3) : float32(4,)\n"
            "  %5 = exp(%0) : float32(4,)\n"
            "  %6 = add(%4, %5) : float32(4,)\n"
            "  return %6\n"
            "}\n");
}

TEST(Recompute, NothingChangesWhereItFits) {
  EXPECT_EQ(within(1000, kIdle), kIdle);
  EXPECT_EQ(within(0, kIdle), kIdle);
}

TEST(Recompute, AValueThatWasComputedTooEarlyMoves) {
  EXPECT_EQ(within(32,
                   "graph @g(%0: float32(4,)) {\n"
                   "  %1 = exp(%0) : float32(4,)\n"
                   "  %2 = tanh(%0) : float32(4,)\n"
                   "  %3 = sin(%2) : float32(4,)\n"
                   "  %4 = add(%3, %1) : float32(4,)\n"
                   "  return %4\n"
                   "}\n"),
            "graph @g(%0: float32(4,)) {\n"
            "  %1 = tanh(%0) : float32(4,)\n"
            "  %2 = sin(%1) : float32(4,)\n"
            "  %3 = exp(%0) : float32(4,)\n"
            "  %4 = add(%2, %3) : float32(4,)\n"
            "  return %4\n"
            "}\n");
}

TEST(Recompute, ViewsOfItAreMadeAnewToo) {
  EXPECT_EQ(within(40,
                   "graph @g(%0: float32(2, 3)) {\n"
                   "  %1 = exp(%0) : float32(2, 3)\n"
                   "  %2 = transpose(%1) {axes=(1, 0)} : float32(3, 2)\n"
                   "  %3 = tanh(%0) : float32(2, 3)\n"
                   "  %4 = sin(%3) : float32(2, 3)\n"
                   "  %5 = matmul(%4, %2) : float32(2, 2)\n"
                   "  return %5\n"
                   "}\n"),
            "graph @g(%0: float32(2, 3)) {\n"
            "  %1 = tanh(%0) : float32(2, 3)\n"
            "  %2 = sin(%1) : float32(2, 3)\n"
            "  %3 = exp(%0) : float32(2, 3)\n"
            "  %4 = transpose(%3) {axes=(1, 0)} : float32(3, 2)\n"
            "  %5 = matmul(%2, %4) : float32(2, 2)\n"
            "  return %5\n"
            "}\n");
}

TEST(Recompute, AnInputThatIsUpdatedMeanwhileIsNotReadAgain) {
  const std::string text =
      "graph @g(%0: float32(4,)) {\n"
      "  %1 = exp(%0) : float32(4,)\n"
      "  %2 = tanh(%1) : float32(4,)\n"
      "  %3 = sub(%0, %2) : float32(4,)\n"
      "  %4 = cos(%2) : float32(4,)\n"
      "  %5 = sin(%4) : float32(4,)\n"
      "  %6 = add(%5, %1) : float32(4,)\n"
      "  return %3, %6\n"
      "}\n";
  EXPECT_EQ(within(1, text), text);
}

TEST(Recompute, KeepsBitsAndTakesLessMemory) {
  const Graph graph = Graph::parse(training_step(12));
  ExecutableReport plain, better;
  const auto wanted = results_of(graph, &plain);
  PassOptions options;
  options.only = {"fuse", "order", "recompute"};
  set_memory_limit(30000);
  Graph after = graph;
  run_passes(after, options);
  EXPECT_GT(after.nodes.size(), graph.nodes.size());
  const auto found = results_of(std::move(after), &better);
  set_memory_limit(0);
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_EQ(std::memcmp(wanted[i]->bytes(), found[i]->bytes(), wanted[i]->storage->bytes()), 0);
  EXPECT_EQ(better.donations, 12);
  EXPECT_LT(better.planned_bytes, plain.planned_bytes / 3);
}

TEST(Recompute, ALimitIsNotNegative) { EXPECT_THROW(set_memory_limit(-1), ValueError); }

}  // namespace
}  // namespace sorus
