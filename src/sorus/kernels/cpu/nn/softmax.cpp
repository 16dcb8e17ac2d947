#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/nn/softmax.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include <cmath>

#include "sorus/base/thread_pool.h"
#include "sorus/base/tunable.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/cpu/nn/softmax_rows.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/kernels/labels.h"
#include "sorus/ops/nn/attributes.h"

#ifndef SORUS_KERNELS_CPU_NN_SOFTMAX_ONCE
#define SORUS_KERNELS_CPU_NN_SOFTMAX_ONCE
namespace sorus::cpu {
namespace {
const Tunable softmax_piece_elements({.name = "softmax.piece_elements",
                                      .initial = 16 << 10,
                                      .least = 2 << 10,
                                      .most = 256 << 10,
                                      .doc = "elements of whole rows that one thread takes at a time"});
}  // namespace
}  // namespace sorus::cpu
#endif

/// Softmax, its logarithm, softmax cross-entropy and their gradients. Along contiguous rows, a row
/// after the other, with 64 running sums; along another axis, 16 neighbouring lines at a time.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

/// Rows up to this length stay in the nearest cache together with the next one.
constexpr int64_t kShortRow = 2048;

template <class F>
void for_each_row(int64_t rows, int64_t n, F f) {
  parallel_ranges(rows, std::max<int64_t>(1, cpu::softmax_piece_elements.get() / std::max<int64_t>(1, n)),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t r = begin; r < end; ++r) f(r);
                  });
}

struct RowSize {
  int64_t rows, n;
  explicit RowSize(const Array& x) : n(x.size(x.rank() - 1)) { rows = n == 0 ? 0 : x.numel() / n; }
};

/// Asks for the places of the next row that lie as the i-th of this one, where a row fits the nearest cache.
template <class T>
HWY_INLINE void prefetch_next_row(const T* from, const T* to, int64_t n, int64_t i) {
  if (n > kShortRow) return;
  prefetch(from + n + i);
  if (to) prefetch_write(to + n + i);
}

/// The sum of e^(x - top). Meanwhile the next row of x and of the result comes.
template <class T>
HWY_INLINE ComputeType<T> sum_of_exp(const T* x, int64_t n, ComputeType<T> top, const T* to) {
  using S = ComputeType<T>;
  const auto shift = BlockOf<S>::of(top);
  return sum_blocks<S>(n, [&](BlockOf<S> sum, int64_t i, int64_t count) {
    prefetch_next_row(x, to, n, i);
    return sum + exp(load_block(x + i, count, kLowest<S>) - shift);
  });
}

template <class T>
SORUS_FLATTEN void softmax_row(const T* x, T* y, int64_t n) {
  using S = ComputeType<T>;
  const S top = largest(x, n);
  if constexpr (std::is_same_v<T, S>) {
    // The exponentials wait in the result for their sum.
    const S sum = exponentials(x, y, n, top, [&](int64_t i) { prefetch_next_row(x, y, n, i); });
    scale_row(y, n, 1 / sum);
  } else {
    const auto shift = BlockOf<S>::of(top), scale = BlockOf<S>::of(1 / sum_of_exp(x, n, top, y));
    for_each_block(n, [&](int64_t i, int64_t count) {
      store_block<T>(exp(load_block(x + i, count, kLowest<S>) - shift) * scale, y + i, count);
    });
  }
}

template <class T>
SORUS_FLATTEN void log_softmax_row(const T* x, T* y, int64_t n) {
  using S = ComputeType<T>;
  const S top = largest(x, n);
  const auto shift = BlockOf<S>::of(top), log_sum = BlockOf<S>::of(std::log(sum_of_exp(x, n, top, y)));
  for_each_block(n, [&](int64_t i, int64_t count) {
    store_block<T>(load_block(x + i, count, 0) - shift - log_sum, y + i, count);
  });
}

template <class T>
SORUS_FLATTEN void softmax_backward_row(const T* y, const T* g, T* dx, int64_t n) {
  using S = ComputeType<T>;
  const auto dot = BlockOf<S>::of(dot_of_rows(y, g, n, [&](int64_t i) { prefetch_write(dx + i); }));
  for_each_block(n, [&](int64_t i, int64_t count) {
    store_block<T>(load_block(y + i, count, 0) * (load_block(g + i, count, 0) - dot), dx + i, count);
  });
}

template <class T>
SORUS_FLATTEN void log_softmax_backward_row(const T* y, const T* g, T* dx, int64_t n) {
  using S = ComputeType<T>;
  const auto total = BlockOf<S>::of(-sum_blocks<S>(n, [&](BlockOf<S> sum, int64_t i, int64_t count) {
    prefetch_write(dx + i);
    return sum + load_block(g + i, count, 0);
  }));
  for_each_block(n, [&](int64_t i, int64_t count) {
    store_block<T>(fma(exp(load_block(y + i, count, 0)), total, load_block(g + i, count, 0)), dx + i, count);
  });
}

