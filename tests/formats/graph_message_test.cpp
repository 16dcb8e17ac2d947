#include "sorus/formats/graph_message.h"

#include <gtest/gtest.h>

#include <map>

#include "sorus/formats/wire.h"

namespace sorus::formats {
namespace {

/// The fields of a message, their bytes or their number as text.
std::multimap<uint32_t, std::string> fields(const std::string& message) {
  std::multimap<uint32_t, std::string> out;
  WireReader in("message", message, 0);
  while (!in.done()) {
    const WireField f = in.next();
    out.emplace(f.number, f.type == 2 ? std::string(f.bytes) : std::to_string(f.value));
  }
  return out;
}

std::string field(const std::string& message, uint32_t number) {
  const auto all = fields(message);
  EXPECT_EQ(all.count(number), 1U) << number;
  return all.find(number)->second;
}

TEST(GraphMessage, HoldsCallsInputsAndOutputs) {
  const Graph graph = Graph::parse(R"(graph @net(%0: float32(2, 3), %1: float32(3,)) {
  %2 = constant 0x0000803f : float32()
  %3 = add(%0, %1) : float32(2, 3) # here
  %4 = mul(%3, %2) : float32(2, 3)
  return %4
}
)");
  const std::string message = field(graph_message(graph), 4);
  EXPECT_EQ(field(message, 2), "net");
  const auto all = fields(message);
  EXPECT_EQ(all.count(1), 2U);
  EXPECT_EQ(all.count(3), 2U);
  EXPECT_EQ(all.count(5), 1U);
  const std::string& add = all.find(1)->second;
  EXPECT_EQ(field(add, 2), "3");
  EXPECT_EQ(field(add, 3), "add");
  EXPECT_EQ(field(add, 8), "Default/add-op3");
  std::vector<std::string> inputs;
  const auto of_add = fields(add);
  for (auto [at, end] = of_add.equal_range(1); at != end; ++at) inputs.push_back(field(at->second, 1));
  EXPECT_EQ(inputs, (std::vector<std::string>{"0", "1"}));
  const std::string type = field(add, 6);
  EXPECT_EQ(field(type, 1), "14");                         // a tensor
  EXPECT_EQ(field(field(type, 2), 1), "11");               // float32
  EXPECT_EQ(fields(field(field(type, 2), 2)).size(), 2U);  // of rank 2
  EXPECT_EQ(field(field(field(add, 5), 2), 7), "here");
  EXPECT_EQ(field(field(message, 4), 1), "4");
  EXPECT_EQ(field(field(message, 5), 1), "2");
}

TEST(GraphMessage, TakesEachResultOfACall) {
  const Graph graph = Graph::parse(R"(graph @main(%0: float32(4,)) {
  %1, %2 = call(%0) graph @two(%0: float32(4,)) {
    %1 = sqrt(%0) : float32(4,)
    %2 = exp(%0) : float32(4,)
    return %1, %2
  } : float32(4,), float32(4,)
  return %2
}
)");
  const auto nodes = fields(field(graph_message(graph), 4));
  ASSERT_EQ(nodes.count(1), 3U);
  auto node = nodes.find(1);
  EXPECT_EQ(field(node->second, 2), "1_results");
  EXPECT_EQ(field(field(node->second, 6), 1), "31");  // a tuple
  for (const char* name : {"1", "2"}) {
    ++node;
    EXPECT_EQ(field(node->second, 2), name);
    EXPECT_EQ(field(node->second, 3), "TupleGetItem");
    EXPECT_EQ(field(field(node->second, 1), 1), "1_results");
  }
}

}  // namespace
}  // namespace sorus::formats
