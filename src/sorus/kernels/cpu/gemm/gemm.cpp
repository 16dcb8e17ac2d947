#include "sorus/kernels/cpu/gemm/gemm.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sorus/base/thread_pool.h"
#include "sorus/base/tunable.h"
#include "sorus/kernels/cpu/gemm/block.h"
#include "sorus/kernels/cpu/matmul/tiles.h"
#include "sorus/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/gemm/gemm.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "sorus/kernels/cpu/gemm/gemm_simd.h"

#if HWY_ONCE
namespace sorus::kernels::gemm {
namespace {

HWY_EXPORT(multiply_block);
HWY_EXPORT(multiply_vector);
HWY_EXPORT(panel_width);
HWY_EXPORT(pack_b);
HWY_EXPORT(pack_b_rows);
HWY_EXPORT(pack_a);
HWY_EXPORT(row_width);
HWY_EXPORT(transpose);
HWY_EXPORT(finish_row);

const Tunable piece_work({.name = "gemm.piece_work",
                          .initial = 1'500'000,
                          .least = 187'500,
                          .most = 12'000'000,
                          .doc = "floating-point operations worth handing to another thread"});
const Tunable large_piece_work({.name = "gemm.large_piece_work",
                                .initial = 64'000'000,
                                .least = 8'000'000,
                                .most = 512'000'000,
                                .doc = "and those worth a tile of its own in a large product"});
const Tunable visit_depth({.name = "gemm.depth",
                           .initial = 1024,
                           .least = 128,
                           .most = 4096,
                           .doc = "terms of the sums between two visits of the result"});
const Tunable tile_rows({.name = "gemm.tile_rows",
                         .initial = 512,
                         .least = 64,
                         .most = 4096,
                         .doc = "rows that make packing b for them alone worth it"});
const Tunable cache_bytes({.name = "gemm.cache_bytes",
                           .initial = 512 << 10,
                           .least = 64 << 10,
                           .most = 4 << 20,
                           .doc = "part of the second-level cache for all of b, in bytes"});
const Tunable part_depth({.name = "gemm.part_depth",
                          .initial = 2048,
                          .least = 512,
                          .most = 4096,
                          .effect = BitEffect::kMovesBits,
                          .doc = "terms of the parts of long sums, which are added"});
constexpr int64_t kFewPieces = 8;
constexpr int64_t kMaxPieces = 64;
constexpr int64_t kStridedDepth = 256;  // where a tile of a is copied for them
constexpr int64_t kShort = 256;         // sums that are better cut to
constexpr int64_t kShortDepth = 128;    // whose panel of b the nearest cache holds
constexpr int64_t kLine = 16;           // floats of a cache line
constexpr int64_t kNearStep = 512;      // between columns of a that are as good where they lie
constexpr int64_t kPartialBytes = 64 << 20;
constexpr int64_t kFewRows = 24;           // for which packing b costs more than it gives
constexpr int64_t kPackGrain = 32 * 1024;  // elements

/// Floats from one panel of rows of a to the next; a line more than needed, so that they fall on all of a
/// cache's sets.
int64_t panel_of_a(int64_t k) { return kBlockRows * k + 16; }

float* scratch_a(int64_t floats) {
  thread_local Scratch scratch;
  return scratch.reserve(floats);
}
float* scratch_c(int64_t floats) {
  thread_local Scratch scratch;
  return scratch.reserve(floats);
}
/// Of a tile of the result that no other memory is there for.
float* scratch_result(int64_t floats) {
  thread_local Scratch scratch;
  return scratch.reserve(floats);
}
float* scratch_b(int64_t floats) {
  thread_local Scratch scratch;
  return scratch.reserve(floats);
}

/// True where the transposed product, the same sums with factors exchanged, needs less packing: few rows by a
/// transposed b, as a layer's weights lie; or a long sum whose a, more costly to pack than b, is the larger.
bool is_better_swapped(const MatmulProblem& p) {
  constexpr int64_t kMostRows = 64;
  bool single = std::all_of(p.batch.begin(), p.batch.end(), [](int64_t size) { return size == 1; });
  if (!single || p.b_is_packed) return false;
  if (p.k < kLongestSum) {
    return p.b.row_stride == 1 && p.b.col_stride != 1 && p.a.col_stride == 1 && p.m <= kMostRows &&
           2 * p.m <= p.n;
  }
  if (p.a.row_stride != 1 || p.a.col_stride == 1 || p.b.col_stride != 1 || p.has_bias ||
      p.activation != onednn::Activation::kNone) {
    return false;
  }
  bool whole_panels = std::min(p.m, p.n) >= panel();
  return whole_panels && std::max(p.a.col_stride, p.b.row_stride) <= kNearStep ? p.n > p.m : p.m >= 2 * p.n;
}

MatrixLayout transposed(MatrixLayout layout) {
  std::swap(layout.row_stride, layout.col_stride);
  return layout;
}

/// A tile of the result, or of a part of its sums.
struct Tile {
  int64_t batch, part, mi, ni;
};
/// The sums of a tile over [begin, begin + k).
struct Step {
  Tile tile;
  int64_t begin, k;
};

/// A problem with its tiles and its places in the workspace. All of it is cheap, so nothing is kept. Parts of
/// sums depend on the sizes alone; the rest, which changes no bit, may follow the strides.
struct Call {
  MatmulProblem p;  // as it is computed: the transposed one when `swapped`
  int64_t batch;
  bool swapped;
  MatrixLayout a, b;
  Cut parts, m, n, depth;
  int64_t pieces = 1;
  bool by_vector;  // rows that lie in memory one after the other, times one vector
  bool a_strided, a_direct, b_shared, b_direct, pack_a_first, pack_b_first, asks;
  bool comes_in_pieces;
  const PieceTaker* taker = nullptr;
  int64_t a_offset = 0, b_offset = 0, partial_offset = 0, floats = 0;

