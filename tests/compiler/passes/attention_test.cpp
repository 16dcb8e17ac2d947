#include <gtest/gtest.h>

#include "sorus/compiler/pass_manager.h"

namespace sorus {
namespace {

std::string recognized(const std::string& text, bool relaxed = true) {
  Graph graph = Graph::parse(text);
  PassOptions options;
  options.relaxed = relaxed;
  options.only = {"attention", "dce"};
  run_passes(graph, options);
  return graph.text();
}

const char* const kWritten =
    "graph @g(%0: float32(2, 5, 4), %1: float32(2, 3, 4), %2: float32(2, 3, 6), %3: float32(), %4: "
    "float32(5, 3)) {\n"
    "  %5 = transpose(%1) {axes=(0, 2, 1)} : float32(2, 4, 3)\n"
    "  %6 = matmul(%0, %5) : float32(2, 5, 3)\n"
    "  %7 = mul(%6, %3) : float32(2, 5, 3)\n"
    "  %8 = add(%7, %4) : float32(2, 5, 3)\n"
    "  %9 = softmax(%8) {axis=2} : float32(2, 5, 3)\n"
    "  %10 = matmul(%9, %2) : float32(2, 5, 6)\n"
    "  return %10\n"
    "}\n";

TEST(RecognizeAttention, WithScaleAndMask) {
  EXPECT_EQ(
      recognized(kWritten),
      "graph @g(%0: float32(2, 5, 4), %1: float32(2, 3, 4), %2: float32(2, 3, 6), %3: float32(), %4: "
      "float32(5, 3)) {\n"
      "  %5 = transpose(%1) {axes=(0, 2, 1)} : float32(2, 4, 3)\n"
      "  %6 = mul(%0, %3) : float32(2, 5, 4)\n"
      "  %7 = transpose(%5) {axes=(0, 2, 1)} : float32(2, 3, 4)\n"
      "  %8 = broadcast_to(%4) {shape=(2, 5, 3)} : float32(2, 5, 3)\n"
      "  %9, %10 = attention(%6, %7, %2, %8, none) {causal=false, scale=0x1p+0, dropout=0x0p+0} : float32(2, "
      "5, 6), float32(2, 5, 2)\n"
      "  return %9\n"
      "}\n");
}

TEST(RecognizeAttention, WithDropout) {
  EXPECT_EQ(
      recognized(
          "graph @g(%0: float32(2, 5, 4), %1: float32(2, 4, 3), %2: float32(2, 3, 6), %3: uint64(2,)) {\n"
          "  %4 = matmul(%0, %1) : float32(2, 5, 3)\n"
          "  %5 = softmax(%4) {axis=2} : float32(2, 5, 3)\n"
          "  %6 = dropout(%5, %3) {p=0x1p-2} : float32(2, 5, 3)\n"
          "  %7 = matmul(%6, %2) : float32(2, 5, 6)\n"
          "  return %7\n"
          "}\n"),
      "graph @g(%0: float32(2, 5, 4), %1: float32(2, 4, 3), %2: float32(2, 3, 6), %3: uint64(2,)) {\n"
      "  %4 = transpose(%1) {axes=(0, 2, 1)} : float32(2, 3, 4)\n"
      "  %5, %6 = attention(%0, %4, %2, none, %3) {causal=false, scale=0x1p+0, dropout=0x1p-2} : float32(2, "
      "5, "
      "6), float32(2, 5, 2)\n"
      "  return %5\n"
      "}\n");
}

TEST(RecognizeAttention, OnlyWithRelaxedNumerics) { EXPECT_EQ(recognized(kWritten, false), kWritten); }

TEST(RecognizeAttention, NotWhereSomebodyWantsTheWeights) {
  std::string text = kWritten;
  text.replace(text.find("return %10"), 10, "return %10, %9");
  EXPECT_EQ(recognized(text), text);
}

TEST(RecognizeAttention, NotAlongAnotherAxis) {
  std::string text = kWritten;
  text.replace(text.find("axis=2"), 6, "axis=1");
  EXPECT_EQ(recognized(text), text);
}

}  // namespace
}  // namespace sorus
