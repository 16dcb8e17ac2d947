#pragma once

#include <algorithm>
#include <vector>

#include "sorus/dispatch/kernel.h"
#include "sorus/ops/nn/attributes.h"

/// The windows of pooling, axis by axis: what all pooling kernels share.
namespace sorus {

/// One window along one axis: `count` places of x, `first` the lowest, `step` apart, all inside x.
struct AxisWindow {
  int64_t first = 0;
  int64_t count = 0;
  int64_t counted = 0;  ///< elements that an average divides by
};

struct PoolWindows {
  static constexpr int kSpatial = 3;
  std::vector<AxisWindow>
      axis[kSpatial];  ///< leading axes that the tensor lacks have one window of one place
  int64_t step[kSpatial] = {1, 1, 1};
  int64_t size[kSpatial] = {1, 1, 1};  ///< extents of x

  /// `x` has the operand's shape, `y` the windows'.
  PoolWindows(const Shape& x, const Shape& y, const PoolAttrs& a) {
    int skip = kSpatial - a.kernel.size();
    for (int i = 0; i < kSpatial; ++i) {
      if (i < skip) {
        axis[i].push_back({0, 1, 1});
        continue;
      }
      int s = i - skip;
      size[i] = x.size(2 + s);
      int64_t windows = y.size(2 + s);
      if (!a.adaptive) step[i] = a.dilation[s];
      for (int64_t o = 0; o < windows; ++o)
        axis[i].push_back(a.adaptive ? adaptive_window(o, size[i], windows) : window(o, size[i], a, s));
    }
  }

  /// The divisor of the average over one window.
  [[nodiscard]] static int64_t divisor(const PoolAttrs& a, const AxisWindow& z, const AxisWindow& y,
                                       const AxisWindow& x) {
    return a.divisor > 0 ? a.divisor : z.counted * y.counted * x.counted;
  }

 private:
  static AxisWindow adaptive_window(int64_t o, int64_t in, int64_t out) {
    int64_t begin = o * in / out;
    int64_t end = ((o + 1) * in + out - 1) / out;
    return {begin, end - begin, end - begin};
  }
  static AxisWindow window(int64_t o, int64_t in, const PoolAttrs& a, int s) {
    int64_t start = o * a.stride[s] - a.padding[2 * s];
    int64_t step = a.dilation[s];
    int64_t skipped = start < 0 ? (-start + step - 1) / step : 0;
    int64_t first = start + skipped * step;
    int64_t fit = first < in ? (in - 1 - first) / step + 1 : 0;
    int64_t count = std::max<int64_t>(0, std::min(a.kernel[s] - skipped, fit));
    int64_t padded_end = std::min(start + a.kernel[s], in + a.padding[2 * s + 1]);
    return {first, count, a.count_include_pad ? padded_end - start : count};
  }
};

/// Strides of the spatial axes of an array, leading missing ones 0.
inline void spatial_strides(const Array& a, int64_t* strides) {
  int skip = PoolWindows::kSpatial - (a.rank() - 2);
  for (int i = 0; i < PoolWindows::kSpatial; ++i) strides[i] = i < skip ? 0 : a.strides[2 + i - skip];
}

/// True when `value` takes the maximum's place from `best`: NaN wins, the first of equals stays.
template <class T>
[[nodiscard]] bool beats(T value, T best) {
  return best == best && !(value <= best);
}

}  // namespace sorus
