#include <algorithm>
#include <cstring>
#include <new>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/elementwise/convert_tiles.h"
#include "sorus/kernels/tile/program.h"

namespace sorus::tile {
namespace {

constexpr std::align_val_t kCacheLine{64};

/// Memory of one thread for the tile it works on, kept from one region to the next.
class Scratch {
 public:
  std::byte* of(int64_t bytes) {
    if (bytes > size_) {
      release();
      data_ = static_cast<std::byte*>(::operator new(static_cast<size_t>(bytes), kCacheLine));
      size_ = bytes;
    }
    return data_;
  }
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { release(); }

 private:
  void release() {
    ::operator delete(data_, kCacheLine);
    data_ = nullptr;
    size_ = 0;
  }
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
};

/// Each number, repeated `times`.
template <class W>
void spread_words(const std::byte* from, std::byte* to, int64_t rows, int64_t times) {
  const W* f = reinterpret_cast<const W*>(from);
  W* t = reinterpret_cast<W*>(to);
  for (int64_t r = 0; r < rows; ++r) std::fill_n(t + r * times, times, f[r]);
}

}  // namespace

/// The rows on which the instructions work now, and where everything is.
struct Program::Tile {
  SmallVector<std::byte*, 64> at;  ///< by slot
  std::byte* scratch = nullptr;
  std::span<std::byte* const> in;
  std::span<std::byte* const> out;
  std::span<const AttrsBox> slots;
  int64_t row = 0;  ///< of the region
  int64_t rows = 0;
  const ResultPiece* piece = nullptr;  ///< where the head is
  int64_t filled = 0;                  ///< rows that kOnce loads need
  bool is_first = true;
};

void Program::load(Tile& tile, const Load& load) const {
  std::byte*& at = tile.at[static_cast<size_t>(load.slot)];
  std::byte* base = tile.in[static_cast<size_t>(load.operand)];
  const int64_t begin = tile.row * load.per_row;
  if (load.way == Load::Way::kDirect) {
    at = base + begin * load.size;
    if (tile.piece && load.operand == head_)
      at = static_cast<std::byte*>(const_cast<void*>(tile.piece->data)) +
           (begin - tile.piece->row * columns_) * load.size;
    return;
  }
  if (load.way == Load::Way::kOnce) {
    // Every tile begins where the same elements come again.
    if (tile.is_first) load.walk.gather(base, 0, tile.filled * load.per_row, load.size, at);
    return;
  }
  const int64_t count = tile.rows * load.per_row;
  const int64_t run = load.walk.run();
  std::byte* scratch = tile.scratch + scratch_[static_cast<size_t>(load.slot)];
  if (run > 1 && begin / run == (begin + count - 1) / run) {
    at = base + load.walk.offset(begin) * load.size;
  } else {
    at = scratch;
    load.walk.gather(base, begin, count, load.size, at);
  }
}

void Program::compute_rows(const Tile& tile, const RowCall& call) const {
  SmallVector<Array, 8> arrays;
  for (size_t i = 0; i < call.arrays.size(); ++i) {
    arrays.push_back(call.arrays[i]);
    if (call.slots[i] >= 0) arrays.back().data = tile.at[static_cast<size_t>(call.slots[i])];
  }
  SmallVector<Shape, 8> shapes(call.shapes.size());
  if (tile.rows < tile_rows_)
    for (size_t i = 0; i < call.arrays.size(); ++i) {
      if (call.is_whole[i] || !arrays[i].present()) continue;
      shapes[i] = call.shapes[i];
      if (call.axis > 0) shapes[i][0] = tile.rows;
      arrays[i].shape = &shapes[i];
    }
  const Node& node = *call.node;
  const void* attributes =
      node.slot >= 0 ? tile.slots[static_cast<size_t>(node.slot)].ref().data : node.attrs.ref().data;
  std::span<const Array> all(arrays.data(), arrays.size());
  call.kernel->run({*node.op, attributes, all.first(call.in_count), all.subspan(call.in_count),
                    call.workspace >= 0 ? tile.at[static_cast<size_t>(call.workspace)] : nullptr});
}

void Program::compute_chain(const Tile& tile, const Instruction& i) const {
  const Chain& chain = chains_[static_cast<size_t>(i.index)];
  auto at = [&](Slot slot) {
    return slot < 0 ? nullptr : reinterpret_cast<float*>(tile.at[static_cast<size_t>(slot)]);
  };
  SmallVector<ChainStep, 16> steps;
  for (const Chain::Step& s : chain.steps)
    steps.push_back({s.code, s.side, ChainSpread::kEach, at(s.operand), at(s.store), s.function});
  run_chain(steps.data(), static_cast<int>(steps.size()), at(chain.first), at(i.out), tile.rows * i.per_row);
}

void Program::compute(const Tile& tile, const Instruction& i) const {
  std::byte* out = tile.at[static_cast<size_t>(i.out)];
  if (i.kind == Instruction::Kind::kRows) return compute_rows(tile, row_calls_[static_cast<size_t>(i.index)]);
  if (i.kind == Instruction::Kind::kChain) return compute_chain(tile, i);
  if (i.kind == Instruction::Kind::kSpread) {
    const std::byte* from = tile.at[static_cast<size_t>(i.in[0])];
    switch (i.operands) {  // bytes of an element
      case 1:
        return spread_words<uint8_t>(from, out, tile.rows, i.per_row);
      case 2:
        return spread_words<uint16_t>(from, out, tile.rows, i.per_row);
      case 4:
        return spread_words<uint32_t>(from, out, tile.rows, i.per_row);
      default:
        return spread_words<uint64_t>(from, out, tile.rows, i.per_row);
    }
  }
  const void* in[4];
  for (int k = 0; k < i.operands; ++k) in[k] = tile.at[static_cast<size_t>(i.in[k])];
  const void* parameters = nullptr;
  if (i.node)
    parameters = i.node->slot >= 0 ? tile.slots[static_cast<size_t>(i.node->slot)].ref().data
                                   : i.node->attrs.ref().data;
  i.function(out, in, (i.is_once ? tile.filled : tile.rows) * i.per_row,
             static_cast<const double*>(parameters));
}

Program::Tile Program::tile_of(std::span<std::byte* const> in, std::span<std::byte* const> out,
                               std::span<const AttrsBox> slots) const {
  static thread_local Scratch scratch;
  Tile tile;
  tile.scratch = scratch.of(scratch_bytes_);
  tile.in = in;
  tile.out = out;
  tile.slots = slots;
  for (int64_t offset : scratch_) tile.at.push_back(offset >= 0 ? tile.scratch + offset : nullptr);
  return tile;
}

void Program::run(const RegionCall& call) const {
  parallel_for(pieces(), [&](int64_t piece) { run_piece(piece, call); });
}

void Program::run_piece(int64_t piece, const RegionCall& call) const {
  Tile tile = tile_of(call.in, call.out, call.slots);
  run_rows(tile, piece * piece_rows_, std::min(rows_, (piece + 1) * piece_rows_));
}

/// Rows of the region that lie side by side.
void Program::run_rows(Tile& tile, int64_t begin, int64_t end) const {
  tile.filled = std::min(tile_rows_, end - begin);
  for (tile.row = begin; tile.row < end; tile.row += tile.rows) {
    tile.rows = std::min(tile_rows_, end - tile.row);
    if (run_ > 0) tile.rows = std::min(tile.rows, run_ - tile.row % run_);
    for (const Load& l : loads_) load(tile, l);
    for (const Store& s : stores_)
      if (!s.streams)
        tile.at[static_cast<size_t>(s.slot)] =
            tile.out[static_cast<size_t>(s.result)] + tile.row * s.row_bytes;
    for (const Instruction& i : code_)
      if (!i.is_once || tile.is_first) compute(tile, i);
    for (const Store& s : stores_)
      if (s.streams)
        cpu::stream_bytes(tile.at[static_cast<size_t>(s.slot)],
                          tile.out[static_cast<size_t>(s.result)] + tile.row * s.row_bytes,
                          tile.rows * s.row_bytes);
    tile.is_first = false;
  }
  if (streams_) cpu::finish_streams();
}

/// The chain on rows of the head's matrix, without a tile: nothing is brought into another form.
void Program::run_columns(const ResultPiece& piece, std::span<std::byte* const> in,
                          std::span<std::byte* const> out) const {
  SmallVector<float*, 32> at(scratch_.size());
  const int64_t begin = piece.row * columns_;
  for (const Load& l : loads_) {
    auto* base = reinterpret_cast<float*>(in[static_cast<size_t>(l.operand)]);
    float*& place = at[static_cast<size_t>(l.slot)];
    if (l.operand == head_)
      place = static_cast<float*>(const_cast<void*>(piece.data));
    else
      place = l.way == Load::Way::kDirect ? base + begin : base;
  }
  for (const Store& s : stores_)
    at[static_cast<size_t>(s.slot)] = reinterpret_cast<float*>(out[static_cast<size_t>(s.result)]) + begin;
  const Chain& chain = chains_[static_cast<size_t>(code_[0].index)];
  auto of = [&](Slot slot) { return slot < 0 ? nullptr : at[static_cast<size_t>(slot)]; };
  SmallVector<ChainStep, 16> steps;
  for (const Chain::Step& s : chain.steps) {
    const ChainSpread spread = s.operand < 0 ? ChainSpread::kEach : spreads_[static_cast<size_t>(s.operand)];
    steps.push_back({s.code, s.side, spread, of(s.operand), of(s.store), s.function});
  }
  run_chain_on_matrix(steps.data(), static_cast<int>(steps.size()), of(chain.first), of(code_[0].out),
                      piece.rows, columns_);
}

void Program::run_on(const ResultPiece& piece, std::span<std::byte* const> in,
                     std::span<std::byte* const> out, std::span<const AttrsBox> slots) const {
  SORUS_INTERNAL(piece.columns == columns_ && piece.pitch == columns_,
                 "a piece is no whole rows: got {} of {}", piece.columns, columns_);
  if (!spreads_.empty()) return run_columns(piece, in, out);
  Tile tile = tile_of(in, out, slots);
  tile.piece = &piece;
  run_rows(tile, piece.row * columns_, (piece.row + piece.rows) * columns_);
}

}  // namespace sorus::tile
