#pragma once

#include <span>
#include <string_view>

#include "sorus/core/tensor.h"

namespace sorus {

enum class Interpolation : uint8_t { kNearest, kNearestExact, kLinear, kCubic, kArea };
/// The interpolation of that name for tensors of `spatial` spatial axes: "nearest", "nearest-exact", "linear"
/// (1), "bilinear" (2), "trilinear" (3), "bicubic" (2), "area". Throws ValueError for another.
[[nodiscard]] SORUS_API Interpolation interpolation_from_name(std::string_view name, int spatial);

struct InterpolateOptions {
  Ints size = {};                        ///< spatial extents of the result, or
  std::span<const double> factors = {};  ///< extents of the result over those of x; one number for all axes
  bool align_corners = false;            ///< of linear and cubic: the corner elements fall on each other
  bool recompute_scale = false;          ///< places come from the extents, not from the factors
};

/// Resizes the 1 to 3 spatial axes of x (N, C, spatial...), a floating dtype: result (N, C, size...). Places
/// outside x repeat its border; kArea is adaptive_avg_pool, kCubic is for 2 axes. Exactly one of size and
/// factors must be given. Throws ShapeError, DTypeError or ValueError naming what does not fit.
[[nodiscard]] SORUS_API Tensor interpolate(const Tensor& x, Interpolation mode,
                                           const InterpolateOptions& options);

}  // namespace sorus
