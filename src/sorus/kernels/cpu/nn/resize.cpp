#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/nn/resize.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/kernels/cpu/nn/block.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/kernels/resize_taps.h"

/// Interpolation of channels-last tensors, 16 channels at a time. A result row is made of the rows
/// of x under it, joined first, and of the taps along the row. Blocks may reach into the next pixel, which is
/// written later; rows have room at their end.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace {

/// Channels that one piece of work of the backward pass covers.
constexpr int64_t kChannelPiece = 64;

template <class S>
HWY_INLINE BlockOf<S> scaled(BlockOf<S> b, double weight) {
  return b * BlockOf<S>::of(static_cast<S>(weight));
}
template <class S>
HWY_INLINE BlockOf<S> add_scaled(BlockOf<S> sum, BlockOf<S> b, double weight) {
  return fma(b, BlockOf<S>::of(static_cast<S>(weight)), sum);
}

/// joined = sum over the taps of z and y of weight * row of x; `row(z, y)` is a row of `length` elements.
template <class T, class Row>
SORUS_FLATTEN void join_rows(const ResizeTaps& taps, const ResizeTap& z, const ResizeTap& y, int64_t length,
                             ComputeType<T>* joined, Row row) {
  bool first = true;
  for (int i = 0; i < taps.count_of(0); ++i)
    for (int j = 0; j < taps.count_of(1); ++j) {
      const T* from = row(z.place[i], y.place[j]);
      double weight = z.weight[i] * y.weight[j];
      for_each_block(length, [&](int64_t c, int64_t count) {
        const auto v = load_block(from + c, count, 0);
        store_full(first ? scaled(v, weight) : add_scaled(load_full(joined + c), v, weight), joined + c);
      });
      first = false;
    }
}

template <class T>
void forward(const KernelCall& call) {
  const Array& in = call.in[0];
  const Array& out = call.out[0];
  ResizeTaps taps(*in.shape, *out.shape, call.attrs<ResizeAttrs>());
  int64_t channels = in.size(1);
  auto depth = static_cast<int64_t>(taps.axis[0].size()), height = static_cast<int64_t>(taps.axis[1].size());
  auto width = static_cast<int64_t>(taps.axis[2].size());
  int64_t from_row = taps.in[2] * channels, to_row = width * channels;
  int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, from_row + to_row));
  parallel_ranges(in.size(0) * depth * height, grain, [&](int64_t begin, int64_t end) {
    std::vector<ComputeType<T>> joined(static_cast<size_t>(from_row + kBlock)),
        made(static_cast<size_t>(to_row + kBlock));
    for (int64_t r = begin; r < end; ++r) {
      const ResizeTap& z = taps.axis[0][static_cast<size_t>(r / height % depth)];
      const ResizeTap& y = taps.axis[1][static_cast<size_t>(r % height)];
      const T* x = in.as<T>() + r / (depth * height) * taps.in[0] * taps.in[1] * from_row;
      join_rows<T>(taps, z, y, from_row, joined.data(),
                   [&](int64_t pz, int64_t py) { return x + (pz * taps.in[1] + py) * from_row; });
      for (int64_t o = 0; o < width; ++o) {
        const ResizeTap& t = taps.axis[2][static_cast<size_t>(o)];
        for (int64_t c = 0; c < channels; c += kBlock) {
          auto v = scaled(load_full(joined.data() + t.place[0] * channels + c), t.weight[0]);
          for (int k = 1; k < taps.count_of(2); ++k)
            v = add_scaled(v, load_full(joined.data() + t.place[k] * channels + c), t.weight[k]);
          store_full(v, made.data() + o * channels + c);
        }
      }
      copy_out(made.data(), out.as<T>() + r * to_row, to_row);
    }
  });
}

/// Adds weight * gradient to the sums of every place that one result pixel was read from.
template <class S>
HWY_INLINE void scatter(const ResizeTaps& taps, const ResizeTap& z, const ResizeTap& y, const ResizeTap& x,
                        BlockOf<S> gradient, int64_t channels, S* sums) {
  for (int i = 0; i < taps.count_of(0); ++i)
    for (int j = 0; j < taps.count_of(1); ++j)
      for (int k = 0; k < taps.count_of(2); ++k) {
        int64_t pixel = (z.place[i] * taps.in[1] + y.place[j]) * taps.in[2] + x.place[k];
        S* to = sums + pixel * channels;
        store_full(add_scaled(load_full(to), gradient, z.weight[i] * y.weight[j] * x.weight[k]), to);
      }
}

template <class T>
void backward(const KernelCall& call) {
  const Array& g = call.in[0];
  const Array& out = call.out[0];
  ResizeTaps taps(*out.shape, *g.shape, call.attrs<ResizeAttrs>());
  int64_t all = g.size(1), pieces = (all + kChannelPiece - 1) / kChannelPiece;
  int64_t pixels = taps.in[0] * taps.in[1] * taps.in[2];
  auto results = static_cast<int64_t>(taps.axis[0].size() * taps.axis[1].size() * taps.axis[2].size());
  parallel_for(g.size(0) * pieces, [&](int64_t piece) {
    int64_t n = piece / pieces, first = piece % pieces * kChannelPiece;
    int64_t channels = std::min(kChannelPiece, all - first);
    std::vector<ComputeType<T>> sums(static_cast<size_t>(pixels * channels + kBlock));
    const T* from = g.as<T>() + n * results * all + first;
    for (const ResizeTap& z : taps.axis[0])
      for (const ResizeTap& y : taps.axis[1])
        for (const ResizeTap& x : taps.axis[2]) {
          // Lanes beyond the piece hold 0, which adds nothing to the next pixel.
          for (int64_t c = 0; c < channels; c += kBlock)
            scatter(taps, z, y, x, load_block(from + c, channels - c, 0), channels, sums.data() + c);
          from += all;
        }
    T* to = out.as<T>() + n * pixels * all + first;
    for (int64_t p = 0; p < pixels; ++p)
      for_each_block(channels, [&](int64_t c, int64_t count) {
        store_block<T>(load_block(sums.data() + p * channels + c, count, 0), to + p * all + c, count);
      });
  });
}

void resize(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { forward<T>(c); });
}
void resize_backward(const KernelCall& c) {
  visit_floating(c.out[0].dtype, [&]<class T>(std::type_identity<T>) { backward<T>(c); });
}

}  // namespace
}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(resize);
HWY_EXPORT(resize_backward);

Kernel resize_kernel(std::string_view name, void (*run)(const KernelCall&)) {
  return {.name = name,
          .in_layout = Layout::kChannelsLast,
          .out_layout = Layout::kChannelsLast,
          .supports = refuse_empty,
          .run = run};
}

const SimdRegistrar resize_registered{"resize",
                                      resize_kernel("resize_simd", run_best<HWY_DISPATCH_TABLE(resize)>)};
const SimdRegistrar resize_backward_registered{
    "resize_backward", resize_kernel("resize_backward_simd", run_best<HWY_DISPATCH_TABLE(resize_backward)>)};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
