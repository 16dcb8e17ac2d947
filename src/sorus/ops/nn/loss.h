#pragma once

#include "sorus/core/tensor.h"

/// Losses.
namespace sorus {

/// How the losses of the elements become a result.
enum class Reduction : uint8_t { kNone, kMean, kSum };

/// Losses -sum over classes of t * log_softmax(logits) along the last axis, for class numbers: logits
/// (..., C) of a floating dtype, labels (...) int32 or int64, result (...). The target t is 1 at the label,
/// smoothed to (1 - label_smoothing) * t + label_smoothing / C. Rows with label `ignore_index` have loss 0.
/// Throws IndexError for a label outside [0, C), naming label, place and C.
[[nodiscard]] SORUS_API Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels,
                                                     int64_t ignore_index = -100, double label_smoothing = 0);
/// Its gradient for the logits: (softmax(logits) - t) * gradient, gradient (...).
[[nodiscard]] SORUS_API Tensor softmax_cross_entropy_backward(const Tensor& logits, const Tensor& labels,
                                                              const Tensor& gradient,
                                                              int64_t ignore_index = -100,
                                                              double label_smoothing = 0);

}  // namespace sorus
