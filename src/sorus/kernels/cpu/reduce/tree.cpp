#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/core/value.h"
#include "sorus/kernels/cpu/copy/strided_copy.h"
#include "sorus/kernels/cpu/elementwise/convert_tiles.h"
#include "sorus/kernels/cpu/reduce/layout.h"
#include "sorus/kernels/reduce_tree.h"
#include "sorus/ops/reduce/attributes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/reduce/tree.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "sorus/base/tunable.h"
#include "sorus/kernels/cpu/simd/functions.h"

#ifndef SORUS_KERNELS_CPU_REDUCE_TREE_ONCE
#define SORUS_KERNELS_CPU_REDUCE_TREE_ONCE
namespace sorus::cpu {

// Pieces along the reduced axis are whole subtrees: a power of two of blocks.
const Tunable reduce_piece_elements({.name = "reduce.piece_elements",
                                     .initial = 32 << 10,
                                     .least = 4 << 10,
                                     .most = 512 << 10,
                                     .doc = "elements that one thread reduces at a time"});
const Tunable reduce_column_rows({.name = "reduce.column_rows",
                                  .initial = 4096,
                                  .least = reduce_tree::kBlock,
                                  .most = 64 << 10,
                                  .doc = "rows of a piece where columns are reduced"});
constexpr int64_t kColumnTile = 256;
constexpr int64_t kFewResults = 4;

inline bool lies_channels_last(const Array& x) {
  return !is_contiguous(*x.shape, x.strides) &&
         same_strides(*x.shape, x.strides, Strides::channels_last(*x.shape));
}

/// An operand as it lies where that will do or is row-major, else a row-major copy of it.
class RowMajor {
 public:
  RowMajor(const Array& x, bool will_do) : array_(x) {
    if (will_do || is_contiguous(*x.shape, x.strides)) return;
    copy_ = make_dense({x.dtype, {}, *x.shape});
    array_.data = copy_->bytes();
    array_.strides = copy_->strides;
    copy_array(x, array_);
  }
  [[nodiscard]] const Array& array() const { return array_; }

 private:
  Array array_;
  Ref<Value> copy_;
};

/// `count` elements of the compute type at `from`, which is storage of dtype `t`: in place, or in `buffer`.
inline const void* as_compute(DType t, const std::byte* from, int64_t count, void* buffer) {
  if (t == DType::kFloat16)
    widen(reinterpret_cast<const Float16*>(from), static_cast<float*>(buffer), count);
  else if (t == DType::kBFloat16)
    widen(reinterpret_cast<const BFloat16*>(from), static_cast<float*>(buffer), count);
  else
    return from;
  return buffer;
}

/// Writes results of the compute type T as elements of dtype `t`.
template <class T>
void write_results(DType t, const T* from, std::byte* to, int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    if (t == DType::kFloat16) return narrow(from, reinterpret_cast<Float16*>(to), count);
    if (t == DType::kBFloat16) return narrow(from, reinterpret_cast<BFloat16*>(to), count);
  }
  std::copy_n(from, count, reinterpret_cast<T*>(to));
}

}  // namespace sorus::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace reduce_rows {

#include "sorus/math/rows/reduce.inc"

using namespace reduce_tree;  // NOLINT: the constants of the tree
using cpu::kColumnTile;
using cpu::kFewResults;

/// The lanes of a block, as vectors.
template <class V>
struct Pack {
  static constexpr int kVectors = reduce_tree::kLanes / static_cast<int>(simd::HWY_NAMESPACE::kLanes<V>);
  static constexpr auto kWidth = static_cast<int64_t>(simd::HWY_NAMESPACE::kLanes<V>);
  V v[kVectors];
};

template <class Row, class V>
HWY_INLINE void join_pack(Pack<V>& left, const Pack<V>& right) {
  for (int k = 0; k < Pack<V>::kVectors; ++k) left.v[k] = Row::join(left.v[k], right.v[k]);
}