/// 16 (or `count`) neighbouring lines of n elements, `step` apart.
template <class T>
struct Lines {
  using B = BlockOf<ComputeType<T>>;
  int64_t n, step, count;
  [[nodiscard]] HWY_INLINE B load(const T* x, int64_t i) const { return load_block(x + i * step, count, 0); }
  HWY_INLINE void store(B b, T* y, int64_t i) const { store_block<T>(b, y + i * step, count); }
  [[nodiscard]] B largest(const T* x) const {
    B m = load(x, 0);
    for (int64_t i = 1; i < n; ++i) m = max(m, load(x, i));
    return m;
  }
  [[nodiscard]] B sum_of_exp(const T* x, B top) const {
    B sum = B::of(0);
    for (int64_t i = 0; i < n; ++i) sum = sum + exp(load(x, i) - top);
    return sum;
  }
};

template <class T>
SORUS_FLATTEN void softmax_lines(const Lines<T>& l, const T* x, T* y) {
  const auto top = l.largest(x), scale = Lines<T>::B::of(1) / l.sum_of_exp(x, top);
  for (int64_t i = 0; i < l.n; ++i) l.store(exp(l.load(x, i) - top) * scale, y, i);
}
template <class T>
SORUS_FLATTEN void log_softmax_lines(const Lines<T>& l, const T* x, T* y) {
  const auto top = l.largest(x), log_sum = map([](auto v) { return math::log(v); }, l.sum_of_exp(x, top));
  for (int64_t i = 0; i < l.n; ++i) l.store(l.load(x, i) - top - log_sum, y, i);
}
template <class T>
SORUS_FLATTEN void softmax_backward_lines(const Lines<T>& l, const T* y, const T* g, T* dx) {
  auto dot = Lines<T>::B::of(0);
  for (int64_t i = 0; i < l.n; ++i) dot = fma(l.load(y, i), l.load(g, i), dot);
  for (int64_t i = 0; i < l.n; ++i) l.store(l.load(y, i) * (l.load(g, i) - dot), dx, i);
}
template <class T>
SORUS_FLATTEN void log_softmax_backward_lines(const Lines<T>& l, const T* y, const T* g, T* dx) {
  auto total = Lines<T>::B::of(0);
  for (int64_t i = 0; i < l.n; ++i) total = total + l.load(g, i);
  for (int64_t i = 0; i < l.n; ++i) l.store(l.load(g, i) - exp(l.load(y, i)) * total, dx, i);
}

template <class T>
SORUS_FLATTEN ComputeType<T> loss_of_row(const T* x, int64_t n, int64_t label, double smoothing) {
  using S = ComputeType<T>;
  const S top = largest(x, n);
  const S log_sum = std::log(sum_of_exp(x, n, top, static_cast<const T*>(nullptr)));
  const auto at_label = static_cast<double>(log_sum - (static_cast<S>(x[label]) - top));
  if (smoothing == 0) return static_cast<S>(at_label);
  const auto shift = BlockOf<S>::of(top);
  const S total = sum_blocks<S>(n, [&](BlockOf<S> sum, int64_t i, int64_t count) {
    return sum + (load_block(x + i, count, top) - shift);
  });
  const double uniform = static_cast<double>(log_sum) - static_cast<double>(total) / static_cast<double>(n);
  return static_cast<S>((1 - smoothing) * at_label + smoothing * uniform);
}

/// dx = (p - target) * g
template <class T>
SORUS_FLATTEN void loss_backward_row(const T* x, T* dx, int64_t n, int64_t label, double smoothing,
                                     ComputeType<T> g) {
  using S = ComputeType<T>;
  const S top = largest(x, n), inverse = 1 / sum_of_exp(x, n, top, dx);
  const auto shift = BlockOf<S>::of(top), scale = BlockOf<S>::of(inverse), gradient = BlockOf<S>::of(g);
  const auto uniform = BlockOf<S>::of(static_cast<S>(smoothing / static_cast<double>(n)));
  auto p_minus_uniform = [&](BlockOf<S> b) { return exp(b - shift) * scale - uniform; };
  for_each_block(n, [&](int64_t i, int64_t count) {
    store_block<T>(p_minus_uniform(load_block(x + i, count, kLowest<S>)) * gradient, dx + i, count);
  });
  alignas(64) S at[kBlock];
  store_full(p_minus_uniform(BlockOf<S>::of(static_cast<S>(x[label]))), at);
  dx[label] = T((at[0] - static_cast<S>(1 - smoothing)) * g);
}