  /// `in_pieces`: the result is for a taker, whom nobody needs to know yet.
  explicit Call(const MatmulProblem& problem, bool in_pieces = false)
      : p(problem),
        batch(p.batch_count()),
        swapped(!in_pieces && is_better_swapped(problem)),
        comes_in_pieces(in_pieces) {
    a = p.a, b = p.b;
    if (swapped) {
      std::swap(p.m, p.n);
      a = transposed(p.b), b = transposed(p.a);
    }
    b_shared = problem.shares_b();
    if (p.k == 1) a.col_stride = 1;
    if (p.n == 1 && b.row_stride != 1) b.col_stride = 1;
    a_strided = a.col_stride != 1;
    by_vector = p.n == 1 && !a_strided && (b.row_stride == 1 || p.k == 1) && !p.b_is_packed;
    cut_parts();
    a_direct = a_strided && a.row_stride == 1 && parts.count > 1 && a.col_stride <= kNearStep;
    cut_tiles();
    // A few rows, one panel as it would be packed, or a block that the nearest cache holds as it lies.
    constexpr int64_t kBlockDepth = 128, kBlockUses = 256, kPage = 1024;
    b_direct = !p.b_is_packed && b.col_stride == 1 &&
               (p.m < kFewRows || (p.n == panel() && b.row_stride == p.n) ||
                (p.k <= kBlockDepth && p.m <= kBlockUses && b.row_stride % kPage != 0));
    pack_a_first = a_strided && !a_direct && n.count > 1;
    pack_b_first = !b_direct && !by_vector && !p.b_is_packed && (m.count > 2 || (b_shared && batch > 1));
    // Kernels that read a by rows have no registers left for asking, and lose 5 to 10 % by it.
    asks = parts.count > 1 && a_strided && !pack_a_first && !pack_b_first && !p.b_is_packed;
    if (pack_a_first) a_offset = take(batch * a_matrix());
    if (pack_b_first) b_offset = take(b_matrices() * b_matrix());
    if (parts.count > 1) partial_offset = take(batch * parts.count * p.m * p.n);
    if (comes_in_pieces) cut_near();
  }

