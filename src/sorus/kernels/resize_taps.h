#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "sorus/dispatch/kernel.h"
#include "sorus/ops/nn/attributes.h"

/// Where interpolation reads, axis by axis: what all its kernels share.
namespace sorus {

/// The elements of x along one axis that one result element is made of.
struct ResizeTap {
  int64_t place[4] = {0, 0, 0, 0};
  double weight[4] = {1, 0, 0, 0};
};

struct ResizeTaps {
  static constexpr int kSpatial = 3;
  std::vector<ResizeTap> axis[kSpatial];  ///< leading axes that the tensor lacks have one tap of weight 1
  int count = 1;                          ///< taps of a present axis that may have weight: 1, 2 or 4
  int64_t in[kSpatial] = {1, 1, 1};
  int missing = 0;  ///< leading axes that the tensor lacks

  /// `x` has the shape that is read, `y` the resized one.
  ResizeTaps(const Shape& x, const Shape& y, const ResizeAttrs& a) {
    count = a.mode == ResizeMode::kLinear ? 2 : a.mode == ResizeMode::kCubic ? 4 : 1;
    missing = kSpatial - a.size.size();
    const double scales[] = {a.scale0, a.scale1, a.scale2};
    for (int i = 0; i < kSpatial; ++i) {
      if (i < missing) {
        axis[i].push_back({});
        continue;
      }
      in[i] = x.size(2 + i - missing);
      int64_t out = y.size(2 + i - missing);
      for (int64_t o = 0; o < out; ++o) axis[i].push_back(tap(a, o, in[i], out, scales[i - missing]));
    }
  }
  /// Taps along axis i.
  [[nodiscard]] int count_of(int i) const { return i < missing ? 1 : count; }

 private:
  static ResizeTap tap(const ResizeAttrs& a, int64_t o, int64_t in, int64_t out, double given) {
    double scale = given > 0 ? given : static_cast<double>(in) / static_cast<double>(out);
    if (a.mode == ResizeMode::kNearest || a.mode == ResizeMode::kNearestExact) {
      // In float, as the field computes it: products that are whole in float stay whole.
      float shift = a.mode == ResizeMode::kNearestExact ? 0.5F : 0.0F;
      auto place =
          static_cast<int64_t>(std::floor((static_cast<float>(o) + shift) * static_cast<float>(scale)));
      return {.place = {std::clamp<int64_t>(place, 0, in - 1)}};
    }
    auto at = static_cast<double>(o);
    double source = (at + 0.5) * scale - 0.5;
    if (a.align_corners)
      source = out > 1 ? at * (static_cast<double>(in - 1) / static_cast<double>(out - 1)) : 0;
    return a.mode == ResizeMode::kLinear ? linear(std::max(source, 0.0), in) : cubic(source, in);
  }
  static ResizeTap linear(double source, int64_t in) {
    auto low = std::min(static_cast<int64_t>(source), in - 1);
    double t = std::clamp(source - static_cast<double>(low), 0.0, 1.0);
    return {.place = {low, std::min(low + 1, in - 1)}, .weight = {1 - t, t}};
  }
  /// Keys' cubic convolution with a = -3/4.
  static ResizeTap cubic(double source, int64_t in) {
    constexpr double kA = -0.75;
    double low = std::floor(source);
    double t = source - low;
    auto near = [](double d) { return ((kA + 2) * d - (kA + 3)) * d * d + 1; };
    auto far = [](double d) { return ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA; };
    ResizeTap tap{.weight = {far(t + 1), near(t), near(1 - t), far(2 - t)}};
    for (int k = 0; k < 4; ++k)
      tap.place[k] = std::clamp<int64_t>(static_cast<int64_t>(low) - 1 + k, 0, in - 1);
    return tap;
  }
};

}  // namespace sorus
