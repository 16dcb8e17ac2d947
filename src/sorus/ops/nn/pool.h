#pragma once

#include <utility>

#include "sorus/core/tensor.h"

/// Pooling over 1, 2 or 3 spatial axes of x (N, C, spatial...) or (C, spatial...), floating dtypes. Results
/// lie channels-last in memory. Throws ShapeError, DTypeError or ValueError naming what does not fit.
namespace sorus {

/// Geometry of pooling. Lists have one number per spatial axis, or one for all; empty means the default.
struct PoolOptions {
  Ints stride = {};        ///< default: the kernel
  Ints padding = {};       ///< one number, one per axis, or (low, high) per axis; at most half the window
  Ints dilation = {};      ///< of max pooling alone; default 1
  bool ceil_mode = false;  ///< a last window may hang over the high border, if it starts before it
  bool count_include_pad = true;  ///< averages count padding as elements of the window
  int64_t divisor = 0;            ///< of averages instead of the number of elements; 0: none
};

/// Largest element of each window; padding never wins; NaN wins over everything.
[[nodiscard]] SORUS_API Tensor max_pool(const Tensor& x, const Ints& kernel, const PoolOptions& options = {});
/// As max_pool, and the place of the first maximum of each window, counted row-major over the spatial axes
/// (int64).
[[nodiscard]] SORUS_API std::pair<Tensor, Tensor> max_pool_with_indices(const Tensor& x, const Ints& kernel,
                                                                        const PoolOptions& options = {});
/// Mean of each window.
[[nodiscard]] SORUS_API Tensor avg_pool(const Tensor& x, const Ints& kernel, const PoolOptions& options = {});

/// As max_pool and avg_pool for exactly that many spatial axes; one kernel number stands for all axes.
[[nodiscard]] SORUS_API Tensor max_pool1d(const Tensor& x, const Ints& kernel,
                                          const PoolOptions& options = {});
[[nodiscard]] SORUS_API Tensor max_pool2d(const Tensor& x, const Ints& kernel,
                                          const PoolOptions& options = {});
[[nodiscard]] SORUS_API Tensor max_pool3d(const Tensor& x, const Ints& kernel,
                                          const PoolOptions& options = {});
[[nodiscard]] SORUS_API Tensor avg_pool1d(const Tensor& x, const Ints& kernel,
                                          const PoolOptions& options = {});
[[nodiscard]] SORUS_API Tensor avg_pool2d(const Tensor& x, const Ints& kernel,
                                          const PoolOptions& options = {});
[[nodiscard]] SORUS_API Tensor avg_pool3d(const Tensor& x, const Ints& kernel,
                                          const PoolOptions& options = {});

/// Pooling to given extents: window o of an axis is [floor(o * in / out), ceil((o + 1) * in / out)). The
/// number of spatial axes is output_size.size(); -1 keeps an axis' extent.
[[nodiscard]] SORUS_API Tensor adaptive_avg_pool(const Tensor& x, const Ints& output_size);
[[nodiscard]] SORUS_API Tensor adaptive_max_pool(const Tensor& x, const Ints& output_size);
[[nodiscard]] SORUS_API std::pair<Tensor, Tensor> adaptive_max_pool_with_indices(const Tensor& x,
                                                                                 const Ints& output_size);

/// (sum of x^p over each window)^(1/p).
[[nodiscard]] SORUS_API Tensor lp_pool(const Tensor& x, double p, const Ints& kernel,
                                       const PoolOptions& options = {});
/// x / (bias + alpha * sum of x^2 over the channels up to `radius` away)^beta for x (N, C, ...) [Krizhevsky
/// et al. 2012].
[[nodiscard]] SORUS_API Tensor local_response_norm(const Tensor& x, int64_t radius, double bias = 1,
                                                   double alpha = 1, double beta = 0.5);

}  // namespace sorus