template <class V>
HWY_INLINE Pack<V> load_pack(const typename V::Scalar* x) {
  Pack<V> p;
  for (int k = 0; k < Pack<V>::kVectors; ++k) p.v[k] = load<V>(x + k * Pack<V>::kWidth);
  return p;
}

/// The lanes of a block of up to kBlock contiguous elements.
template <class Row, class V>
HWY_INLINE Pack<V> block_of(const typename V::Scalar* x, int64_t count) {
  using T = typename V::Scalar;
  Pack<V> acc;
  for (V& v : acc.v) v = Row::template identity<V>();
  int64_t i = 0;
  for (; i + reduce_tree::kLanes <= count; i += reduce_tree::kLanes) join_pack<Row>(acc, load_pack<V>(x + i));
  if (i < count) {
    alignas(64) T rest[reduce_tree::kLanes];
    for (int k = 0; k < Pack<V>::kVectors; ++k)
      store(Row::template identity<V>(), rest + k * Pack<V>::kWidth);
    std::memcpy(rest, x + i, static_cast<std::size_t>(count - i) * sizeof(T));
    join_pack<Row>(acc, load_pack<V>(rest));
  }
  return acc;
}

template <class Row, class V>
typename V::Scalar fold_pack(const Pack<V>& pack, int64_t n) {
  // Twice as long as the lanes, so that a vector can be read from any of them; what lies beyond is not used.
  alignas(64) typename V::Scalar lanes[2 * reduce_tree::kLanes] = {};
  for (int k = 0; k < Pack<V>::kVectors; ++k) store(pack.v[k], lanes + k * Pack<V>::kWidth);
  for (int width = reduce_tree::kLanes / 2; width > 0; width /= 2)
    for (int64_t j = 0; j < width; j += Pack<V>::kWidth)
      store(Row::join(load<V>(lanes + j), load<V>(lanes + j + width)), lanes + j);
  store(Row::finish(load<V>(lanes), n), lanes);
  return lanes[0];
}

/// The elements [begin, end) of one result, which come in runs, joined down to the lanes of one block.
template <class Row, class V>
Pack<V> reduce_runs(const cpu::ReduceLayout& layout, const Array& x, int64_t base, int64_t begin,
                    int64_t end) {
  using T = typename V::Scalar;
  const auto size = static_cast<int64_t>(dtype_size(x.dtype));
  alignas(64) std::byte raw[kBlock * sizeof(T)];
  alignas(64) T wide[kBlock];
  auto block_at = [&](int64_t at, int64_t count) {
    const int64_t in_run = at % layout.run;
    const std::byte* from = x.data + (base + layout.reduced.offset(at / layout.run) + in_run) * size;
    if (in_run + count > layout.run) {  // across runs: put together
      for (int64_t done = 0; done < count;) {
        const int64_t here = (at + done) % layout.run;
        const int64_t n = std::min(count - done, layout.run - here);
        std::memcpy(raw + done * size,
                    x.data + (base + layout.reduced.offset((at + done) / layout.run) + here) * size,
                    static_cast<std::size_t>(n * size));
        done += n;
      }
      from = raw;
    }
    return block_of<Row, V>(static_cast<const T*>(cpu::as_compute(x.dtype, from, count, wide)), count);
  };
  if (end - begin <= kBlock) return block_at(begin, end - begin);
  const auto join = [](Pack<V>& a, const Pack<V>& b) { join_pack<Row>(a, b); };
  BlockTree<Pack<V>, decltype(join)> tree(join);
  for (int64_t at = begin; at < end; at += kBlock) tree.push(block_at(at, std::min(kBlock, end - at)));
  return tree.finish();
}

