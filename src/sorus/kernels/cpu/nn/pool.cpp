#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/nn/pool.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include <limits>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/cpu/nn/block.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/kernels/pool_windows.h"

/// Pooling of channels-last tensors, 16 channels at a time. Blocks may overlap the next pixel: a
/// result row is made in a scratch row with room at its end, left to right, so that what a block writes too
/// much is written again.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

/// Channels that one piece of work of the backward pass covers.
constexpr int64_t kChannelPiece = 64;

/// A dense channels-last tensor (n, spatial x 3, channels).
template <class T>
struct Pixels {
  T* data;
  T* end;
  int64_t size[3];
  int64_t channels;

  explicit Pixels(const Array& a) : data(a.as<T>()), end(data + a.numel()), channels(a.size(1)) {
    int skip = 3 - (a.rank() - 2);
    for (int i = 0; i < 3; ++i) size[i] = i < skip ? 1 : a.size(2 + i - skip);
  }
  [[nodiscard]] int64_t pixels() const { return size[0] * size[1] * size[2]; }
  [[nodiscard]] T* pixel(int64_t n, int64_t z, int64_t y, int64_t x) const {
    return data + (((n * size[0] + z) * size[1] + y) * size[2] + x) * channels;
  }
};

/// 16 elements, those beyond the end of the tensor 0.
template <class T>
HWY_INLINE BlockOf<ComputeType<T>> load_until(const T* from, const T* end) {
  return load_block(from, end - from, 0);
}
template <class S>
HWY_INLINE BlockOf<S> maximum(BlockOf<S> a, BlockOf<S> b) {
  return map([](auto x, auto y) { return math::maximum(x, y); }, a, b);
}

/// Calls f(place z, y, x, number of the tap) for the places of one window.
template <class F>
HWY_INLINE void for_each_tap(const PoolWindows& w, const AxisWindow& z, const AxisWindow& y,
                             const AxisWindow& x, F f) {
  int64_t tap = 0;
  for (int64_t i = 0; i < z.count; ++i)
    for (int64_t j = 0; j < y.count; ++j)
      for (int64_t k = 0; k < x.count; ++k, ++tap)
        f(z.first + i * w.step[0], y.first + j * w.step[1], x.first + k * w.step[2], tap);
}

/// Rows of numbers that a thread works in, each with room for a block past its end.
template <class S>
struct Scratch {
  std::vector<S> numbers;
  S* row(int64_t index, int64_t length) {
    auto size = static_cast<size_t>(length + 2 * kBlock);
    if (numbers.size() < size * 2) numbers.resize(size * 2);
    return numbers.data() + static_cast<size_t>(index) * size;
  }
};

/// Calls f(n, z, y, scratch) for all result rows, some at a time on each thread.
template <class S, class F>
void for_each_result_row(int64_t n, const PoolWindows& w, int64_t channels, F f) {
  auto depth = static_cast<int64_t>(w.axis[0].size()), height = static_cast<int64_t>(w.axis[1].size());
  int64_t row = static_cast<int64_t>(w.axis[2].size()) * channels;
  int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, row));
  parallel_ranges(n * depth * height, grain, [&](int64_t begin, int64_t end) {
    Scratch<S> scratch;
    for (int64_t r = begin; r < end; ++r) f(r / (depth * height), r / height % depth, r % height, scratch);
  });
}

/// Joins each window of one result row: first the rows of x under it, then along the row. `finish(window,
/// block)` makes the result.
template <class T, class Join, class Finish, class S = ComputeType<T>>
SORUS_FLATTEN void pool_row(const PoolWindows& w, const Pixels<T>& x, int64_t n, const AxisWindow& wz,
                            const AxisWindow& wy, ComputeType<T> empty, T* to, Scratch<S>& scratch, Join join,
                            Finish finish) {
  int64_t length = w.size[2] * x.channels;
  auto windows = static_cast<int64_t>(w.axis[2].size());
  S* joined = scratch.row(0, std::max(length, windows * x.channels));
  S* result = scratch.row(1, std::max(length, windows * x.channels));
  bool first = true;
  for (int64_t i = 0; i < wz.count; ++i)
    for (int64_t j = 0; j < wy.count; ++j) {
      const T* row = x.pixel(n, wz.first + i * w.step[0], wy.first + j * w.step[1], 0);
      for_each_block(length, [&](int64_t c, int64_t count) {
        const auto v = load_block(row + c, count, 0);
        store_full(first ? v : join(load_full(joined + c), v), joined + c);
      });
      first = false;
    }
  for (int64_t o = 0; o < windows; ++o) {
    const AxisWindow& wx = w.axis[2][static_cast<size_t>(o)];
    const S* from = joined + wx.first * x.channels;
    int64_t step = w.step[2] * x.channels;
    for (int64_t c = 0; c < x.channels; c += kBlock) {
      auto v = first || wx.count == 0 ? BlockOf<S>::of(empty) : load_full(from + c);
      for (int64_t k = 1; !first && k < wx.count; ++k) v = join(v, load_full(from + k * step + c));
      store_full(finish(wx, v), result + o * x.channels + c);
    }
  }
  copy_out(result, to, windows * x.channels);
}

