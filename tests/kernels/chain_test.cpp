#include "sorus/kernels/tile/chain.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sorus/kernels/cpu/elementwise/tiles.h"

/// Chains over matrices have the bits of chains over elements side by side.
namespace sorus::tile {
namespace {

std::vector<float> numbers(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> to(static_cast<size_t>(n));
  for (float& x : to) x = static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 500.0F;
  return to;
}

/// One number, or one for each column, as one for each element.
std::vector<float> spread_out(const std::vector<float>& from, ChainSpread spread, int64_t rows,
                              int64_t columns) {
  if (spread == ChainSpread::kEach) return from;
  std::vector<float> to;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      to.push_back(from[spread == ChainSpread::kOne ? 0 : static_cast<size_t>(c)]);
  return to;
}

ChainStep step_of(std::string_view op, ChainSide side = ChainSide::kFirst) {
  return {.code = chain_code(op), .side = side, .function = cpu::find_tiles(op)->function(DType::kFloat32)};
}

struct Case {
  ChainSpread first, second;
  ChainSide side;
};

void expect_same_bits(int64_t rows, int64_t columns, const Case& c) {
  SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
  const int64_t n = rows * columns;
  const std::vector<float> x = numbers(n, 1);
  auto operand = [&](ChainSpread spread, unsigned seed) {
    return numbers(spread == ChainSpread::kOne ? 1 : spread == ChainSpread::kColumn ? columns : n, seed);
  };
  const std::vector<float> a = operand(c.first, 2), b = operand(c.second, 3);
  const std::vector<float> wide_a = spread_out(a, c.first, rows, columns),
                           wide_b = spread_out(b, c.second, rows, columns);
  std::vector<ChainStep> steps{step_of("mul"), step_of("sub", c.side), step_of("gelu"),
                               step_of("add", ChainSide::kBoth), step_of("relu6")};
  std::vector<float> wanted(x.size()), wanted_stored(x.size());
  steps[0].operand = wide_a.data(), steps[1].operand = wide_b.data(), steps[2].store = wanted_stored.data();
  run_chain(steps.data(), static_cast<int>(steps.size()), x.data(), wanted.data(), n);
  for (bool in_place : {false, true}) {
    std::vector<float> source = x, other(x.size()), stored(x.size());
    std::vector<float>& found = in_place ? source : other;
    steps[0].operand = a.data(), steps[0].spread = c.first;
    steps[1].operand = b.data(), steps[1].spread = c.second;
    steps[2].store = stored.data();
    run_chain_on_matrix(steps.data(), static_cast<int>(steps.size()), source.data(), found.data(), rows,
                        columns);
    EXPECT_EQ(std::memcmp(found.data(), wanted.data(), found.size() * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(stored.data(), wanted_stored.data(), stored.size() * sizeof(float)), 0);
  }
}

TEST(ChainOnMatrix, HasTheBitsOfTheFlatChain) {
  for (ChainSpread first : {ChainSpread::kEach, ChainSpread::kColumn, ChainSpread::kOne})
    for (ChainSpread second : {ChainSpread::kEach, ChainSpread::kColumn, ChainSpread::kOne})
      for (ChainSide side : {ChainSide::kFirst, ChainSide::kSecond})
        for (int64_t rows : {1, 2, 7, 8, 9, 40})
          for (int64_t columns : {16, 48, 144}) expect_same_bits(rows, columns, {first, second, side});
}

TEST(ChainOnMatrix, TakesNoRows) {
  const ChainStep step = step_of("relu");
  run_chain_on_matrix(&step, 1, nullptr, nullptr, 0, 32);
}

}  // namespace
}  // namespace sorus::tile
