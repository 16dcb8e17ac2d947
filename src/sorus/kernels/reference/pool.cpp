#include <limits>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/pool_windows.h"
#include "sorus/kernels/reference/wide.h"

/// Pooling as it is defined, window by window over strided operands.
namespace sorus {
namespace {

/// One window of one channel: calls f(offset of the place in elements, row-major place).
template <class F>
void for_each_place(const PoolWindows& w, const int64_t* strides, const AxisWindow& z, const AxisWindow& y,
                    const AxisWindow& x, F&& f) {
  for (int64_t i = 0; i < z.count; ++i)
    for (int64_t j = 0; j < y.count; ++j)
      for (int64_t k = 0; k < x.count; ++k) {
        int64_t a = z.first + i * w.step[0];
        int64_t b = y.first + j * w.step[1];
        int64_t c = x.first + k * w.step[2];
        f(a * strides[0] + b * strides[1] + c * strides[2], (a * w.size[1] + b) * w.size[2] + c);
      }
}

/// Calls f(x window of each axis, offset of the window's result) for the windows of one channel, row-major.
template <class F>
void for_each_window(const PoolWindows& w, const int64_t* strides, F&& f) {
  for (size_t i = 0; i < w.axis[0].size(); ++i)
    for (size_t j = 0; j < w.axis[1].size(); ++j)
      for (size_t k = 0; k < w.axis[2].size(); ++k)
        f(w.axis[0][i], w.axis[1][j], w.axis[2][k],
          static_cast<int64_t>(i) * strides[0] + static_cast<int64_t>(j) * strides[1] +
              static_cast<int64_t>(k) * strides[2]);
}

/// Calls f(n, c) for every channel of every sample.
template <class F>
void for_each_channel(const Shape& shape, F&& f) {
  int64_t channels = shape.size(1);
  parallel_for(shape.size(0) * channels, [&](int64_t i) { f(i / channels, i % channels); });
}
template <class T>
T* channel(const Array& a, int64_t n, int64_t c) {
  return a.as<T>() + n * a.strides[0] + c * a.strides[1];
}

struct Best {
  int64_t offset = 0;
  int64_t place = -1;  ///< -1: the window holds no element
};
/// The first maximum of a window.
template <class T>
Best find_best(const PoolWindows& w, const int64_t* strides, const AxisWindow& z, const AxisWindow& y,
               const AxisWindow& x, const T* data) {
  Best best;
  ComputeType<T> value{};
  for_each_place(w, strides, z, y, x, [&](int64_t offset, int64_t place) {
    auto v = static_cast<ComputeType<T>>(data[offset]);
    if (best.place >= 0 && !beats(v, value)) return;
    best = {offset, place};
    value = v;
  });
  return best;
}

template <class T>
void max_pool(const KernelCall& call) {
  const Array& in = call.in[0];
  const Array& out = call.out[0];
  PoolWindows w(*in.shape, *out.shape, call.attrs<PoolAttrs>());
  int64_t xs[3], ys[3], is[3] = {};
  spatial_strides(in, xs);
  spatial_strides(out, ys);
  bool with_indices = call.out.size() > 1;
  if (with_indices) spatial_strides(call.out[1], is);
  for_each_channel(*out.shape, [&](int64_t n, int64_t c) {
    const T* x = channel<T>(in, n, c);
    T* y = channel<T>(out, n, c);
    for_each_window(w, ys, [&](const auto& i, const auto& j, const auto& k, int64_t at) {
      Best best = find_best(w, xs, i, j, k, x);
      y[at] = best.place >= 0 ? x[best.offset] : T(-std::numeric_limits<ComputeType<T>>::infinity());
    });
    if (!with_indices) return;
    auto* place = channel<int64_t>(call.out[1], n, c);
    for_each_window(w, is, [&](const auto& i, const auto& j, const auto& k, int64_t at) {
      place[at] = find_best(w, xs, i, j, k, x).place;
    });
  });
}

template <class T>
void max_pool_select(const KernelCall& call) {
  const Array& in = call.in[0];
  const Array& source = call.in[1];
  const Array& out = call.out[0];
  PoolWindows w(*in.shape, *out.shape, call.attrs<PoolAttrs>());
  int64_t xs[3], ss[3], ys[3];
  spatial_strides(in, xs);
  spatial_strides(source, ss);
  spatial_strides(out, ys);
  for_each_channel(*out.shape, [&](int64_t n, int64_t c) {
    const T* x = channel<T>(in, n, c);
    const T* s = channel<T>(source, n, c);
    T* y = channel<T>(out, n, c);
    for_each_window(w, ys, [&](const auto& i, const auto& j, const auto& k, int64_t at) {
      Best best = find_best(w, xs, i, j, k, x);
      int64_t p = best.place;
      y[at] = p < 0 ? T(0.0F)
                    : s[p / (w.size[1] * w.size[2]) * ss[0] + p / w.size[2] % w.size[1] * ss[1] +
                        p % w.size[2] * ss[2]];
    });
  });
}

/// Accumulates windows into the places of one channel: `add(sums, window, gradient)` in double, rounds once.
template <class T, class Add>
void scatter(const PoolWindows& w, const Array& gradient, const Array& out, Add&& add) {
  int64_t gs[3], os[3];
  spatial_strides(gradient, gs);
  spatial_strides(out, os);
  int64_t places = w.size[0] * w.size[1] * w.size[2];
  for_each_channel(*out.shape, [&](int64_t n, int64_t c) {
    std::vector<double> sums(static_cast<size_t>(places));
    const T* g = channel<T>(gradient, n, c);
    for_each_window(w, gs, [&](const auto& i, const auto& j, const auto& k, int64_t at) {
      add(n, c, sums.data(), i, j, k, wide(g[at]));
    });
    T* dx = channel<T>(out, n, c);
    for (int64_t p = 0; p < places; ++p)
      dx[p / (w.size[1] * w.size[2]) * os[0] + p / w.size[2] % w.size[1] * os[1] + p % w.size[2] * os[2]] =
          narrow<T>(sums[static_cast<size_t>(p)]);
  });
}

template <class T>
void max_pool_backward(const KernelCall& call) {
  const Array& in = call.in[0];
  PoolWindows w(*in.shape, *call.in[1].shape, call.attrs<PoolAttrs>());
  int64_t xs[3];
  spatial_strides(in, xs);
  scatter<T>(w, call.in[1], call.out[0],
             [&](int64_t n, int64_t c, double* sums, const auto& i, const auto& j, const auto& k, double g) {
               Best best = find_best(w, xs, i, j, k, channel<T>(in, n, c));
               if (best.place >= 0) sums[best.place] += g;
             });
}

template <class T>
void avg_pool(const KernelCall& call) {
  const auto& a = call.attrs<PoolAttrs>();
  const Array& in = call.in[0];
  const Array& out = call.out[0];
  PoolWindows w(*in.shape, *out.shape, a);
  int64_t xs[3], ys[3];
  spatial_strides(in, xs);
  spatial_strides(out, ys);
  for_each_channel(*out.shape, [&](int64_t n, int64_t c) {
    const T* x = channel<T>(in, n, c);
    T* y = channel<T>(out, n, c);
    for_each_window(w, ys, [&](const auto& i, const auto& j, const auto& k, int64_t at) {
      double sum = 0;
      for_each_place(w, xs, i, j, k, [&](int64_t offset, int64_t) { sum += wide(x[offset]); });
      y[at] = narrow<T>(sum / static_cast<double>(PoolWindows::divisor(a, i, j, k)));
    });
  });
}

template <class T>
void avg_pool_backward(const KernelCall& call) {
  const auto& a = call.attrs<PoolAttrs>();
  PoolWindows w(*call.out[0].shape, *call.in[0].shape, a);
  int64_t none[3] = {};
  scatter<T>(w, call.in[0], call.out[0],
             [&](int64_t, int64_t, double* sums, const auto& i, const auto& j, const auto& k, double g) {
               double share = g / static_cast<double>(PoolWindows::divisor(a, i, j, k));
               for_each_place(w, none, i, j, k, [&](int64_t, int64_t place) { sums[place] += share; });
             });
}

Kernel pool_kernel(std::string_view name, void (*run)(const KernelCall&)) {
  return {.name = name, .in_layout = Layout::kAny, .out_layout = Layout::kChannelsLast, .run = run};
}

const KernelRegistrar max_registered{
    "max_pool",
    pool_kernel("max_pool_reference",
                by_floating<max_pool<Float16>, max_pool<BFloat16>, max_pool<float>, max_pool<double>>),
    kReferenceRank};
const KernelRegistrar max_indices_registered{
    "max_pool_with_indices",
    pool_kernel("max_pool_with_indices_reference",
                by_floating<max_pool<Float16>, max_pool<BFloat16>, max_pool<float>, max_pool<double>>),
    kReferenceRank};
const KernelRegistrar max_select_registered{
    "max_pool_select",
    pool_kernel("max_pool_select_reference", by_floating<max_pool_select<Float16>, max_pool_select<BFloat16>,
                                                         max_pool_select<float>, max_pool_select<double>>),
    kReferenceRank};
const KernelRegistrar max_backward_registered{
    "max_pool_backward",
    pool_kernel("max_pool_backward_reference",
                by_floating<max_pool_backward<Float16>, max_pool_backward<BFloat16>, max_pool_backward<float>,
                            max_pool_backward<double>>),
    kReferenceRank};
const KernelRegistrar avg_registered{
    "avg_pool",
    pool_kernel("avg_pool_reference",
                by_floating<avg_pool<Float16>, avg_pool<BFloat16>, avg_pool<float>, avg_pool<double>>),
    kReferenceRank};
const KernelRegistrar avg_backward_registered{
    "avg_pool_backward",
    pool_kernel("avg_pool_backward_reference",
                by_floating<avg_pool_backward<Float16>, avg_pool_backward<BFloat16>, avg_pool_backward<float>,
                            avg_pool_backward<double>>),
    kReferenceRank};

}  // namespace
}  // namespace sorus
