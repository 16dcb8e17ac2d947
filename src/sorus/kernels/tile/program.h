#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sorus/ir/region.h"
#include "sorus/kernels/tile/chain.h"
#include "sorus/kernels/tile/walk.h"

/// Fused regions: whole ops on tiles that stay in the first caches. Each instruction calls the very function
/// that the op's kernel calls, so a region has the bits of its ops by construction.
namespace sorus::tile {

/// What a value has for each row of the region: all its elements, or a few, as the result of a reduction. A
/// region without reductions has rows of one element.
enum class Space : uint8_t { kFull, kRow };

/// Number of a place whose address the instructions of a tile read: scratch memory, an operand or a result.
using Slot = int32_t;

/// An operand as one of the spaces sees it.
struct Load {
  enum class Way : uint8_t {
    kDirect,  ///< read where it is
    kOnce,    ///< brought into scratch memory for the first tile, and the same for all others
    kTile,    ///< brought into scratch memory for every tile, unless it lies there side by side
  };
  int32_t operand = 0;
  Way way = Way::kDirect;
  Slot slot = 0;
  int64_t size = 0;     ///< of an element in bytes
  int64_t per_row = 1;  ///< elements of the space in a row
  Walk walk;
};

/// A result that instructions write where it belongs, or that is copied there past the caches.
struct Store {
  int32_t result = 0;
  Slot slot = 0;
  int64_t row_bytes = 0;
  bool streams = false;  ///< the slot is scratch memory
};

/// A kernel that computes rows, on the rows of a tile.
struct RowCall {
  const Kernel* kernel = nullptr;
  const Node* node = nullptr;
  std::vector<Shape> shapes;   ///< of operands and results, for a full tile
  std::vector<Array> arrays;   ///< likewise
  std::vector<char> is_whole;  ///< by array: it is the same for any rows
  std::vector<Slot> slots;     ///< of the arrays, -1 for an absent one
  size_t in_count = 0;
  Slot workspace = -1;
  int axis = 0;  ///< the first of a row
};

/// Calls of which each takes the result of the one before; see chain.h.
struct Chain {
  struct Step {
    ChainCode code = ChainCode::kNone;
    ChainSide side = ChainSide::kFirst;
    Slot operand = -1;
    Slot store = -1;
    TileFunction function = nullptr;
  };
  Slot first = 0;
  std::vector<Step> steps;
};

/// One call on a tile, or a chain of them.
struct Instruction {
  enum class Kind : uint8_t {
    kElements,  ///< function on the elements of the space
    kSpread,    ///< one number a row, repeated along the rows
    kRows,      ///< a row kernel
    kChain,     ///< a chain on the elements of the space
  };
  Kind kind = Kind::kElements;
  uint8_t operands = 0;  ///< of the function; for kSpread, bytes of an element
  bool is_once = false;  ///< for the first tile, and the same for all others
  int64_t per_row = 1;   ///< elements in a row
  TileFunction function = nullptr;
  const Node* node = nullptr;  ///< whose attributes are the parameters; null for conversions
  Slot in[4] = {};
  Slot out = 0;
  int32_t index = -1;                 ///< of the row kernel's call or of the chain
  ChainCode code = ChainCode::kNone;  ///< what it is as a step of a chain
};

/// A region bound to the strides of its operands.
class Program final : public RegionProgram {
 public:
  void run(const RegionCall& call) const override;
  /// The pieces of run(), for those who have a loop of their own.
  [[nodiscard]] int64_t pieces() const { return (rows_ + piece_rows_ - 1) / piece_rows_; }
  void run_piece(int64_t piece, const RegionCall& call) const;
  /// Of a program without rows.
  [[nodiscard]] int64_t elements() const { return rows_; }
  /// Of the matrix of the head's result.
  [[nodiscard]] int64_t columns() const { return columns_; }
  /// Computes the part of the results that belongs to a piece of the head's result, which is the operand
  /// `head` of a program that was built with one (Head). The address of that operand is not looked at.
  void run_on(const ResultPiece& piece, std::span<std::byte* const> in, std::span<std::byte* const> out,
              std::span<const AttrsBox> slots) const;

 private:
  friend class Builder;
  struct Tile;
  void run_rows(Tile& tile, int64_t begin, int64_t end) const;
  [[nodiscard]] Tile tile_of(std::span<std::byte* const> in, std::span<std::byte* const> out,
                             std::span<const AttrsBox> slots) const;
  void load(Tile& tile, const Load& load) const;
  void compute(const Tile& tile, const Instruction& instruction) const;
  void compute_rows(const Tile& tile, const RowCall& call) const;
  void compute_chain(const Tile& tile, const Instruction& instruction) const;
  void run_columns(const ResultPiece& piece, std::span<std::byte* const> in,
                   std::span<std::byte* const> out) const;

  int64_t rows_ = 0;
  int64_t tile_rows_ = 1;
  int64_t piece_rows_ = 1;
  int64_t run_ = 0;  ///< rows after which a tile ends, so that operands need no copy; 0: anywhere
  bool streams_ = false;
  std::vector<Load> loads_;
  std::vector<Store> stores_;
  std::vector<RowCall> row_calls_;
  std::vector<Chain> chains_;
  std::vector<Instruction> code_;
  std::vector<int64_t> scratch_;  ///< by slot: offset in the scratch memory, -1 for operands and results
  int64_t scratch_bytes_ = 0;
  int32_t head_ = -1;    ///< operand that comes piece by piece, -1 for none
  int64_t columns_ = 0;  ///< of its matrix
  /// By slot, where the program is one chain, run on whole rows of that matrix; empty where it is not.
  std::vector<ChainSpread> spreads_;
};

}  // namespace sorus::tile