  [[nodiscard]] int64_t b_matrices() const { return b_shared ? 1 : batch; }
  [[nodiscard]] int64_t panels() const { return ceil_div(p.n, panel()); }
  [[nodiscard]] int64_t b_matrix() const { return panels() * panel() * p.k; }
  [[nodiscard]] int64_t a_panel() const { return panel_of_a(p.k); }
  [[nodiscard]] int64_t a_matrix() const { return ceil_div(p.m, kBlockRows) * a_panel(); }
  [[nodiscard]] Tile tile(int64_t unit) const {
    int64_t rest = unit / m.count;
    return {rest / n.count / parts.count, rest / n.count % parts.count, unit % m.count, rest % n.count};
  }
  [[nodiscard]] const float* a_at(const float* data, const Step& step) const {
    return data + offset(a, step.tile.batch) + m.begin(step.tile.mi) * a.row_stride +
           step.begin * a.col_stride;
  }
  [[nodiscard]] const float* b_at(const float* data, const Step& step) const {
    return data + offset(b, step.tile.batch) + step.begin * b.row_stride +
           n.begin(step.tile.ni) * b.col_stride;
  }
  /// Results that no cache holds are written past them, where rows allow it.
  [[nodiscard]] bool streams(const float* out) const {
    constexpr int64_t kLarge = 32 << 20;
    return batch == 1 && parts.count == 1 && !swapped && !comes_in_pieces &&
           p.m * p.n * static_cast<int64_t>(sizeof(float)) >= kLarge && !p.has_bias &&
           p.activation == onednn::Activation::kNone && p.out.row_stride % kLine == 0 &&
           reinterpret_cast<uintptr_t>(out) % (kLine * sizeof(float)) == 0;
  }
  [[nodiscard]] int64_t offset(const MatrixLayout& layout, int64_t index) const {
    return p.batch_offset(layout, index);
  }

 private:
  int64_t take(int64_t count) {
    int64_t at = floats;
    floats += round_up(count, 16);
    return at;
  }

  /// Tiles of rows that are no larger than what a thread may keep in its second-level cache for a taker.
  void cut_near() {
    constexpr int64_t kNear = 128 * 1024;
    if (parts.count > 1 || m.size * n.size <= kNear) return;
    m = Cut::into(p.m, ceil_div(p.m * n.size, kNear), kBlockRows);
  }

  /// Whole rows, on which what follows the product goes on, cost nothing where b is packed and near. Who
  /// wants pieces gets them too where b is packed later, at the next run.
  [[nodiscard]] bool comes_by_rows() const {
    constexpr int64_t kNearBytes = 512 * 1024, kManyRows = 16 * kBlockRows;
    return (p.b_is_packed || comes_in_pieces) && p.m >= kManyRows &&
           p.n * p.k * static_cast<int64_t>(sizeof(float)) <= kNearBytes;
  }

  /// Floating-point operations.
  [[nodiscard]] double work() const {
    return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
           static_cast<double>(batch);
  }

  void cut_parts() {
    // An even number of parts, as of pieces, keeps two threads equally busy.
    int64_t wanted_parts = p.k >= kLongestSum ? round_up(ceil_div(p.k, part_depth.get()), 2) : 1;
    int64_t partial_bytes = batch * p.m * p.n * static_cast<int64_t>(sizeof(float));
    wanted_parts = std::clamp<int64_t>(kPartialBytes / partial_bytes, 1, wanted_parts);
    parts = Cut::into(p.k, wanted_parts, 16);
  }