template <class T>
void max_forward(const KernelCall& call) {
  PoolWindows w(*call.in[0].shape, *call.out[0].shape, call.attrs<PoolAttrs>());
  Pixels<T> x(call.in[0]), y(call.out[0]);
  using S = ComputeType<T>;
  for_each_result_row<S>(
      call.in[0].size(0), w, x.channels, [&](int64_t n, int64_t oz, int64_t oy, Scratch<S>& scratch) {
        pool_row(
            w, x, n, w.axis[0][static_cast<size_t>(oz)], w.axis[1][static_cast<size_t>(oy)],
            -std::numeric_limits<S>::infinity(), y.pixel(n, oz, oy, 0), scratch,
            [](auto a, auto b) { return maximum(a, b); }, [](const AxisWindow&, auto v) { return v; });
      });
}

template <class T>
void average_forward(const KernelCall& call) {
  const auto& a = call.attrs<PoolAttrs>();
  PoolWindows w(*call.in[0].shape, *call.out[0].shape, a);
  Pixels<T> x(call.in[0]), y(call.out[0]);
  using S = ComputeType<T>;
  for_each_result_row<S>(
      call.in[0].size(0), w, x.channels, [&](int64_t n, int64_t oz, int64_t oy, Scratch<S>& scratch) {
        const AxisWindow& wz = w.axis[0][static_cast<size_t>(oz)];
        const AxisWindow& wy = w.axis[1][static_cast<size_t>(oy)];
        pool_row(
            w, x, n, wz, wy, 0, y.pixel(n, oz, oy, 0), scratch, [](auto l, auto r) { return l + r; },
            [&](const AxisWindow& wx, BlockOf<S> sum) {
              return sum / BlockOf<S>::of(static_cast<S>(PoolWindows::divisor(a, wz, wy, wx)));
            });
      });
}

/// The gradient of one sample and one piece of its channels: add(window z, y, x, offset of the window's
/// pixel, first channel, count, sums) adds a window's share to `sums`, (pixels, channels of the piece) with
/// room at the end.
template <class T, class Add>
void backward(const PoolWindows& w, const Pixels<T>& g, const Pixels<T>& dx, int64_t samples, Add add) {
  int64_t pieces = std::max<int64_t>(1, (dx.channels + kChannelPiece - 1) / kChannelPiece);
  parallel_for(samples * pieces, [&](int64_t piece) {
    int64_t n = piece / pieces, first = piece % pieces * kChannelPiece;
    int64_t channels = std::min(kChannelPiece, dx.channels - first);
    std::vector<ComputeType<T>> sums(static_cast<size_t>(dx.pixels() * channels + kBlock));
    for (size_t i = 0; i < w.axis[0].size(); ++i)
      for (size_t j = 0; j < w.axis[1].size(); ++j)
        for (size_t k = 0; k < w.axis[2].size(); ++k) {
          const T* from =
              g.pixel(n, static_cast<int64_t>(i), static_cast<int64_t>(j), static_cast<int64_t>(k));
          for (int64_t c = 0; c < channels; c += kBlock) {
            // Lanes beyond the piece hold 0, which adds nothing to the next pixel.
            const auto gradient = load_block(from + first + c, channels - c, 0);
            add(n, w.axis[0][i], w.axis[1][j], w.axis[2][k], first + c, gradient, sums.data() + c, channels);
          }
        }
    T* to = dx.pixel(n, 0, 0, 0) + first;
    if (pieces == 1) {
      for_each_block(dx.pixels() * channels, [&](int64_t i, int64_t count) {
        store_block<T>(load_full(sums.data() + i), to + i, count);
      });
      return;
    }
    for (int64_t p = 0; p < dx.pixels(); ++p)
      for_each_block(channels, [&](int64_t c, int64_t count) {
        store_block<T>(load_block(sums.data() + p * channels + c, count, 0), to + p * dx.channels + c, count);
      });
  });
}

