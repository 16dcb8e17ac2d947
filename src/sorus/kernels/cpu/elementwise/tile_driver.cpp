#include <algorithm>
#include <cstring>

#include "sorus/base/thread_pool.h"
#include "sorus/base/tunable.h"
#include "sorus/kernels/cpu/elementwise/convert_tiles.h"
#include "sorus/kernels/cpu/elementwise/tiles.h"

namespace sorus::cpu {
namespace {

constexpr size_t kMaxOperands = 4;
constexpr int64_t kWidest = 8;  // bytes of an element
/// Runs shorter than this are gathered into whole tiles.
constexpr int64_t kLongRun = 256;

const Tunable piece_elements({.name = "elementwise.piece_elements",
                              .initial = kPieceElements,
                              .least = 4 << 10,
                              .most = 512 << 10,
                              .doc = "elements that one thread takes at a time"});
const Tunable streamed_bytes(
    {.name = "elementwise.stream_bytes",
     .initial = usual_streamed_bytes(),
     .least = 1 << 20,
     .most = int64_t{1} << 30,
     .doc = "results of more bytes go past the caches, which still hold what is needed"});

/// Axes of the result from outermost to innermost in memory, adjacent ones joined where every array allows
/// it. Elements are numbered in that order: the flat index.
struct Plan {
  int rank = 0;
  int64_t sizes[kMaxRank] = {};
  int64_t steps[kMaxOperands + 1][kMaxRank] = {};  ///< in elements, for each operand and, last, the result
  int64_t count = 0;
};

void join_axes(Plan& p, size_t arrays) {
  int last = 0;
  for (int axis = 1; axis < p.rank; ++axis) {
    bool joins = true;
    for (size_t a = 0; a < arrays; ++a) joins &= p.steps[a][last] == p.steps[a][axis] * p.sizes[axis];
    if (joins) {
      p.sizes[last] *= p.sizes[axis];
    } else {
      p.sizes[++last] = p.sizes[axis];
    }
    for (size_t a = 0; a < arrays; ++a) p.steps[a][last] = p.steps[a][axis];
  }
  p.rank = last + 1;
}

Plan make_plan(const KernelCall& call) {
  Plan p;
  const Array& out = call.out[0];
  const Shape& shape = *out.shape;
  p.count = shape.numel();
  const Ints order = memory_order(shape, out.strides);
  for (int64_t a : order) {
    const int axis = static_cast<int>(a);
    if (shape.size(axis) == 1) continue;
    p.sizes[p.rank] = shape.size(axis);
    for (size_t i = 0; i < call.in.size(); ++i) {
      const Array& in = call.in[i];
      const int own = axis - (shape.rank() - in.rank());
      p.steps[i][p.rank] = own < 0 || in.size(own) == 1 ? 0 : in.strides[own];
    }
    p.steps[call.in.size()][p.rank] = out.strides[axis];
    ++p.rank;
  }
  if (p.rank == 0) {  // one element
    p.rank = 1;
    p.sizes[0] = 1;
    for (size_t a = 0; a <= call.in.size(); ++a) p.steps[a][0] = 1;
  } else {
    join_axes(p, call.in.size() + 1);
  }
  return p;
}

/// The plan of the commonest call: every array is row-major and of the result's shape, or has one element.
bool plain_plan(const KernelCall& call, Plan& p) {
  const Array& out = call.out[0];
  if (!is_contiguous(*out.shape, out.strides)) return false;
  p.rank = 1;
  p.count = p.sizes[0] = out.numel();
  p.steps[call.in.size()][0] = 1;
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Array& in = call.in[i];
    if (*in.shape == *out.shape && is_contiguous(*in.shape, in.strides))
      p.steps[i][0] = 1;
    else if (in.numel() == 1)
      p.steps[i][0] = 0;
    else
      return false;
  }
  return true;
}

/// Calls run(offset in elements of array `a`, count) for the runs along the innermost axis that make up the
/// flat indices [begin, begin + count).
template <class Run>
void for_each_run(const Plan& p, size_t a, int64_t begin, int64_t count, Run run) {
  const int inner = p.rank - 1;
  int64_t index[kMaxRank];
  int64_t offset = 0;
  int64_t left = begin;
  for (int axis = inner; axis >= 0; --axis) {
    index[axis] = left % p.sizes[axis];
    left /= p.sizes[axis];
    offset += index[axis] * p.steps[a][axis];
  }
  while (count > 0) {
    const int64_t n = std::min(count, p.sizes[inner] - index[inner]);
    run(offset, n);
    count -= n;
    offset += n * p.steps[a][inner];
    index[inner] += n;
    for (int axis = inner; axis > 0 && index[axis] == p.sizes[axis]; --axis) {
      offset += p.steps[a][axis - 1] - p.sizes[axis] * p.steps[a][axis];
      index[axis] = 0;
      ++index[axis - 1];
    }
  }
}

template <class T>
void copy_run(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t n) {
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  } else if (from_step == 0 && to_step == 1) {
    std::fill_n(to, n, *from);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

template <class F>
void with_word(size_t size, F f) {
  switch (size) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

void gather(const Plan& p, size_t a, const std::byte* from, size_t size, int64_t begin, int64_t count,
            void* to) {
  with_word(size, [&]<class W>(W) {
    W* t = static_cast<W*>(to);
    for_each_run(p, a, begin, count, [&](int64_t offset, int64_t n) {
      copy_run(reinterpret_cast<const W*>(from) + offset, p.steps[a][p.rank - 1], t, 1, n);
      t += n;
    });
  });
}

void scatter(const Plan& p, size_t a, const void* from, size_t size, int64_t begin, int64_t count,
             std::byte* to) {
  with_word(size, [&]<class W>(W) {
    const W* f = static_cast<const W*>(from);
    for_each_run(p, a, begin, count, [&](int64_t offset, int64_t n) {
      copy_run(f, 1, reinterpret_cast<W*>(to) + offset, p.steps[a][p.rank - 1], n);
      f += n;
    });
  });
}

void widen_any(DType t, const void* from, void* to, int64_t n) {
  if (t == DType::kFloat16)
    widen(static_cast<const Float16*>(from), static_cast<float*>(to), n);
  else
    widen(static_cast<const BFloat16*>(from), static_cast<float*>(to), n);
}
void narrow_any(DType t, const void* from, void* to, int64_t n) {
  if (t == DType::kFloat16)
    narrow(static_cast<const float*>(from), static_cast<Float16*>(to), n);
  else
    narrow(static_cast<const float*>(from), static_cast<BFloat16*>(to), n);
}

enum class Access : uint8_t { kDirect, kOneValue, kGather };

Access access_of(const Plan& p, size_t a) {
  if (p.rank > 1) return Access::kGather;
  return p.steps[a][0] == 1 || p.sizes[0] == 1 ? Access::kDirect
         : p.steps[a][0] == 0                  ? Access::kOneValue
                                               : Access::kGather;
}

/// Everything that one piece of work needs; shared by the threads, read-only.
struct Work {
  const ElementTile& tile;
  const KernelCall& call;
  Plan plan;
  Access access[kMaxOperands + 1] = {};
  bool streams = false;
  bool whole = false;  ///< every array is used in place: no tiles needed
};

/// Buffers of one thread for one tile.
struct Buffers {
  alignas(64) std::byte operand[kMaxOperands][kTileElements * kWidest];
  alignas(64) std::byte raw[kTileElements * 2];  // 16-bit elements on their way
  alignas(64) std::byte result[kTileElements * kWidest];
};

/// The operand's elements of one tile, contiguous and in the compute type.
const void* bring(const Work& w, size_t i, int64_t begin, int64_t count, Buffers& b) {
  const Array& in = w.call.in[i];
  const size_t size = dtype_size(in.dtype);
  const bool converts = in.dtype != w.tile.compute[i];
  const std::byte* direct = nullptr;
  if (w.access[i] == Access::kDirect) {
    direct = in.data + begin * static_cast<int64_t>(size);
  } else if (w.access[i] == Access::kGather && w.plan.steps[i][w.plan.rank - 1] == 1) {
    int runs = 0;
    for_each_run(w.plan, i, begin, count, [&](int64_t offset, int64_t) {
      direct = in.data + offset * static_cast<int64_t>(size);
      ++runs;
    });
    if (runs > 1) direct = nullptr;
  }
  if (!converts && direct) return direct;
  if (!converts) {
    gather(w.plan, i, in.data, size, begin, count, b.operand[i]);
    return b.operand[i];
  }
  if (!direct) {
    gather(w.plan, i, in.data, size, begin, count, b.raw);
    direct = b.raw;
  }
  widen_any(in.dtype, direct, b.operand[i], count);
  return b.operand[i];
}

void give(const Work& w, int64_t begin, int64_t count, Buffers& b) {
  const Array& out = w.call.out[0];
  const size_t size = dtype_size(out.dtype);
  const void* from = b.result;
  const size_t a = w.call.in.size();
  const bool direct = w.access[a] == Access::kDirect;
  std::byte* to = out.data + begin * static_cast<int64_t>(size);
  if (out.dtype != w.tile.result) {
    narrow_any(out.dtype, b.result, direct && !w.streams ? static_cast<void*>(to) : b.raw, count);
    if (direct && !w.streams) return;
    from = b.raw;
  }
  if (w.streams)
    stream_bytes(from, to, count * static_cast<int64_t>(size));
  else
    scatter(w.plan, a, from, size, begin, count, out.data);
}

void run_piece(const Work& w, int64_t begin, int64_t end) {
  const size_t operands = w.call.in.size();
  const void* in[kMaxOperands];
  const Array& out = w.call.out[0];
  const auto out_size = static_cast<int64_t>(dtype_size(out.dtype));
  if (w.whole) {
    for (size_t i = 0; i < operands; ++i)
      in[i] = w.call.in[i].data + begin * static_cast<int64_t>(dtype_size(w.call.in[i].dtype));
    w.tile.function(out.data + begin * out_size, in, end - begin,
                    static_cast<const double*>(w.call.attributes));
    return;
  }
  Buffers buffers;
  const bool out_direct = w.access[operands] == Access::kDirect && out.dtype == w.tile.result && !w.streams;
  const int64_t run = w.plan.sizes[w.plan.rank - 1];
  bool is_filled[kMaxOperands] = {};
  for (int64_t at = begin; at < end;) {
    int64_t count = std::min(kTileElements, end - at);
    if (w.plan.rank > 1 && run >= kLongRun) count = std::min(count, run - at % run);
    for (size_t i = 0; i < operands; ++i) {
      if (w.access[i] != Access::kOneValue) {
        in[i] = bring(w, i, at, count, buffers);
      } else if (!is_filled[i]) {
        in[i] = bring(w, i, at, count, buffers);  // the first tile is the longest
        is_filled[i] = true;
      }
    }
    w.tile.function(out_direct ? out.data + at * out_size : buffers.result, in, count,
                    static_cast<const double*>(w.call.attributes));
    if (!out_direct) give(w, at, count, buffers);
    at += count;
  }
  if (w.streams) finish_streams();
}

}  // namespace

void run_tiles(const ElementTile& tile, const KernelCall& call) {
  Work w{tile, call, {}};
  if (!plain_plan(call, w.plan)) w.plan = make_plan(call);
  if (w.plan.count == 0) return;
  w.whole = true;
  const size_t operands = call.in.size();
  for (size_t a = 0; a <= operands; ++a) {
    w.access[a] = access_of(w.plan, a);
    const DType stored = a < operands ? call.in[a].dtype : call.out[0].dtype;
    w.whole &= w.access[a] == Access::kDirect && stored == (a < operands ? tile.compute[a] : tile.result);
  }
  // A dense result is used in place whatever its axes; see for_each_run.
  if (w.plan.rank > 1 && is_dense(*call.out[0].shape, call.out[0].strides))
    w.access[operands] = Access::kDirect;
  const int64_t out_bytes = w.plan.count * static_cast<int64_t>(dtype_size(call.out[0].dtype));
  w.streams = out_bytes > streamed_bytes.get() && w.access[operands] == Access::kDirect;
  w.whole &= !w.streams;
  parallel_ranges(w.plan.count, piece_elements.get(),
                  [&](int64_t begin, int64_t end) { run_piece(w, begin, end); });
}

}  // namespace sorus::cpu