  void cut_tiles() {
    auto worth = static_cast<uint64_t>(
        std::clamp(work() / static_cast<double>(piece_work.get()), 1.0, static_cast<double>(kFewPieces)));
    auto few = static_cast<int64_t>(std::bit_ceil(worth));
    pieces = round_up(std::clamp(static_cast<int64_t>(work() / static_cast<double>(large_piece_work.get())),
                                 few, kMaxPieces),
                      few);
    // Parts that are pieces enough are not cut further: each would be packed again.
    int64_t wanted = batch * parts.count >= few ? 1 : ceil_div(pieces, batch * parts.count);
    const int64_t most_rows = tile_rows.get();
    int64_t rows = ceil_div(p.m, most_rows), columns = 1, column_step = panel();
    bool b_fits = p.n * p.k * static_cast<int64_t>(sizeof(float)) <= cache_bytes.get();
    if (comes_by_rows() || (b_fits && p.m > most_rows)) {
      rows = std::max(rows, std::min(wanted, ceil_div(p.m, 2 * kBlockRows)));
    } else if (few < kFewPieces) {
      // A small product is cut one way, by columns where these come out evenly and nothing of a needs
      // copying. Columns of a transposed product are rows of the result: no panels, each copied once.
      if (swapped && parts.count == 1 && p.n % (wanted * kLine) == 0) column_step = kLine;
      columns = !a_strided && (panels() % wanted == 0 || column_step == kLine) ? wanted : 1;
      rows = columns == 1 ? std::min(wanted, ceil_div(p.m, 2 * kBlockRows)) : 1;
    } else if (wanted > 1) {
      // Two panels for each visit of a, or one where tiles would be too few.
      columns = ceil_div(panels(), 2);
      if (rows * columns < std::min(wanted, few)) columns = panels();
      int64_t few_rows = ceil_div(few, batch * parts.count * rows * columns);
      rows = std::min(rows * few_rows, ceil_div(p.m, kBlockRows));
    }
    // The rows of a transposed product are columns of the result, and two threads that write to one cache
    // line wait for each other.
    m = Cut::into(p.m, rows, swapped && parts.count == 1 ? kLine : kBlockRows);
    n = Cut::into(p.n, columns, column_step);
    int64_t deepest = parts.size <= kShort ? kShortDepth : visit_depth.get();
    if (2 * n.size <= panel()) deepest = 2 * kShortDepth;
    if (a_strided && n.count == 1) deepest = std::min(deepest, kStridedDepth);
    if (a_direct) deepest = kShortDepth;
    if (by_vector) deepest = parts.size;
    depth = Cut::into(parts.size, ceil_div(parts.size, deepest), kLine);
  }
};

/// What the pieces of a call work on.
struct Operands {
  const float* a;
  const float* b;
  const float* bias;
  float* out;
  float* packed_a;
  const float* packed_b;  // null when pieces pack for themselves
  float* partial;
};

void pack_panel(const Call& call, int64_t k, int64_t width, const float* from, float* to, int64_t to_row) {
  if (call.b.col_stride == 1 && width == panel()) {
    HWY_DYNAMIC_DISPATCH(pack_b_rows)(k, width, from, call.b.row_stride, to, 0);
  } else {
    HWY_DYNAMIC_DISPATCH(pack_b)(k, width, from, call.b.row_stride, call.b.col_stride, to, to_row);
  }
}

/// Where a tile of the result is computed: in place, in a part to be added later, or to be transposed.
struct Target {
  float* c;
  int64_t row;
};

Target target_of(const Call& call, const Operands& data, const Tile& tile) {
  auto [batch, part, mi, ni] = tile;
  const MatmulProblem& p = call.p;
  if (call.swapped && call.parts.count == 1)
    return {scratch_c(call.m.length(mi) * call.n.length(ni)), call.n.length(ni)};
  if (!data.out && call.parts.count == 1) {
    const int64_t row = call.n.length(ni);
    return {scratch_result(call.m.length(mi) * row), row};
  }
  Target target{data.out + call.offset(p.out, batch), p.out.row_stride};
  if (call.parts.count > 1) target = {data.partial + (batch * call.parts.count + part) * p.m * p.n, p.n};
  target.c += call.m.begin(mi) * target.row + call.n.begin(ni);
  return target;
}

/// Asks for what the next step of a long sum reads first, while this one is computed.
Ahead ask_for(const Call& call, const Operands& data, const Step& step, const Step& next) {
  Ahead ahead;
  int64_t rows = call.m.length(step.tile.mi), columns = call.n.length(step.tile.ni);
  auto rows_of = [](const float* from, int64_t count, int64_t length, int64_t row, int64_t column) {
    return column == 1 ? Ahead::Rows{from, count, length, row} : Ahead::Rows{from, length, count, column};
  };
  ahead.parts[0] = rows_of(call.b_at(data.b, next), next.k, columns, call.b.row_stride, call.b.col_stride);
  ahead.parts[1] = rows_of(call.a_at(data.a, next), next.k, rows, call.a.col_stride, call.a.row_stride);
  constexpr int64_t kMostAtOnce = 8;
  int64_t visits = ceil_div(columns, panel()) * (rows / kBlockRows) * (step.k / Ahead::kColumns);
  ahead.rate = std::min(ceil_div(ahead.lines(), std::max<int64_t>(visits, 1)), kMostAtOnce);
  return ahead;
}

/// One step of the sums of a tile; `next` follows, unless its k is 0.
void run_step(const Call& call, const Operands& data, const Step& step, const Step& next,
              const Target& target) {
  const MatmulProblem& p = call.p;
  const Tile& tile = step.tile;
  int64_t rows = call.m.length(tile.mi), columns = call.n.length(tile.ni), k = step.k;
  const bool is_first = step.begin == call.parts.begin(tile.part);
  if (call.by_vector) {
    HWY_DYNAMIC_DISPATCH(multiply_vector)
    (rows, k, call.a_at(data.a, step), call.a.row_stride, call.b_at(data.b, step), is_first, target.c,
     target.row);
    return;
  }
  Block block{rows,
              k,
              0,
              call.a_at(data.a, step),
              call.a.row_stride,
              0,
              kBlockRows,
              nullptr,
              panel(),
              nullptr,
              target.row,
              is_first};
  block.stream = call.streams(data.out) && k == p.k;
  if (call.pack_a_first) {
    block.a_panel = call.a_panel();
    block.a = data.packed_a + tile.batch * call.a_matrix() +
              call.m.begin(tile.mi) / kBlockRows * block.a_panel + step.begin * kBlockRows;
  } else if (call.a_direct) {
    block.a_panel = kBlockRows, block.a_column = call.a.col_stride;
  } else if (call.a_strided) {
    block.a_panel = panel_of_a(k);
    float* packed = scratch_a(ceil_div(rows, kBlockRows) * block.a_panel);
    HWY_DYNAMIC_DISPATCH(pack_a)
    (rows, k, block.a, call.a.row_stride, call.a.col_stride, packed, block.a_panel);
    block.a = packed;
  }
  const float* b = call.b_at(data.b, step);
  float* packed_panels = nullptr;
  int64_t b_panel = k * panel();
  // Several panels of a row-major b are packed together, as their rows lie.
  constexpr int64_t kTogether = 128 * 1024;
  bool packs = !data.packed_b && !call.b_direct;
  if (packs && call.b.col_stride == 1 && columns > panel() && k * columns <= kTogether) {
    packed_panels = scratch_b(ceil_div(columns, panel()) * b_panel);
    HWY_DYNAMIC_DISPATCH(pack_b_rows)(k, columns, b, call.b.row_stride, packed_panels, b_panel);
  }
  Ahead ahead;
  if (call.asks && next.k > 0) {
    ahead = ask_for(call, data, step, next);
    block.ahead = &ahead;
  }
  for (int64_t j = 0; j < columns; j += panel()) {
    block.width = std::min(panel(), columns - j);
    block.c = target.c + j;
    block.far_a = j == 0 && call.n.count == 1;
    block.b_row = panel();
    if (data.packed_b) {
      block.b = data.packed_b + (call.b_shared ? 0 : tile.batch) * call.b_matrix() +
                (call.n.begin(tile.ni) + j) * p.k + step.begin * panel();
    } else if (packed_panels) {
      block.b = packed_panels + j / panel() * b_panel;
    } else if (call.b_direct && block.width == panel()) {
      block.b = b + j;
      block.b_row = call.b.row_stride;
    } else {
      float* packed = scratch_b(b_panel);
      block.b_row = HWY_DYNAMIC_DISPATCH(row_width)(block.width);
      pack_panel(call, k, block.width, b + j * call.b.col_stride, packed, block.b_row);
      block.b = packed;
    }
    HWY_DYNAMIC_DISPATCH(multiply_block)(block);
  }
  if (block.stream) hwy::FlushStream();
}

/// All sums of a tile.
void run_tile(const Call& call, const Operands& data, const Tile& tile) {
  const MatmulProblem& p = call.p;
  Target target = target_of(call, data, tile);
  int64_t begin = call.parts.begin(tile.part), end = begin + call.parts.length(tile.part);
  for (Step step{tile, begin, std::min(call.depth.size, end - begin)}; step.k > 0;) {
    Step next{tile, step.begin + step.k, std::min(call.depth.size, end - step.begin - step.k)};
    run_step(call, data, step, next, target);
    step = next;
  }
  bool relu = p.activation == onednn::Activation::kRelu;
  int64_t rows = call.m.length(tile.mi), columns = call.n.length(tile.ni);
  int64_t row = call.m.begin(tile.mi), column = call.n.begin(tile.ni);
  float* c = target.c;
  int64_t c_row = target.row;
  if (call.swapped && call.parts.count == 1) {
    c = data.out + column * p.out.row_stride + row, c_row = p.out.row_stride;
    HWY_DYNAMIC_DISPATCH(transpose)(rows, columns, target.c, target.row, c, c_row);
    std::swap(rows, columns), std::swap(row, column);
  }
  if (call.parts.count > 1) return;
  if (data.bias || relu) {
    for (int64_t i = 0; i < rows; ++i) {
      HWY_DYNAMIC_DISPATCH(finish_row)
      (columns, 1, c + i * c_row, 0, data.bias ? data.bias + column : nullptr, relu, c + i * c_row);
    }
  }
  if (call.taker) call.taker->take({c, c_row, tile.batch * p.m + row, rows, column, columns});
}

void pack_all_b(const Call& call, const float* b, float* to) {
  int64_t panels = call.panels(), k = call.p.k;
  if (call.b.col_stride == 1) {
    int64_t depth = std::min(k, std::max<int64_t>(kPackGrain / call.p.n, 8)), blocks = ceil_div(k, depth);
    parallel_for(call.b_matrices() * blocks, [&](int64_t i) {
      int64_t matrix = i / blocks, begin = i % blocks * depth;
      HWY_DYNAMIC_DISPATCH(pack_b_rows)
      (std::min(depth, k - begin), call.p.n, b + call.offset(call.b, matrix) + begin * call.b.row_stride,
       call.b.row_stride, to + matrix * call.b_matrix() + begin * panel(), k * panel());
    });
    return;
  }
  int64_t grain = std::max<int64_t>(1, kPackGrain / (k * panel()));
  parallel_ranges(call.b_matrices() * panels, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      int64_t j = i % panels * panel();
      pack_panel(call, k, std::min(panel(), call.p.n - j),
                 b + call.offset(call.b, i / panels) + j * call.b.col_stride, to + i * panel() * k, panel());
    }
  });
}

