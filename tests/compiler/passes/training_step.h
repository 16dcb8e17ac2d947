#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "sorus/compiler/executable.h"

/// A training step as a graph, for passes that move calls about.
namespace sorus {

/// A perceptron's training step written as a graph: layers forward, back, and all updates at the end.
inline std::string training_step(int layers) {
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
    inputs.push_back(line(fmt::format("{}(%{})", i % 2 ? "tanh" : "relu", product), "(8, 64)"));
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

inline std::vector<Ref<Value>> results_of(Graph graph, ExecutableReport* report) {
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

}  // namespace sorus
