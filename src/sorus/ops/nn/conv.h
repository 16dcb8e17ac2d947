#pragma once

#include "sorus/core/tensor.h"

/// Convolutions over 1, 2 or 3 spatial axes. Tensors are (N, C, spatial...), weights (O, C/groups,
/// kernel...); results lie channels-last in memory. Every result element is one sum, accumulated in float32
/// or wider and rounded once. Operands share one floating dtype. All throw ShapeError, DTypeError or
/// ValueError naming what does not fit.
namespace sorus {

/// Geometry of a convolution. Lists have one number per spatial axis, or one for all; empty means the
/// default.
struct ConvOptions {
  Ints stride = {};    ///< default 1
  Ints padding = {};   ///< zeros around x: one number, one per axis, or (low, high) per axis; default 0
  Ints dilation = {};  ///< distance between kernel taps; default 1
  int64_t groups = 1;  ///< C and O fall into this many independent parts
};

/// out[n, o, p] = bias[o] + sum over c, k of x[n, c, p * stride - low + k * dilation] * weight[o, c, k]
/// (cross-correlation). `bias` of shape (O,) may be undefined. A tensor without N gives a result without N.
[[nodiscard]] SORUS_API Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                                    const ConvOptions& options = {});
/// As conv, for exactly that many spatial axes.
[[nodiscard]] SORUS_API Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                                      const ConvOptions& options = {});
[[nodiscard]] SORUS_API Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                                      const ConvOptions& options = {});
[[nodiscard]] SORUS_API Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                                      const ConvOptions& options = {});

/// The transpose of conv as a linear map of x: x is (N, O, spatial...), `weight` (O, C/groups, kernel...),
/// the result (N, C, spatial...) with extents (in - 1) * stride - low - high + dilation * (kernel - 1) +
/// output_padding + 1. `bias` of shape (C,) may be undefined; output_padding is smaller than the stride.
[[nodiscard]] SORUS_API Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                                              const ConvOptions& options = {},
                                              const Ints& output_padding = {});

/// Gradient of conv for its input, whose spatial extents are `input_size`.
[[nodiscard]] SORUS_API Tensor conv_backward_input(const Tensor& gradient, const Tensor& weight,
                                                   const Ints& input_size, const ConvOptions& options = {});
/// Gradient of conv for its weight, whose kernel extents are `kernel_size`.
[[nodiscard]] SORUS_API Tensor conv_backward_weight(const Tensor& x, const Tensor& gradient,
                                                    const Ints& kernel_size, const ConvOptions& options = {});

/// The windows of x (N, C, spatial...) as columns: (N, C * kernel elements, windows), kernel elements and
/// windows row-major. Options as of conv, without groups. Windows that hold an infinity or NaN come out as
/// NaN.
[[nodiscard]] SORUS_API Tensor unfold_windows(const Tensor& x, const Ints& kernel,
                                              const ConvOptions& options = {});
/// The transpose of unfold_windows as a linear map: adds columns (N, C * kernel elements, windows) at their
/// places in a tensor (N, C, output_size...).
[[nodiscard]] SORUS_API Tensor fold_windows(const Tensor& columns, const Ints& output_size,
                                            const Ints& kernel, const ConvOptions& options = {});

/// Padding (low, high per axis) with which a window gives ceil(input / stride) results: the total is split
/// with the odd element at the high side, as MindSpore's pad_mode "same" does.
[[nodiscard]] SORUS_API Ints same_padding(const Ints& input_size, const Ints& kernel_size,
                                          const Ints& stride = {}, const Ints& dilation = {});

}  // namespace sorus