void pack_all_a(const Call& call, const float* a, float* to) {
  int64_t k = call.p.k, depth = std::min(k, std::max<int64_t>(kPackGrain / call.p.m, 8)),
          blocks = ceil_div(k, depth);
  parallel_for(call.batch * blocks, [&](int64_t i) {
    int64_t matrix = i / blocks, begin = i % blocks * depth;
    HWY_DYNAMIC_DISPATCH(pack_a)
    (call.p.m, std::min(depth, k - begin), a + call.offset(call.a, matrix) + begin * call.a.col_stride,
     call.a.row_stride, call.a.col_stride, to + matrix * call.a_matrix() + begin * kBlockRows,
     call.a_panel());
  });
}

/// Rows of the result, counted through all matrices, whose parts have been added.
void hand_over_rows(const Call& call, const Operands& data, int64_t begin, int64_t end) {
  if (!call.taker) return;
  const MatmulProblem& p = call.p;
  while (begin < end) {
    int64_t matrix = begin / p.m, row = begin % p.m, count = std::min(end - begin, p.m - row);
    const float* at = data.out ? data.out + call.offset(p.out, matrix) + row * p.out.row_stride
                               : data.partial + matrix * call.parts.count * p.m * p.n + row * p.n;
    call.taker->take({at, data.out ? p.out.row_stride : p.n, begin, count, 0, p.n});
    begin += count;
  }
}

