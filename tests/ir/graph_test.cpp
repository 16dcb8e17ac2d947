#include "sorus/ir/graph.h"

#include <gtest/gtest.h>

#include <random>

namespace sorus {
namespace {

const char* const kText =
    "graph @main(%0: float32(2, 3), %1: float32(3,)) {\n"
    "  %2 = constant 0x0000803f : float32()\n"
    "  %3 = add(%0, %1) : float32(2, 3)\n"
    "  %4 = mul(%3, %2) : float32(2, 3) # train.py:12 in construct\n"
    "  %5 = sum(%4) {axes=(1,), keepdims=false} : float32(2,)\n"
    "  return %5\n"
    "}\n";

TEST(GraphText, RoundTrips) {
  Graph graph = Graph::parse(kText);
  graph.verify();
  EXPECT_EQ(Graph::parse(graph.text()).text(), graph.text());
  EXPECT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(graph.nodes[1].site, "train.py:12 in construct");
  EXPECT_EQ(graph.constant(graph.nodes[1].in[1]).item<float>(), 1.F);
}

TEST(GraphText, KeepsRunTimeAttributes) {
  std::string text = kText;
  text.replace(text.find(" {axes"), 1, " slot 2 ");
  Graph graph = Graph::parse(text);
  EXPECT_EQ(graph.nodes[2].slot, 2);
  EXPECT_EQ(graph.text(), text);
}

void expect_refused(std::string from, std::string to, const std::string& need) {
  std::string text = kText;
  text.replace(text.find(from), from.size(), to);
  try {
    Graph::parse(text).verify();
    FAIL() << "no error for " << to;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(need), std::string::npos) << e.what();
  }
}

TEST(GraphText, SaysLineAndNeed) {
  expect_refused("add(", "no_such_op(", "line 3");
  expect_refused("%0, %1)", "%0, %9)", "%9");
  expect_refused("%0, %1)", "%0, none)", "absent");
  expect_refused("%0, %1)", "%0)", "number of operands");
  expect_refused("float32(2, 3)\n", "float32(2, 4)\n", "line 3");
  expect_refused("0x0000803f", "0x00008", "bytes");
  expect_refused("axes", "axis", "attribute");
  expect_refused("  return %5\n}\n", "", "more lines");
}

TEST(GraphText, RandomDamageNeverCrashes) {
  std::mt19937 random(5);
  std::string good = kText;
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<char>(32 + random() % 96);
    try {
      Graph::parse(bad).verify();
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(GraphVerify, FindsUseBeforeDefinition) {
  Graph graph = Graph::parse(kText);
  std::swap(graph.nodes[0], graph.nodes[1]);
  EXPECT_THROW(graph.verify(), InternalError);
}

}  // namespace
}  // namespace sorus
