#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "sorus/compiler/executable.h"
#include "sorus/compiler/pass_manager.h"

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

/// A perceptron's training step written as a graph: layers forward, back, and all updates at the end.
std::string training_step(int layers, std::mt19937& random) {
  std::string head = "graph @step(%0: float32(8, 64)", body, results;
  int next = layers + 1;
  auto line = [&](const std::string& call, const char* type) {
    body += fmt::format("  %{} = {} : float32{}\n", next, call, type);
    return next++;
  };
  std::vector<int> inputs{0}, gradients;
  for (int i = 1; i <= layers; ++i) {
    head += fmt::format(", %{}: float32(64, 64)", i);
    const int product = line(fmt::format("matmul(%{}, %{})", inputs.back(), i), "(8, 64)");
    inputs.push_back(line(fmt::format("{}(%{})", random() % 2 ? "tanh" : "relu", product), "(8, 64)"));
  }
  int back = inputs.back();
  for (int i = layers; i > 0; --i) {
    back = line(fmt::format("mul(%{}, %{})", back, inputs[static_cast<size_t>(i)]), "(8, 64)");
    const int turned =
        line(fmt::format("transpose(%{}) {{axes=(1, 0)}}", inputs[static_cast<size_t>(i) - 1]), "(64, 8)");
    gradients.push_back(line(fmt::format("matmul(%{}, %{})", turned, back), "(64, 64)"));
    const int weight = line(fmt::format("transpose(%{}) {{axes=(1, 0)}}", i), "(64, 64)");
    back = line(fmt::format("matmul(%{}, %{})", back, weight), "(8, 64)");
  }
  for (int i = 1; i <= layers; ++i)
    results += fmt::format(
        ", %{}",
        line(fmt::format("sub(%{}, %{})", i, gradients[static_cast<size_t>(layers - i)]), "(64, 64)"));
  return head + ") {\n" + body + fmt::format("  return %{}{}\n}}\n", back, results);
}

std::vector<Ref<Value>> results_of(Graph graph, ExecutableReport* report) {
  std::vector<Ref<Value>> in, out(graph.outputs.size());
  std::mt19937 random(1);
  for (ValueId v : graph.inputs) {
    in.push_back(make_dense(graph.type(v)));
    auto* numbers = reinterpret_cast<float*>(in.back()->bytes());
    for (int64_t i = 0; i < graph.type(v).shape.numel(); ++i)
      numbers[i] = static_cast<float>(random() % 100) / 400 - 0.125F;
  }
  Executable executable(std::move(graph));
  *report = executable.report();
  std::vector<char> donated(in.size(), 1);
  executable.run(in, donated, {}, out, false);
  return out;
}

TEST(Order, KeepsBitsAndTakesTheMemoryOfOneGradient) {
  std::mt19937 random(7);
  for (int layers : {1, 3, 12}) {
    const Graph graph = Graph::parse(training_step(layers, random));
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