template <class Row, class V>
void reduce_rows_inner(const cpu::ReduceLayout& layout, const Array& x, const Array& out) {
  using T = typename V::Scalar;
  const auto size = static_cast<int64_t>(dtype_size(out.dtype));
  auto finish = [&](const Pack<V>& pack, int64_t result) {
    const T value = fold_pack<Row>(pack, layout.count);
    cpu::write_results(out.dtype, &value, out.data + result * size, 1);
  };
  const int64_t piece = cpu::reduce_piece_elements.get();
  const int64_t pieces = (layout.count + piece - 1) / piece;
  if (pieces <= 1) {
    const int64_t grain = std::max<int64_t>(1, piece / std::max<int64_t>(1, layout.count));
    parallel_ranges(layout.results, grain, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        finish(reduce_runs<Row, V>(layout, x, layout.kept.offset(r), 0, layout.count), r);
    });
    return;
  }
  std::unique_ptr<Pack<V>[]> partial(new Pack<V>[static_cast<std::size_t>(layout.results * pieces)]);
  parallel_for(layout.results * pieces, [&](int64_t i) {
    const int64_t begin = i % pieces * piece;
    partial[static_cast<std::size_t>(i)] = reduce_runs<Row, V>(layout, x, layout.kept.offset(i / pieces),
                                                               begin, std::min(layout.count, begin + piece));
  });
  const auto join = [](Pack<V>& a, const Pack<V>& b) { join_pack<Row>(a, b); };
  for (int64_t r = 0; r < layout.results; ++r) {
    BlockTree<Pack<V>, decltype(join)> tree(join);
    for (int64_t i = 0; i < pieces; ++i) tree.push(partial[static_cast<std::size_t>(r * pieces + i)]);
    finish(tree.finish(), r);
  }
}

/// Applies join to `count` neighbours: to[i] = join(to[i], from[i]).
template <class Row, class V>
HWY_INLINE void join_columns(typename V::Scalar* to, const typename V::Scalar* from, int64_t count) {
  constexpr auto kStep = static_cast<int64_t>(simd::HWY_NAMESPACE::kLanes<V>);
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) store(Row::join(load<V>(to + i), load<V>(from + i)), to + i);
  if (i == count) return;
  const auto rest = static_cast<std::size_t>(count - i);
  store_some(Row::join(load_some<V>(to + i, rest), load_some<V>(from + i, rest)), to + i, rest);
}

/// Subtrees of columns on a stack, each kLanes rows of `width` numbers; see BlockTree.
template <class Row, class V>
class ColumnTree {
 public:
  using T = typename V::Scalar;
  ColumnTree(int64_t width, int64_t blocks) : width_(width) {
    int depth = 2;
    for (int64_t b = blocks; b > 0; b >>= 1) ++depth;
    buffer_.resize(static_cast<std::size_t>(depth * state_size()));
  }
  [[nodiscard]] int64_t state_size() const { return reduce_tree::kLanes * width_; }
  /// Room for the next block, to be filled before push().
  T* next() { return buffer_.data() + depth_ * state_size(); }
  void push() {
    ++depth_;
    ++blocks_;
    for (uint64_t b = blocks_; (b & 1U) == 0; b >>= 1) join_top();
  }
  T* finish() {
    while (depth_ > 1) join_top();
    return buffer_.data();
  }

 private:
  void join_top() {
    --depth_;
    join_columns<Row, V>(buffer_.data() + (depth_ - 1) * state_size(), next(), state_size());
  }
  int64_t width_;
  std::vector<T> buffer_;
  int64_t depth_ = 0;
  uint64_t blocks_ = 0;
};

/// One tile of columns over the reduced indices [begin, end), joined down to the lanes of one block in
/// `state`.
template <class Row, class V>
void reduce_column_tile(const cpu::ReduceLayout& layout, const Array& x, int64_t base, int64_t width,
                        int64_t begin, int64_t end, typename V::Scalar* state) {
  using T = typename V::Scalar;
  const auto size = static_cast<int64_t>(dtype_size(x.dtype));
  alignas(64) T wide[kColumnTile];
  ColumnTree<Row, V> tree(width, (end - begin + kBlock - 1) / kBlock);
  for (int64_t block = begin; block < end; block += kBlock) {
    T* lanes = tree.next();
    const int64_t block_end = std::min(end, block + kBlock);
    for (int64_t r = block; r < block_end; ++r) {
      const std::byte* from = x.data + (base + layout.reduced.offset(r)) * size;
      const T* row = static_cast<const T*>(cpu::as_compute(x.dtype, from, width, wide));
      T* lane = lanes + (r - block) % reduce_tree::kLanes * width;
      if (r - block < reduce_tree::kLanes)
        std::copy_n(row, width, lane);  // joined to the identity
      else
        join_columns<Row, V>(lane, row, width);
    }
    const int64_t filled = std::min<int64_t>(reduce_tree::kLanes, block_end - block);
    T identity[simd::HWY_NAMESPACE::kLanes<V>];
    store(Row::template identity<V>(), identity);
    std::fill(lanes + filled * width, lanes + tree.state_size(), identity[0]);
    tree.push();
  }
  std::copy_n(tree.finish(), tree.state_size(), state);
}