void add_parts(const Call& call, const Operands& data) {
  const MatmulProblem& p = call.p;
  int64_t parts = call.parts.count, matrix = p.m * p.n;
  int64_t grain = std::max<int64_t>(1, kPackGrain / (parts * p.n));
  parallel_ranges(call.batch * p.m, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* from = data.partial + r / p.m * parts * matrix + r % p.m * p.n;
      float* to = from;
      if (!call.swapped && data.out) to = data.out + call.offset(p.out, r / p.m) + r % p.m * p.out.row_stride;
      HWY_DYNAMIC_DISPATCH(finish_row)
      (p.n, parts, from, matrix, data.bias, p.activation == onednn::Activation::kRelu, to);
    }
    if (!call.swapped) return hand_over_rows(call, data, begin, end);
    HWY_DYNAMIC_DISPATCH(transpose)
    (end - begin, p.n, data.partial + begin * p.n, p.n, data.out + begin, p.out.row_stride);
  });
}

/// The problem whose b has been packed, which is never the transposed one.
MatmulProblem as_packed(MatmulProblem problem) {
  problem.b_is_packed = true;
  return problem;
}

}  // namespace

int64_t panel() {
  static const int64_t width = HWY_DYNAMIC_DISPATCH(panel_width)();
  return width;
}

