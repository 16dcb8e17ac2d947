#include "sorus/compiler/kept_results.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "sorus/compiler/executable.h"
#include "sorus/core/tensor.h"

namespace sorus {
namespace {

TEST(KeptResults, AreThoseOfTheLastKey) {
  KeptResults kept;
  const int32_t first = kept.add(), second = kept.add();
  EXPECT_FALSE(kept.find(first, {}));
  const Ref<Storage> one = Storage::allocate(64), two = Storage::allocate(64);
  kept.keep(first, {0, 1, 2}, one);
  EXPECT_EQ(kept.find(first, {0, 1, 2}), one);
  EXPECT_FALSE(kept.find(first, {0, 1, 3}));
  EXPECT_FALSE(kept.find(second, {0, 1, 2}));
  kept.keep(first, {0, 1, 3}, two);
  EXPECT_FALSE(kept.find(first, {0, 1, 2}));
  EXPECT_EQ(kept.find(first, {0, 1, 3}), two);
}

Tensor numbers(const Shape& shape, int step) {
  std::vector<float> v(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = static_cast<float>(1 + i * static_cast<size_t>(step) % 97) / 30;
  return Tensor(std::span<const float>(v), shape);
}

std::vector<float> run(Executable& executable, const std::array<Tensor, 3>& in) {
  const std::array<Ref<Value>, 3> values{in[0].value(), in[1].value(), in[2].value()};
  std::array<char, 3> donated{};
  std::array<Ref<Value>, 1> out;
  executable.run(values, donated, {}, out, true);
  const Tensor t(out[0]);
  std::vector<float> result(static_cast<size_t>(t.numel()));
  t.copy_to(result.data(), DType::kFloat32);
  return result;
}

/// Two small calls of parameters alone in one bundle, as the pass makes it, then what is done with the data.
const char* const kScaled =
    "graph @g(%0: float32(40, 8), %1: float32(8,), %2: float32(8,)) {\n"
    "  %3, %4 = call(%1, %2) graph @bundle(%0: float32(8,), %1: float32(8,)) {\n"
    "    %2 = call(%0) graph @root(%0: float32(8,)) {\n"
    "      %1 = sqrt(%0) : float32(8,)\n"
    "      return %1\n"
    "    } : float32(8,)\n"
    "    %3 = call(%1) graph @double(%0: float32(8,)) {\n"
    "      %1 = add(%0, %0) : float32(8,)\n"
    "      return %1\n"
    "    } : float32(8,)\n"
    "    return %2, %3\n"
    "  } : float32(8,), float32(8,)\n"
    "  %5 = div(%4, %3) : float32(8,)\n"
    "  %6 = mul(%0, %5) : float32(40, 8)\n"
    "  return %6\n"
    "}\n";

std::array<Tensor, 3> inputs(int x, int variance, int scale) {
  return {numbers({40, 8}, x), numbers({8}, variance), numbers({8}, scale)};
}

/// `div` reads what is kept, and may not write over it.
TEST(KeptResults, EveryRunHasTheInputsThatItWasGiven) {
  const std::array<Tensor, 3> given[] = {inputs(7, 3, 5), inputs(7, 11, 5), inputs(13, 11, 23)};
  std::vector<float> expected[3];
  for (size_t i = 0; i < 3; ++i) {
    Executable fresh(Graph::parse(kScaled));
    expected[i] = run(fresh, given[i]);
  }
  ASSERT_NE(expected[0], expected[1]);
  Executable executable(Graph::parse(kScaled));
  EXPECT_EQ(executable.report().kept, 1);
  for (size_t i : {0, 0, 0, 1, 0, 2, 2, 1, 2, 0}) EXPECT_EQ(run(executable, given[i]), expected[i]);
}

TEST(KeptResults, FollowBytesThatOthersWrite) {
  Executable executable(Graph::parse(kScaled));
  std::array<Tensor, 3> in = inputs(7, 3, 5);
  std::vector<float> memory(8, 4.0F);
  Ref<Value> value = Value::make(in[1].type());
  value->strides = Strides::contiguous(Shape{8});
  value->storage =
      Storage::external(memory.data(), memory.size() * sizeof(float), Device{}, nullptr, [](void*) {});
  in[1] = Tensor(value);
  const std::vector<float> by_two = run(executable, in);
  memory.assign(8, 16.0F);
  const std::vector<float> by_four = run(executable, in);
  for (size_t i = 0; i < by_two.size(); ++i) EXPECT_EQ(by_two[i], 2 * by_four[i]);
}

/// What leaves the program is the caller's, who may write over it.
TEST(KeptResults, ResultsOfTheProgramAreNotKept) {
  std::string text = kScaled;
  for (const char* leaves : {"return %6, %3", "return %6, %7"}) {
    std::string other = text;
    other.replace(other.find("return %6"), 9,
                  std::string("%7 = reshape(%4) {shape=(2, 4)} : float32(2, 4)\n  ") + leaves);
    Executable executable(Graph::parse(other));
    EXPECT_EQ(executable.report().kept, 0) << other;
    const std::array<Tensor, 3> in = inputs(7, 3, 5);
    const std::array<Ref<Value>, 3> values{in[0].value(), in[1].value(), in[2].value()};
    std::array<char, 3> donated{};
    std::array<Ref<Value>, 2> first, second;
    executable.run(values, donated, {}, first, true);
    executable.run(values, donated, {}, second, true);
    EXPECT_NE(first[1]->storage, second[1]->storage);
  }
}

TEST(KeptResults, ThreadsWithOtherInputsDoNotMixThem) {
  Executable executable(Graph::parse(kScaled));
  const std::array<Tensor, 3> given[] = {inputs(7, 3, 5), inputs(13, 11, 23)};
  const std::vector<float> expected[] = {run(executable, given[0]), run(executable, given[1])};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 300; ++i)
        if (run(executable, given[(i / 3 + t) % 2]) != expected[(i / 3 + t) % 2]) ++wrong;
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace sorus