template <class Row, class V>
void finish_columns(typename V::Scalar* state, int64_t width, int64_t count, const Array& out, int64_t at) {
  constexpr auto kStep = static_cast<int64_t>(simd::HWY_NAMESPACE::kLanes<V>);
  for (int64_t half = reduce_tree::kLanes / 2; half > 0; half /= 2)
    join_columns<Row, V>(state, state + half * width, half * width);
  for (int64_t i = 0; i < width; i += kStep) {
    const auto n = static_cast<std::size_t>(std::min(kStep, width - i));
    store_some(Row::finish(load_some<V>(state + i, n), count), state + i, n);
  }
  cpu::write_results(out.dtype, state, out.data + at * static_cast<int64_t>(dtype_size(out.dtype)), width);
}

template <class Row, class V>
void reduce_columns(const cpu::ReduceLayout& layout, const Array& x, const Array& out) {
  using T = typename V::Scalar;
  // Few results: narrower tiles, so that there is something for every thread.
  const int64_t step = layout.results < kFewResults ? kColumnTile / 4 : kColumnTile;
  const int64_t tiles = (layout.columns + step - 1) / step;
  const int64_t piece_rows = cpu::reduce_column_rows.get();
  const int64_t pieces = (layout.count + piece_rows - 1) / piece_rows;
  const int64_t groups = layout.results * tiles;
  auto width_of = [&](int64_t tile) { return std::min(step, layout.columns - tile * step); };
  std::vector<T> partial(
      static_cast<std::size_t>(pieces > 1 ? groups * pieces * reduce_tree::kLanes * kColumnTile : 0));
  auto state_at = [&](int64_t group, int64_t piece) {
    return partial.data() + (group * pieces + piece) * reduce_tree::kLanes * kColumnTile;
  };
  const int64_t work = std::min(layout.count, piece_rows) * std::min(layout.columns, step);
  parallel_ranges(groups * pieces, std::max<int64_t>(1, cpu::reduce_piece_elements.get() / work),
                  [&](int64_t first, int64_t last) {
                    alignas(64) T own[reduce_tree::kLanes * kColumnTile];
                    for (int64_t i = first; i < last; ++i) {
                      const int64_t group = i / pieces;
                      const int64_t tile = group % tiles;
                      const int64_t result = group / tiles;
                      const int64_t begin = i % pieces * piece_rows;
                      T* state = pieces > 1 ? state_at(group, i % pieces) : own;
                      reduce_column_tile<Row, V>(layout, x, layout.kept.offset(result) + tile * step,
                                                 width_of(tile), begin,
                                                 std::min(layout.count, begin + piece_rows), state);
                      if (pieces == 1)
                        finish_columns<Row, V>(state, width_of(tile), layout.count, out,
                                               result * layout.columns + tile * step);
                    }
                  });
  if (pieces == 1) return;
  parallel_for(groups, [&](int64_t group) {
    const int64_t width = width_of(group % tiles);
    ColumnTree<Row, V> tree(width, pieces);
    for (int64_t piece = 0; piece < pieces; ++piece) {
      std::copy_n(state_at(group, piece), tree.state_size(), tree.next());
      tree.push();
    }
    finish_columns<Row, V>(tree.finish(), width, layout.count, out,
                           group / tiles * layout.columns + group % tiles * step);
  });
}

