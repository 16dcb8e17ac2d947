#pragma once

#include "sorus/core/tensor.h"

/// Normalization: y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, statistics in two passes,
/// variance biased (divided by the count). x has a floating dtype; statistics are float32 for 16-bit floats,
/// x's dtype otherwise; gamma and beta have x's or the statistics' dtype and may be undefined (1 and 0). All
/// throw ShapeError, DTypeError or ValueError naming what does not fit.
namespace sorus {

struct NormResult {
  Tensor y;
  Tensor mean;
  Tensor variance;
};

/// Statistics over the axes from begin_axis on; gamma and beta have the shape of those axes; mean and
/// variance keep them with extent 1.
[[nodiscard]] SORUS_API NormResult layer_norm_with_statistics(const Tensor& x, int64_t begin_axis,
                                                              const Tensor& gamma = {},
                                                              const Tensor& beta = {}, double epsilon = 1e-5);
/// As above for the trailing axes of shape `normalized_shape`: y alone.
[[nodiscard]] SORUS_API Tensor layer_norm(const Tensor& x, const Ints& normalized_shape,
                                          const Tensor& gamma = {}, const Tensor& beta = {},
                                          double epsilon = 1e-5);

/// x (N, C, ...): statistics over each of `groups` runs of channels and all trailing axes, shape (N, groups);
/// gamma and beta are (C,).
[[nodiscard]] SORUS_API NormResult group_norm_with_statistics(const Tensor& x, int64_t groups,
                                                              const Tensor& gamma = {},
                                                              const Tensor& beta = {}, double epsilon = 1e-5);
[[nodiscard]] SORUS_API Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& gamma = {},
                                          const Tensor& beta = {}, double epsilon = 1e-5);
/// group_norm with every channel its own group.
[[nodiscard]] SORUS_API Tensor instance_norm(const Tensor& x, const Tensor& gamma = {},
                                             const Tensor& beta = {}, double epsilon = 1e-5);

/// x (N, C, ...): statistics over all axes but the channels, shape (C,); gamma and beta are (C,). What a
/// training step does; the running statistics are the layer's.
[[nodiscard]] SORUS_API NormResult batch_norm_train(const Tensor& x, const Tensor& gamma = {},
                                                    const Tensor& beta = {}, double epsilon = 1e-5);
/// With given statistics (C,): round(x * scale), then round(+ shift), with scale = gamma / sqrt(variance +
/// epsilon) and shift = beta - mean * scale.
[[nodiscard]] SORUS_API Tensor batch_norm_inference(const Tensor& x, const Tensor& mean,
                                                    const Tensor& variance, const Tensor& gamma = {},
                                                    const Tensor& beta = {}, double epsilon = 1e-5);

struct RmsNormResult {
  Tensor y;
  Tensor scale;  ///< 1 / sqrt(mean square + epsilon), reduced axes kept with extent 1
};
/// y = x / sqrt(mean(x^2) + epsilon) * gamma over the trailing axes, whose shape gamma has.
[[nodiscard]] SORUS_API RmsNormResult rms_norm(const Tensor& x, const Tensor& gamma, double epsilon = 1e-6);

/// x / max(norm, epsilon) along `axis` with norm = (sum |x|^p)^(1/p).
[[nodiscard]] SORUS_API Tensor normalize(const Tensor& x, double p = 2, int64_t axis = 1,
                                         double epsilon = 1e-12);
/// x / sqrt(max(sum(x^2), epsilon)) over the axes.
[[nodiscard]] SORUS_API Tensor l2_normalize(const Tensor& x, const Ints& axes, double epsilon = 1e-4);

}  // namespace sorus
