#pragma once

#include "sorus/core/tensor.h"

/// Window functions of signal processing: vectors of `length` numbers, symmetric, or with `periodic` one
/// period (a symmetric window of one more without its last). Computed in float64 and rounded once; a length
/// of 1 gives
/// 1. Throw ValueError for a negative length, DTypeError unless the dtype is floating.
/// Source: Harris, "On the use of windows for harmonic analysis with the discrete Fourier transform", 1978.
namespace sorus {

/// (1 - cos(2 pi t)) / 2 for t from 0 to 1.
[[nodiscard]] SORUS_API Tensor hann_window(int64_t length, bool periodic = true,
                                           DType dtype = DType::kFloat32);
/// alpha - beta cos(2 pi t).
[[nodiscard]] SORUS_API Tensor hamming_window(int64_t length, bool periodic = true, double alpha = 0.54,
                                              double beta = 0.46, DType dtype = DType::kFloat32);
/// 0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t).
[[nodiscard]] SORUS_API Tensor blackman_window(int64_t length, bool periodic = true,
                                               DType dtype = DType::kFloat32);
/// 1 - |2 t - 1|.
[[nodiscard]] SORUS_API Tensor bartlett_window(int64_t length, bool periodic = true,
                                               DType dtype = DType::kFloat32);
/// I0(beta sqrt(1 - (2 t - 1)^2)) / I0(beta), I0 being the modified Bessel function of order 0.
[[nodiscard]] SORUS_API Tensor kaiser_window(int64_t length, bool periodic = true, double beta = 12,
                                             DType dtype = DType::kFloat32);

}  // namespace sorus
