#pragma once

#include <cstdint>
#include <string_view>

#include "sorus/base/export.h"
#include "sorus/dispatch/kernel.h"

/// Chains of float32 calls in which each takes the result of the one before: the running value stays in
/// registers, a few vectors at a time, instead of passing through a tile. The scalar functions are those of
/// the tile functions.
namespace sorus::tile {

/// What a step does with the running value.
enum class ChainCode : uint8_t {
  kNone,  ///< no step: the call has to run by itself
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMaximum,
  kMinimum,
  kReluBackward,
  kRelu,
  kRelu6,
  kNeg,
  kAbs,
  kSquare,
  kSqrt,
  kReciprocal,
  kExp,
  kTanh,
  kSigmoid,
  kSilu,
  kGelu,
  kGeluTanh,
  kHardsigmoid,
  kHardswish,
  kRoundFloat16,  ///< to a number that float16 has
  kRoundBFloat16
};

/// Where the running value stands among the operands of a step.
enum class ChainSide : uint8_t {
  kFirst,   ///< the running value is the first operand, or the only one
  kSecond,  ///< it is the second
  kBoth     ///< it is both
};

/// The code of an op's float32 function, kNone when it has none.
[[nodiscard]] SORUS_API ChainCode chain_code(std::string_view op);
/// Whether the step gives one of its operands, or its negation: then a 16-bit float needs no rounding after
/// it.
[[nodiscard]] bool needs_no_rounding(ChainCode code);

/// What the other operand of a step has for a matrix of elements.
enum class ChainSpread : uint8_t {
  kEach,    ///< a number for each element
  kColumn,  ///< one for each column, the same in all rows
  kOne      ///< one
};

struct ChainStep {
  ChainCode code = ChainCode::kNone;
  ChainSide side = ChainSide::kFirst;
  ChainSpread spread = ChainSpread::kEach;  ///< looked at by run_chain_on_matrix alone
  const float* operand = nullptr;           ///< the other operand of a step with two
  float* store = nullptr;                   ///< where the value after the step goes as well; null: nowhere
  TileFunction function = nullptr;          ///< the same as a tile function
};

/// Elements that are under way at once with the longest vectors.
constexpr int64_t kChainBlock = 128;

/// Runs the steps over `n` elements, beginning with `first`; the last value goes to `out`. Operands and
/// results may be the same memory where no step reads an element after a step has written it. Fastest for
/// multiples of kChainBlock.
SORUS_API void run_chain(const ChainStep* steps, int count, const float* first, float* out, int64_t n);

/// Columns of which run_chain_on_matrix takes whole multiples.
constexpr int64_t kChainColumns = 16;

/// The same for a row-major matrix. Numbers that belong to a column are read once for several rows.
SORUS_API void run_chain_on_matrix(const ChainStep* steps, int count, const float* first, float* out,
                                   int64_t rows, int64_t columns);

}  // namespace sorus::tile
