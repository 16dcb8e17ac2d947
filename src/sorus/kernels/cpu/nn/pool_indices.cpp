#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/nn/pool_indices.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include <limits>

#include "hwy/highway.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/simd/dispatch.h"
#include "sorus/kernels/pool_windows.h"

// max_pool_with_indices of channels-last tensors: the channels of a pixel side by side, in plain loops which
// the compiler vectorizes for each target.
HWY_BEFORE_NAMESPACE();
namespace sorus::simd::HWY_NAMESPACE {
namespace pool_indices_loops {

constexpr int64_t kChannelsAtOnce = 64;

/// Takes over what beats the best so far: the values of one place, in `count` channels.
template <class T>
void take_better(const T* x, int32_t place, int64_t count, T* best, int32_t* index) {
#pragma GCC ivdep
  for (int64_t c = 0; c < count; ++c) {
    const T v = x[c], b = best[c];
    const bool better = (b == b) & !(v <= b);
    best[c] = better ? v : b;
    index[c] = better ? place : index[c];
  }
}

/// One window: `x` is the sample's first element of the first of `count` channels.
template <class T>
void pool_window(const PoolWindows& w, const AxisWindow& z, const AxisWindow& y, const AxisWindow& x,
                 const T* from, int64_t channels, int64_t count, T* value, int64_t* place) {
  T best[kChannelsAtOnce];
  int32_t index[kChannelsAtOnce];
  for (int64_t c = 0; c < count; ++c) {
    best[c] = -std::numeric_limits<T>::infinity();
    index[c] = -1;
  }
  bool first = true;
  for (int64_t i = 0; i < z.count; ++i)
    for (int64_t j = 0; j < y.count; ++j)
      for (int64_t k = 0; k < x.count; ++k) {
        const int64_t at = ((z.first + i * w.step[0]) * w.size[1] + y.first + j * w.step[1]) * w.size[2] +
                           x.first + k * w.step[2];
        const auto here = static_cast<int32_t>(at);
        if (first) {
          for (int64_t c = 0; c < count; ++c) {
            best[c] = from[at * channels + c];
            index[c] = here;
          }
        } else {
          take_better(from + at * channels, here, count, best, index);
        }
        first = false;
      }
  for (int64_t c = 0; c < count; ++c) value[c] = best[c];
  for (int64_t c = 0; c < count; ++c) place[c] = index[c];
}

template <class T>
void run(const KernelCall& call) {
  const PoolWindows w(*call.in[0].shape, *call.out[0].shape, call.attrs<PoolAttrs>());
  const int64_t channels = call.in[0].size(1), places = w.size[0] * w.size[1] * w.size[2];
  const auto depth = static_cast<int64_t>(w.axis[0].size()), height = static_cast<int64_t>(w.axis[1].size()),
             width = static_cast<int64_t>(w.axis[2].size());
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, width * channels));
  parallel_ranges(call.in[0].size(0) * depth * height, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t n = r / (depth * height);
      const AxisWindow& z = w.axis[0][static_cast<size_t>(r / height % depth)];
      const AxisWindow& y = w.axis[1][static_cast<size_t>(r % height)];
      for (int64_t o = 0; o < width; ++o)
        for (int64_t c = 0; c < channels; c += kChannelsAtOnce) {
          const int64_t to = (r * width + o) * channels + c;
          pool_window(w, z, y, w.axis[2][static_cast<size_t>(o)],
                      call.in[0].as<const T>() + n * places * channels + c, channels,
                      std::min(kChannelsAtOnce, channels - c), call.out[0].as<T>() + to,
                      call.out[1].as<int64_t>() + to);
        }
    }
  });
}

}  // namespace pool_indices_loops

void max_pool_with_indices(const KernelCall& call) {
  if (call.in[0].dtype == DType::kFloat32) return pool_indices_loops::run<float>(call);
  pool_indices_loops::run<double>(call);
}

}  // namespace sorus::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sorus::simd {
namespace {

HWY_EXPORT(max_pool_with_indices);

Refusal takes_wide_floats(const KernelCall& call) {
  const Array& x = call.in[0];
  if (x.dtype != DType::kFloat32 && x.dtype != DType::kFloat64) return "takes float32 and float64";
  return x.numel() >> 31 != 0 ? "needs fewer than 2^31 elements" : kAccepted;
}

const SimdRegistrar registered{"max_pool_with_indices",
                               {.name = "max_pool_with_indices_simd",
                                .in_layout = Layout::kChannelsLast,
                                .out_layout = Layout::kChannelsLast,
                                .supports = takes_wide_floats,
                                .run = run_best<HWY_DISPATCH_TABLE(max_pool_with_indices)>}};

}  // namespace
}  // namespace sorus::simd
#endif  // HWY_ONCE
