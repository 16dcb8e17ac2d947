#include "sorus/base/thread_pool.h"
#include "sorus/kernels/pool_windows.h"
#include "sorus/kernels/reference/wide.h"
#include "sorus/kernels/resize_taps.h"

/// Interpolation as it is defined: every result element a weighted sum over the taps of all axes, in double.
namespace sorus {
namespace {

/// Calls f(z, y, x taps, offset of the result element) for all result elements of one channel.
template <class F>
void for_each_result(const ResizeTaps& taps, const int64_t* strides, F&& f) {
  for (size_t i = 0; i < taps.axis[0].size(); ++i)
    for (size_t j = 0; j < taps.axis[1].size(); ++j)
      for (size_t k = 0; k < taps.axis[2].size(); ++k)
        f(taps.axis[0][i], taps.axis[1][j], taps.axis[2][k],
          static_cast<int64_t>(i) * strides[0] + static_cast<int64_t>(j) * strides[1] +
              static_cast<int64_t>(k) * strides[2]);
}

/// Calls f(place z, y, x, weight) for the elements that one result is made of.
template <class F>
void for_each_tap(const ResizeTaps& taps, const ResizeTap& z, const ResizeTap& y, const ResizeTap& x, F&& f) {
  for (int i = 0; i < taps.count_of(0); ++i)
    for (int j = 0; j < taps.count_of(1); ++j)
      for (int k = 0; k < taps.count_of(2); ++k)
        f(z.place[i], y.place[j], x.place[k], z.weight[i] * y.weight[j] * x.weight[k]);
}

template <class T>
void resize(const KernelCall& call) {
  const Array& in = call.in[0];
  const Array& out = call.out[0];
  ResizeTaps taps(*in.shape, *out.shape, call.attrs<ResizeAttrs>());
  int64_t xs[3], ys[3];
  spatial_strides(in, xs);
  spatial_strides(out, ys);
  int64_t channels = in.size(1);
  parallel_for(in.size(0) * channels, [&](int64_t i) {
    const T* x = in.as<T>() + i / channels * in.strides[0] + i % channels * in.strides[1];
    T* y = out.as<T>() + i / channels * out.strides[0] + i % channels * out.strides[1];
    for_each_result(taps, ys, [&](const auto& tz, const auto& ty, const auto& tx, int64_t at) {
      double sum = 0;
      for_each_tap(taps, tz, ty, tx, [&](int64_t a, int64_t b, int64_t c, double weight) {
        sum += weight * wide(x[a * xs[0] + b * xs[1] + c * xs[2]]);
      });
      y[at] = narrow<T>(sum);
    });
  });
}

template <class T>
void resize_backward(const KernelCall& call) {
  const Array& g = call.in[0];
  const Array& out = call.out[0];
  ResizeTaps taps(*out.shape, *g.shape, call.attrs<ResizeAttrs>());
  int64_t gs[3], os[3];
  spatial_strides(g, gs);
  spatial_strides(out, os);
  int64_t channels = g.size(1);
  int64_t depth = taps.in[0], height = taps.in[1], width = taps.in[2];
  parallel_for(g.size(0) * channels, [&](int64_t i) {
    const T* from = g.as<T>() + i / channels * g.strides[0] + i % channels * g.strides[1];
    T* to = out.as<T>() + i / channels * out.strides[0] + i % channels * out.strides[1];
    std::vector<double> sums(static_cast<size_t>(depth * height * width));
    for_each_result(taps, gs, [&](const auto& tz, const auto& ty, const auto& tx, int64_t at) {
      for_each_tap(taps, tz, ty, tx, [&](int64_t a, int64_t b, int64_t c, double weight) {
        sums[static_cast<size_t>((a * height + b) * width + c)] += weight * wide(from[at]);
      });
    });
    for (int64_t p = 0; p < depth * height * width; ++p)
      to[p / (height * width) * os[0] + p / width % height * os[1] + p % width * os[2]] =
          narrow<T>(sums[static_cast<size_t>(p)]);
  });
}

Kernel resize_kernel(std::string_view name, void (*run)(const KernelCall&)) {
  return {.name = name, .in_layout = Layout::kAny, .out_layout = Layout::kChannelsLast, .run = run};
}

const KernelRegistrar resize_registered{
    "resize",
    resize_kernel("resize_reference",
                  by_floating<resize<Float16>, resize<BFloat16>, resize<float>, resize<double>>),
    kReferenceRank};
const KernelRegistrar resize_backward_registered{
    "resize_backward",
    resize_kernel("resize_backward_reference",
                  by_floating<resize_backward<Float16>, resize_backward<BFloat16>, resize_backward<float>,
                              resize_backward<double>>),
    kReferenceRank};

}  // namespace
}  // namespace sorus