/// Runs `rows(offset, n)` for each line where the axis is the last, else `lines(offset, group of lines)`.
template <class T, class Rows, class Columns>
void along_axis(const KernelCall& c, Rows rows, Columns lines) {
  const Shape& shape = *c.in[0].shape;
  auto axis = static_cast<int>(c.attrs<SoftmaxAttrs>().axis);
  int64_t n = shape.size(axis), outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= shape.size(i);
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape.size(i);
  if (n == 0) return;
  if (inner == 1) return for_each_row(outer, n, [&](int64_t r) { rows(r * n, n); });
  int64_t blocks = (inner + kBlock - 1) / kBlock;
  for_each_row(outer * blocks, n * kBlock, [&](int64_t i) {
    int64_t first = i % blocks * kBlock;
    lines(i / blocks * n * inner + first, Lines<T>{n, inner, std::min(kBlock, inner - first)});
  });
}

void softmax(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) {
    const T* x = c.in[0].as<T>();
    T* y = c.out[0].as<T>();
    along_axis<T>(
        c, [&](int64_t at, int64_t n) { softmax_row(x + at, y + at, n); },
        [&](int64_t at, const Lines<T>& l) { softmax_lines(l, x + at, y + at); });
  });
}
void log_softmax(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) {
    const T* x = c.in[0].as<T>();
    T* y = c.out[0].as<T>();
    along_axis<T>(
        c, [&](int64_t at, int64_t n) { log_softmax_row(x + at, y + at, n); },
        [&](int64_t at, const Lines<T>& l) { log_softmax_lines(l, x + at, y + at); });
  });
}
void softmax_backward(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) {
    const T* y = c.in[0].as<T>();
    const T* g = c.in[1].as<T>();
    T* dx = c.out[0].as<T>();
    along_axis<T>(
        c, [&](int64_t at, int64_t n) { softmax_backward_row(y + at, g + at, dx + at, n); },
        [&](int64_t at, const Lines<T>& l) { softmax_backward_lines(l, y + at, g + at, dx + at); });
  });
}
void log_softmax_backward(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) {
    const T* y = c.in[0].as<T>();
    const T* g = c.in[1].as<T>();
    T* dx = c.out[0].as<T>();
    along_axis<T>(
        c, [&](int64_t at, int64_t n) { log_softmax_backward_row(y + at, g + at, dx + at, n); },
        [&](int64_t at, const Lines<T>& l) { log_softmax_backward_lines(l, y + at, g + at, dx + at); });
  });
}

void cross_entropy(const KernelCall& c) {
  RowSize s(c.in[0]);
  const auto& a = c.attrs<CrossEntropyAttrs>();
  Labels labels(c.in[1]);
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) {
    for_each_row(s.rows, s.n, [&](int64_t r) {
      int64_t label = labels[r];
      c.out[0].as<T>()[r] =
          T(label == a.ignore_index ? ComputeType<T>(0)
                                    : loss_of_row(c.in[0].as<T>() + r * s.n, s.n, label, a.label_smoothing));
    });
  });
}
void cross_entropy_backward(const KernelCall& c) {
  RowSize s(c.in[0]);
  const auto& a = c.attrs<CrossEntropyAttrs>();
  Labels labels(c.in[1]);
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) {
    for_each_row(s.rows, s.n, [&](int64_t r) {
      T* dx = c.out[0].as<T>() + r * s.n;
      int64_t label = labels[r];
      if (label == a.ignore_index)
        std::fill(dx, dx + s.n, T(0.0F));
      else
        loss_backward_row(c.in[0].as<T>() + r * s.n, dx, s.n, label, a.label_smoothing,
                          static_cast<ComputeType<T>>(c.in[2].as<T>()[r]));
    });
  });
}

}  // namespace
}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(softmax);
HWY_EXPORT(log_softmax);
HWY_EXPORT(softmax_backward);
HWY_EXPORT(log_softmax_backward);
HWY_EXPORT(cross_entropy);
HWY_EXPORT(cross_entropy_backward);

/// Lines along the last axis are computed one by one.
int last_axis(const KernelCall& c) {
  const auto axis = static_cast<int>(c.attrs<SoftmaxAttrs>().axis);
  return axis + 1 == c.in[0].rank() ? axis : -1;
}

Kernel row_kernel(std::string_view name, void (*run)(const KernelCall&)) {
  return {.name = name, .run = run, .row_axis = last_axis};
}

const SimdRegistrar registered[] = {
    {"softmax", row_kernel("softmax_simd", run_best<HWY_DISPATCH_TABLE(softmax)>)},
    {"log_softmax", row_kernel("log_softmax_simd", run_best<HWY_DISPATCH_TABLE(log_softmax)>)},
    {"softmax_backward", row_kernel("softmax_backward_simd", run_best<HWY_DISPATCH_TABLE(softmax_backward)>)},
    {"log_softmax_backward",
     row_kernel("log_softmax_backward_simd", run_best<HWY_DISPATCH_TABLE(log_softmax_backward)>)},
    {"softmax_cross_entropy",
     {.name = "softmax_cross_entropy_simd", .run = run_best<HWY_DISPATCH_TABLE(cross_entropy)>}},
    {"softmax_cross_entropy_backward",
     {.name = "softmax_cross_entropy_backward_simd",
      .run = run_best<HWY_DISPATCH_TABLE(cross_entropy_backward)>}}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
