#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sorus/kernels/cpu/elementwise/tiles.h"
#include "sorus/kernels/tile/program.h"

namespace sorus::tile {

/// The result of a product or convolution that comes piece by piece, as an operand of the calls that follow
/// it: they go through memory in its order.
struct Head {
  int32_t operand = -1;
  int64_t columns = 0;      ///< of its matrix, see ResultPiece
  bool stays_near = false;  ///< the results are read where they were written, so none goes past the caches
};

/// Turns the body of a call into a program for operands of given strides. Used once.
class Builder {
 public:
  Builder(const Graph& body, std::span<const Array> in, const Head& head = {});
  /// Null when the body cannot run tile by tile.
  std::unique_ptr<Program> run();

 private:
  struct Call {
    const Node* node = nullptr;
    const Kernel* kernel = nullptr;
    int row_axis = -1;
    std::vector<Array> in, out;
  };
  /// Where a value of the body is, by space; -1 where it is not.
  struct Known {
    Slot slot[2] = {-1, -1};
    Slot wide[2] = {-1, -1};  ///< 16-bit floats: as float32 numbers
    bool is_made = false;     ///< by an instruction; otherwise it is an operand
    bool is_rounded = false;  ///< `wide` is, by round_function()
    int64_t per_row = 1;
  };
  struct SlotInfo {
    int64_t row_bytes = 0;
    int64_t bytes = 0;
    int32_t first = -1;   ///< instruction that writes it, 0 for an operand, -1 for none
    int32_t last = -1;    ///< last one that reads it, or writes it
    int32_t written = 0;  ///< when it is written, counted in steps, of which chains have several
    int32_t read = -1;    ///< when it is read last, likewise
    bool is_scratch = false;
    bool is_kept = false;  ///< for the whole tile or piece
    bool is_free = false;
  };

  bool find_rows();
  void place_results();
  bool add_elements(const Call& call);
  bool add_rows(const Call& call);
  Slot new_slot(int64_t row_bytes, bool is_scratch);
  void join_chains();
  bool extend_chain(size_t index, std::vector<Instruction>& code);
  void note_lives();
  Slot define(ValueId v, Space space, int64_t per_row);
  Slot get(ValueId v, Space space);
  Slot get_as(ValueId v, Space space, DType compute);
  Slot widen(Slot from, DType stored, Space space);
  void round(ValueId v, Space space, const Instruction& made);
  Slot narrow(ValueId v, Space space);
  Slot load(int32_t operand, Space space);
  Slot row_operand(ValueId v, bool is_whole);
  void choose_tile();
  void finish_rows(RowCall& call);
  void allocate();
  void find_in_place();
  [[nodiscard]] bool follows_head();
  [[nodiscard]] std::vector<ChainSpread> spreads_over_columns() const;
  [[nodiscard]] int64_t elements(Space space) const { return space == Space::kFull ? per_row_ : 1; }

  const Graph& body_;
  std::span<const Array> in_;
  Head head_;
  std::unique_ptr<Program> program_;
  std::vector<Known> known_;     ///< by value
  std::vector<char> is_loaded_;  ///< by operand
  std::map<ValueId, int32_t> operand_of_, result_of_;
  std::vector<Call> calls_;
  std::vector<SlotInfo> slots_;
  uint64_t row_major_in_ = 0;  ///< operands (bits) that are taken in row-major order only
  Shape shape_;                ///< of the region
  Shape column_;               ///< with one element a row
  int axis_ = 0;               ///< the first of a row
  int64_t per_row_ = 1;
  bool has_rows_ = false;
  Ints order_;          ///< axes as elements are numbered
  int64_t period_ = 0;  ///< elements with which tiles of an elementwise region begin anew
  int64_t run_ = 0;
  std::vector<std::vector<int32_t>> readers_;  ///< by slot: instructions, in order, before chains are joined
  std::vector<int32_t> writer_;                ///< by slot: instruction, -1 for none
};

}  // namespace sorus::tile