template <class S>
HWY_INLINE void add_to(S* sums, BlockOf<S> b) {
  store_full(load_full(sums) + b, sums);
}

template <class T>
void average_backward(const KernelCall& call) {
  using S = ComputeType<T>;
  const auto& a = call.attrs<PoolAttrs>();
  PoolWindows w(*call.out[0].shape, *call.in[0].shape, a);
  Pixels<T> g(call.in[0]), dx(call.out[0]);
  backward(w, g, dx, call.in[0].size(0),
           [&](int64_t, const AxisWindow& wz, const AxisWindow& wy, const AxisWindow& wx, int64_t,
               BlockOf<S> gradient, S* sums, int64_t channels) {
             const auto share =
                 gradient / BlockOf<S>::of(static_cast<S>(PoolWindows::divisor(a, wz, wy, wx)));
             for_each_tap(w, wz, wy, wx, [&](int64_t z, int64_t y, int64_t x, int64_t) {
               add_to(sums + ((z * w.size[1] + y) * w.size[2] + x) * channels, share);
             });
           });
}

/// True for windows of 2 x 2 places that touch each other: the pooling of most small networks.
bool is_two_by_two(const KernelCall& call) {
  const auto& a = call.attrs<PoolAttrs>();
  if (a.adaptive || a.ceil_mode || a.kernel.size() != 2) return false;
  for (int i = 0; i < 2; ++i)
    if (a.kernel[i] != 2 || a.stride[i] != 2 || a.dilation[i] != 1 || a.padding[2 * i] != 0 ||
        a.padding[2 * i + 1] != 0)
      return false;
  return true;
}

/// Whether x is what a maximum takes of x and y in this order: the first of equals, a NaN over everything.
template <class L>
HWY_INLINE typename L::Mask wins(L x, L y) {
  return (x >= y) | math::is_nan(x);
}

/// The gradient under one row of 2 x 2 windows: two rows of x, made in `top` and `bottom` from left to right.
template <class T>
HWY_INLINE void two_by_two_row(const T* x0, const T* x1, const T* x_end, const T* g, const T* g_end,
                               int64_t windows, int64_t channels, ComputeType<T>* top,
                               ComputeType<T>* bottom) {
  using B = BlockOf<ComputeType<T>>;
  using L = typename B::Lane;
  const L zero = L::of(0);
  for (int64_t o = 0; o < windows; ++o)
    for (int64_t c = 0; c < channels; c += kBlock) {
      int64_t left = 2 * o * channels + c, right = left + channels;
      B a = load_until(x0 + left, x_end), b = load_until(x0 + right, x_end);
      B d = load_until(x1 + left, x_end), e = load_until(x1 + right, x_end);
      B gradient = load_until(g + o * channels + c, g_end);
      for_each_lane(
          [&](L& la, L& lb, L& ld, L& le, L whole) {
            auto a_wins = wins(la, lb), d_wins = wins(ld, le);
            auto above_wins = wins(select(a_wins, la, lb), select(d_wins, ld, le));
            const L up = select(above_wins, whole, zero), down = select(above_wins, zero, whole);
            la = select(a_wins, up, zero);
            lb = select(a_wins, zero, up);
            ld = select(d_wins, down, zero);
            le = select(d_wins, zero, down);
          },
          a.lanes, b.lanes, d.lanes, e.lanes, gradient.lanes);
      // One block may reach into the next place, which is written later; several may not.
      int64_t count = channels <= kBlock ? kBlock : std::min(kBlock, channels - c);
      store_block(a, top + left, count);
      store_block(b, top + right, count);
      store_block(d, bottom + left, count);
      store_block(e, bottom + right, count);
    }
}

