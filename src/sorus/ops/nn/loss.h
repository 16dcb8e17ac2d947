#pragma once

#include <string_view>

#include "sorus/core/tensor.h"

/// Losses. Unless said otherwise operands have a common floating dtype, broadcast, and the result is one
/// number (Reduction::kMean, kSum) or has an element for each loss (kNone). Every text of an error names the
/// function.
namespace sorus {

/// How the losses of the elements become a result.
enum class Reduction : uint8_t {
  kNone,
  kMean,
  kSum,
  kBatchMean,  ///< the sum divided by the extent of axis 0; of kl_div alone
};
/// The reduction of that name: "none", "mean", "sum", "batchmean". Throws ValueError for another.
[[nodiscard]] SORUS_API Reduction reduction_from_name(std::string_view name);

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

/// Cross-entropy of logits (N, C, d...) or (C,) along the class axis. `target` holds class numbers (N, d...)
/// int32 or int64, or probabilities of the logits' shape and dtype. `weight` (C,) weighs the classes and may
/// be undefined. The mean is over the weights of the labels that are not `ignore_index`, or over N * d... for
/// probabilities. IndexError for a label outside [0, C).
[[nodiscard]] SORUS_API Tensor cross_entropy(const Tensor& logits, const Tensor& target,
                                             const Tensor& weight = {}, int64_t ignore_index = -100,
                                             Reduction reduction = Reduction::kMean,
                                             double label_smoothing = 0);
/// The same from log-probabilities and class numbers: -weight[label] * x[label].
[[nodiscard]] SORUS_API Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target,
                                        const Tensor& weight = {}, int64_t ignore_index = -100,
                                        Reduction reduction = Reduction::kMean);
/// -sum(labels * log_softmax(logits)) along the last axis: logits and labels (..., C), result (...).
[[nodiscard]] SORUS_API Tensor softmax_cross_entropy_with_logits(const Tensor& logits, const Tensor& labels);
/// (x - target)^2, and |x - target|.
[[nodiscard]] SORUS_API Tensor mse_loss(const Tensor& x, const Tensor& target,
                                        Reduction reduction = Reduction::kMean);
[[nodiscard]] SORUS_API Tensor l1_loss(const Tensor& x, const Tensor& target,
                                       Reduction reduction = Reduction::kMean);
/// d = |x - target|: d^2 / (2 beta) below beta, d - beta / 2 above; l1_loss for beta 0.
[[nodiscard]] SORUS_API Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta = 1,
                                              Reduction reduction = Reduction::kMean);
/// d = |x - target|: d^2 / 2 below delta, delta * (d - delta / 2) above.
[[nodiscard]] SORUS_API Tensor huber_loss(const Tensor& x, const Tensor& target, double delta = 1,
                                          Reduction reduction = Reduction::kMean);

/// -weight * (t * log(p) + (1 - t) * log(1 - p)), logarithms at least -100, with no slope below; `weight` may
/// be undefined. Throws ValueError for a p outside [0, 1], naming it and its place; NaN gives NaN.
[[nodiscard]] SORUS_API Tensor binary_cross_entropy(const Tensor& probabilities, const Tensor& target,
                                                    const Tensor& weight = {},
                                                    Reduction reduction = Reduction::kMean);
/// The same from logits: weight * ((1 - t) * x + (1 + (positive_weight - 1) * t) * log(1 + exp(-x))).
[[nodiscard]] SORUS_API Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                                                const Tensor& weight = {},
                                                                const Tensor& positive_weight = {},
                                                                Reduction reduction = Reduction::kMean);
/// target * (log(target) - x) for log-probabilities x; 0 where the target is 0.
[[nodiscard]] SORUS_API Tensor kl_div(const Tensor& x, const Tensor& target,
                                      Reduction reduction = Reduction::kMean);

/// With c the cosine along the last axis: 1 - c where the target is 1, max(0, c - margin) where it is -1.
[[nodiscard]] SORUS_API Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                                                     double margin = 0,
                                                     Reduction reduction = Reduction::kMean);
/// x where the target is 1, max(0, margin - x) where it is -1.
[[nodiscard]] SORUS_API Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin = 1,
                                                    Reduction reduction = Reduction::kMean);
/// max(0, -target * (x1 - x2) + margin).
[[nodiscard]] SORUS_API Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target,
                                                   double margin = 0, Reduction reduction = Reduction::kMean);
/// max(0, |a - p| - |a - n| + margin) along the last axis with p-norms of (difference + epsilon); `swap`
/// takes the smaller of |a - n| and |p - n|.
[[nodiscard]] SORUS_API Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive,
                                                   const Tensor& negative, double margin = 1, double p = 2,
                                                   double epsilon = 1e-6, bool swap = false,
                                                   Reduction reduction = Reduction::kMean);
/// log(1 + exp(-target * x)).
[[nodiscard]] SORUS_API Tensor soft_margin_loss(const Tensor& x, const Tensor& target,
                                                Reduction reduction = Reduction::kMean);
/// (log(v) + (x - target)^2 / v) / 2 with v = max(variance, epsilon), and with `full` + log(2 pi) / 2.
[[nodiscard]] SORUS_API Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target,
                                                 const Tensor& variance, bool full = false,
                                                 double epsilon = 1e-6,
                                                 Reduction reduction = Reduction::kMean);

/// sum over i != y of max(0, margin - x[y] + x[i])^p * weight[y] / C for x (N, C) and labels (N,); `weight`
/// (C,) may be undefined.
[[nodiscard]] SORUS_API Tensor multi_margin_loss(const Tensor& x, const Tensor& target, double p = 1,
                                                 double margin = 1, const Tensor& weight = {},
                                                 Reduction reduction = Reduction::kMean);
/// sum over labels j and all i that are no label of max(0, 1 - x[j] + x[i]) / C for x (N, C); the labels of a
/// row of `target` (N, C) end at its first negative number.
[[nodiscard]] SORUS_API Tensor multilabel_margin_loss(const Tensor& x, const Tensor& target,
                                                      Reduction reduction = Reduction::kMean);
/// binary_cross_entropy_with_logits averaged over the last axis.
[[nodiscard]] SORUS_API Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target,
                                                           const Tensor& weight = {},
                                                           Reduction reduction = Reduction::kMean);

}  // namespace sorus