template <class Row>
void reduce(const KernelCall& call) {
  const Array& out = call.out[0];
  if (out.numel() == 0) return;
  const Ints& axes = call.attrs<ReduceAttrs>().axes;
  const bool is_turned = cpu::lies_channels_last(call.in[0]);
  const cpu::RowMajor row_major(call.in[0], is_turned);
  const Array& x = row_major.array();
  const cpu::ReduceLayout layout =
      is_turned ? cpu::pixel_layout(x, axes, call.op.name) : cpu::reduce_layout(x, axes, call.op.name);
  auto run = [&]<class V>(std::type_identity<V>) {
    if (layout.columns > 1)
      reduce_columns<Row, V>(layout, x, out);
    else
      reduce_rows_inner<Row, V>(layout, x, out);
  };
  if (x.dtype == DType::kFloat64)
    run(std::type_identity<SimdLane<double>>{});
  else
    run(std::type_identity<SimdLane<float>>{});
}

}  // namespace reduce_rows

void reduce_sum(const KernelCall& call) { reduce_rows::reduce<reduce_rows::SumReduction>(call); }
void reduce_mean(const KernelCall& call) { reduce_rows::reduce<reduce_rows::MeanReduction>(call); }
void reduce_prod(const KernelCall& call) { reduce_rows::reduce<reduce_rows::ProdReduction>(call); }
void reduce_amax(const KernelCall& call) { reduce_rows::reduce<reduce_rows::MaxReduction>(call); }
void reduce_amin(const KernelCall& call) { reduce_rows::reduce<reduce_rows::MinReduction>(call); }

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
HWY_EXPORT(reduce_sum);
HWY_EXPORT(reduce_mean);
HWY_EXPORT(reduce_prod);
HWY_EXPORT(reduce_amax);
HWY_EXPORT(reduce_amin);
namespace {

Refusal takes_elements(const KernelCall& call) {
  if (!is_floating(call.in[0].dtype)) return "takes floating dtypes alone";
  return call.in[0].numel() > 0 ? kAccepted : "takes no empty operand";
}

/// Sums along the last axes are those of rows.
int trailing_axis(const KernelCall& call) {
  const int rank = call.in[0].rank();
  const Ints axes = normalize_axes(call.op.name, call.attrs<ReduceAttrs>().axes, rank);
  return !axes.empty() && axes[0] == rank - axes.size() ? static_cast<int>(axes[0]) : -1;
}

Refusal takes_pixels(const KernelCall& call) {
  if (!cpu::reduces_pixels(call.in[0], call.attrs<ReduceAttrs>().axes, call.op.name))
    return "takes reductions of all pixels alone";
  return takes_elements(call);
}

/// Two kernels for an op: over pixels, channels-last values stay as they are.
template <auto run>
struct TreeKernels {
  explicit TreeKernels(std::string_view op)
      : rows(op,
             Kernel{.name = "simd_tree", .supports = takes_elements, .run = run, .row_axis = trailing_axis},
             kSimdRank),
        pixels(op,
               Kernel{.name = "simd_tree_pixels",
                      .in_layout = Layout::kAny,
                      .supports = takes_pixels,
                      .run = run,
                      .row_axis = trailing_axis},
               kSimdRank + 1) {}
  KernelRegistrar rows, pixels;
};
const TreeKernels<[](const KernelCall& call) { HWY_DYNAMIC_DISPATCH(reduce_sum)(call); }> sum("sum");
const TreeKernels<[](const KernelCall& call) { HWY_DYNAMIC_DISPATCH(reduce_mean)(call); }> mean("mean");
const TreeKernels<[](const KernelCall& call) { HWY_DYNAMIC_DISPATCH(reduce_prod)(call); }> prod("prod");
const TreeKernels<[](const KernelCall& call) { HWY_DYNAMIC_DISPATCH(reduce_amax)(call); }> amax("amax");
const TreeKernels<[](const KernelCall& call) { HWY_DYNAMIC_DISPATCH(reduce_amin)(call); }> amin("amin");

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