template <class T>
void two_by_two_backward(const KernelCall& call) {
  using S = ComputeType<T>;
  Pixels<T> x(call.in[0]), g(call.in[1]), dx(call.out[0]);
  int64_t height = x.size[1], row = x.size[2] * x.channels, used = 2 * g.size[2] * x.channels;
  int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, 2 * row));
  // Rows of windows, and one more where the height is odd: its row of x gets zeros.
  int64_t strips = (height + 1) / 2;
  parallel_ranges(call.in[0].size(0) * strips, grain, [&](int64_t begin, int64_t end) {
    Scratch<S> scratch;
    S* top = scratch.row(0, row);
    S* bottom = scratch.row(1, row);
    for (int64_t i = begin; i < end; ++i) {
      int64_t n = i / strips, o = i % strips;
      T* to = dx.pixel(n, 0, 2 * o, 0);
      if (o >= g.size[1]) {
        std::fill(to, to + row, T(0.0F));
        continue;
      }
      const T* from = x.pixel(n, 0, 2 * o, 0);
      two_by_two_row(from, from + row, x.end, g.pixel(n, 0, o, 0), g.end, g.size[2], x.channels, top, bottom);
      std::fill(top + used, top + row, S(0));
      std::fill(bottom + used, bottom + row, S(0));
      copy_out(top, to, row);
      copy_out(bottom, to + row, row);
    }
  });
}

template <class T>
void max_backward(const KernelCall& call) {
  if (is_two_by_two(call)) return two_by_two_backward<T>(call);
  using S = ComputeType<T>;
  using B = BlockOf<S>;
  using L = typename B::Lane;
  PoolWindows w(*call.in[0].shape, *call.in[1].shape, call.attrs<PoolAttrs>());
  Pixels<T> in(call.in[0]), g(call.in[1]), dx(call.out[0]);
  backward(w, g, dx, call.in[0].size(0),
           [&](int64_t n, const AxisWindow& wz, const AxisWindow& wy, const AxisWindow& wx, int64_t c,
               B gradient, S* sums, int64_t channels) {
             B best = B::of(0), place = B::of(0);
             for_each_tap(w, wz, wy, wx, [&](int64_t z, int64_t y, int64_t x, int64_t tap) {
               B v = load_until(in.pixel(n, z, y, x) + c, in.end);
               const L number = L::of(static_cast<double>(tap));
               for_each_lane(
                   [&](L& most, L& where, L now) {
                     auto stays = wins(most, now);
                     where = tap == 0 ? number : select(stays, where, number);
                     most = tap == 0 ? now : select(stays, most, now);
                   },
                   best.lanes, place.lanes, v.lanes);
             });
             for_each_tap(w, wz, wy, wx, [&](int64_t z, int64_t y, int64_t x, int64_t tap) {
               const L number = L::of(static_cast<double>(tap));
               const B share = map([&](L where, L whole) { return select(where == number, whole, L::of(0)); },
                                   place, gradient);
               add_to(sums + ((z * w.size[1] + y) * w.size[2] + x) * channels, share);
             });
           });
}

void max_pool(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { max_forward<T>(c); });
}
void avg_pool(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { average_forward<T>(c); });
}
void max_pool_backward(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { max_backward<T>(c); });
}
void avg_pool_backward(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { average_backward<T>(c); });
}

}  // namespace
}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(max_pool);
HWY_EXPORT(avg_pool);
HWY_EXPORT(max_pool_backward);
HWY_EXPORT(avg_pool_backward);

Kernel pool_kernel(std::string_view name, void (*run)(const KernelCall&)) {
  return {.name = name, .in_layout = Layout::kChannelsLast, .out_layout = Layout::kChannelsLast, .run = run};
}

const SimdRegistrar max_registered{"max_pool",
                                   pool_kernel("max_pool_simd", run_best<HWY_DISPATCH_TABLE(max_pool)>)};
const SimdRegistrar avg_registered{"avg_pool",
                                   pool_kernel("avg_pool_simd", run_best<HWY_DISPATCH_TABLE(avg_pool)>)};
const SimdRegistrar max_backward_registered{
    "max_pool_backward",
    pool_kernel("max_pool_backward_simd", run_best<HWY_DISPATCH_TABLE(max_pool_backward)>)};
const SimdRegistrar avg_backward_registered{
    "avg_pool_backward",
    pool_kernel("avg_pool_backward_simd", run_best<HWY_DISPATCH_TABLE(avg_pool_backward)>)};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
