#pragma once

#include <span>
#include <string_view>

#include "sorus/dispatch/kernel.h"

/// Elementwise kernels as tiles: one function per (op, compute type) that works on contiguous elements, and
/// one driver that brings operands into that form. Fused regions call the same functions, so their bits are
/// those of the op.
namespace sorus::cpu {

/// The tile functions of one op. 16-bit floats compute in float32, the rest in their own type.
struct TileRow {
  std::string_view op;
  int operands = 0;
  bool gives_truth = false;                ///< the result is bool, else of the operands' dtype
  TileFunction by_type[kDTypeCount] = {};  ///< by compute type; null where the op does not take it

  [[nodiscard]] TileFunction function(DType operand) const {
    return by_type[static_cast<int>(is_half(operand) ? DType::kFloat32 : operand)];
  }
};

/// Adds rows (merging those of one op) and registers a kernel for each op that is new. While the library
/// loads.
void register_tiles(std::span<const TileRow> rows);

/// The tile functions of an op; null when it has none.
[[nodiscard]] SORUS_API const TileRow* find_tiles(std::string_view op);

/// Elements that the driver hands to a tile function at once when it has to bring operands into form.
inline constexpr int64_t kTileElements = 2048;
/// Elements that one thread takes at a time.
inline constexpr int64_t kPieceElements = 32768;

/// A tile function for a frequent cast, null for the others.
[[nodiscard]] TileFunction find_frequent_cast(DType from, DType to);

/// Widens 16-bit floats to float32, and rounds float32 to them: what happens around a tile function.
[[nodiscard]] TileFunction widen_function(DType half);
[[nodiscard]] TileFunction narrow_function(DType half);
/// The same for float32 numbers that round_function() gave.
[[nodiscard]] TileFunction store_function(DType half);
/// Rounds to float32 numbers that the 16-bit float has.
[[nodiscard]] TileFunction round_function(DType half);

/// Runs a tile function over all elements of the call, operands broadcast and in any strides.
void run_tiles(const ElementTile& tile, const KernelCall& call);

}  // namespace sorus::cpu
