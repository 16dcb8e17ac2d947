#include "sorus/compiler/prepacked.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "sorus/compiler/executable.h"
#include "sorus/core/tensor.h"

namespace sorus {
namespace {

/// A copy is asked for when a value comes again, and only then.
TEST(Prepacked, ACopyIsMadeAtTheSecondRunAndGoesWithItsValue) {
  PrepackedOperands operands;
  const int32_t first = operands.add(4096);
  const int32_t second = operands.add(64);
  Ref<Storage> memory;
  EXPECT_FALSE(operands.find(first, 1, &memory));
  EXPECT_FALSE(memory);
  EXPECT_FALSE(operands.find(first, 1, &memory));
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->bytes(), 4096U);
  operands.keep(first, 1, memory);
  Ref<Storage> other;
  EXPECT_EQ(operands.find(first, 1, &other), memory);
  EXPECT_FALSE(other);
  EXPECT_FALSE(operands.find(second, 1, &other));
  EXPECT_FALSE(other);
  EXPECT_FALSE(operands.find(first, 2, &other));
  EXPECT_FALSE(other);
  EXPECT_FALSE(operands.find(first, 1, &other)) << "the copy of the first value is gone";
  EXPECT_FALSE(other);
}

TEST(Prepacked, ACopyThatComesLateIsDropped) {
  PrepackedOperands operands;
  const int32_t first = operands.add(64);
  Ref<Storage> memory;
  EXPECT_FALSE(operands.find(first, 1, &memory));
  EXPECT_FALSE(operands.find(first, 1, &memory));
  ASSERT_TRUE(memory);
  Ref<Storage> other;
  EXPECT_FALSE(operands.find(first, 2, &other));
  operands.keep(first, 1, memory);
  EXPECT_FALSE(operands.find(first, 2, &other));
  EXPECT_TRUE(other);
}

Tensor numbers(const Shape& shape, int step) {
  std::vector<float> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(static_cast<int>(i * step % 997) - 400) / 300;
  return Tensor(std::span<const float>(v), shape);
}

std::vector<float> run(Executable& executable, const Tensor& x, const Tensor& w) {
  const std::array<Ref<Value>, 2> in{x.value(), w.value()};
  std::array<char, 2> donated{};
  std::array<Ref<Value>, 1> out;
  executable.run(in, donated, {}, out, true);
  const Tensor t(out[0]);
  std::vector<float> result(static_cast<size_t>(t.numel()));
  t.copy_to(result.data(), DType::kFloat32);
  return result;
}

/// Weights that are updated, swapped, and written by somebody else are never mixed up with packed ones.
TEST(Prepacked, EveryRunHasTheWeightsThatItWasGiven) {
  const char* const graphs[] = {
      "graph @g(%0: float32(40, 96), %1: float32(72, 96)) {\n"
      "  %2 = transpose(%1) {axes=(1, 0)} : float32(96, 72)\n"
      "  %3 = matmul(%0, %2) : float32(40, 72)\n"
      "  return %3\n"
      "}\n",
      "graph @g(%0: float32(2, 32, 14, 14), %1: float32(48, 32, 3, 3)) {\n"
      "  %2 = conv(%0, %1) {stride=(1, 1), padding=(1, 1, 1, 1), dilation=(1, 1), groups=1, size=()} : "
      "float32(2, 48, 14, 14)\n"
      "  return %2\n"
      "}\n",
      "graph @g(%0: float32(2, 3, 72), %1: float32(72, 24)) {\n"
      "  %2 = slice(%1) {begins=(0, 0), sizes=(3, 24), steps=(1, 1)} : float32(3, 24)\n"
      "  %3, %4 = recurrent(%0, %2, none, none, %1, none, none, none) {kind=3, reverse=false, "
      "batch_first=false} : float32(2, 3, 24), float32(3, 24)\n"
      "  return %3\n"
      "}\n"};
  for (const char* text : graphs) {
    const Graph graph = Graph::parse(text);
    const Tensor x = numbers(graph.type(graph.inputs[0]).shape, 7);
    const Shape& shape = graph.type(graph.inputs[1]).shape;
    const Tensor w[] = {numbers(shape, 3), numbers(shape, 11)};
    std::vector<float> expected[2];
    for (int i : {0, 1}) {
      Executable fresh(graph);
      expected[i] = run(fresh, x, w[i]);
    }
    ASSERT_NE(expected[0], expected[1]);
    Executable executable(graph);
    for (int i : {0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1}) EXPECT_EQ(run(executable, x, w[i]), expected[i]) << text;

    std::vector<float> memory(static_cast<size_t>(shape.numel()));
    Ref<Value> value = Value::make(w[0].type());
    value->strides = Strides::contiguous(shape);
    value->storage =
        Storage::external(memory.data(), memory.size() * sizeof(float), Device{}, nullptr, [](void*) {});
    for (int i : {0, 0, 0, 1, 0, 1}) {
      w[i].copy_to(memory.data(), DType::kFloat32);
      EXPECT_EQ(run(executable, x, Tensor(value)), expected[i]) << text;
    }
  }
}

}  // namespace
}  // namespace sorus