void multiply_block(const Block& block) { HWY_DYNAMIC_DISPATCH(multiply_block)(block); }

bool takes(const MatmulProblem& problem) {
  static const bool vectors = panel() >= 16;
  return vectors && problem.type == onednn::ElementType::kFloat32 &&
         problem.out_type == onednn::ElementType::kFloat32;
}

size_t workspace(const MatmulProblem& problem) {
  const int64_t floats = std::max(Call(problem).floats, Call(problem, true).floats);
  return static_cast<size_t>(floats) * sizeof(float);
}

bool has_pieces(const MatmulProblem& problem) {
  const Call call(problem);
  return !call.swapped && (call.n.count == 1 || call.parts.count > 1);
}

size_t packed_b_bytes(const MatmulProblem& problem) {
  Call call(as_packed(problem));
  return static_cast<size_t>(call.b_matrices() * call.b_matrix()) * sizeof(float);
}

void pack_b(const MatmulProblem& problem, const float* b, float* to) {
  pack_all_b(Call(as_packed(problem)), b, to);
}

bool gives_rows(const MatmulProblem& problem) {
  return problem.batch_count() == 1 && problem.k < kLongestSum && problem.a.col_stride == 1;
}

void multiply_rows(const MatmulProblem& problem, const float* a, const float* packed_b, const float* bias,
                   int64_t begin, int64_t end, float* to) {
  const int64_t columns = problem.n, depth = problem.k;
  for (int64_t first = 0; first < depth; first += kShortDepth) {
    Block block{end - begin,
                std::min(kShortDepth, depth - first),
                0,
                a + begin * problem.a.row_stride + first,
                problem.a.row_stride,
                0,
                kBlockRows,
                nullptr,
                panel(),
                nullptr,
                columns,
                first == 0};
    for (int64_t j = 0; j < columns; j += panel()) {
      block.width = std::min(panel(), columns - j);
      block.b = packed_b + j * depth + first * panel();
      block.c = to + j;
      block.far_a = j == 0;
      HWY_DYNAMIC_DISPATCH(multiply_block)(block);
    }
  }
  const bool relu = problem.activation == onednn::Activation::kRelu;
  if (!bias && !relu) return;
  for (int64_t i = 0; i < end - begin; ++i) HWY_DYNAMIC_DISPATCH(finish_row)
  (columns, 1, to + i * columns, 0, bias, relu, to + i * columns);
}

void multiply(const MatmulProblem& problem, const float* a, const float* b, const float* bias, float* out,
              void* workspace, const PieceTaker* taker) {
  Call call(problem, taker != nullptr);
  call.taker = taker;
  float* space = static_cast<float*>(workspace);
  if (call.swapped) std::swap(a, b);
  Operands data{a, b, bias, out, nullptr, problem.b_is_packed ? b : nullptr, space + call.partial_offset};
  if (call.pack_a_first) {
    data.packed_a = space + call.a_offset;
    pack_all_a(call, a, data.packed_a);
  }
  if (call.pack_b_first) {
    pack_all_b(call, b, space + call.b_offset);
    data.packed_b = space + call.b_offset;
  }
  int64_t units = call.batch * call.parts.count * call.m.count * call.n.count;
  parallel_ranges(units, std::max<int64_t>(1, units / call.pieces), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) run_tile(call, data, call.tile(i));
  });
  if (call.parts.count > 1) add_parts(call, data);
}

}  // namespace sorus::kernels::gemm
#endif
