#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sorus/core/tensor.h"

/// Measures of how good a network is, taken over many batches. All sums are kept in double precision on the
/// host.
namespace sorus::train {

/// A measure under way: clear, update with each batch, eval. Not for several threads at once.
class SORUS_API Metric {
 public:
  virtual ~Metric() = default;
  /// Forgets all batches.
  virtual void clear() = 0;
  /// Takes a batch: what the network gave, then what it should have given (just the loss for Loss). Throws
  /// ValueError or ShapeError for what does not fit.
  virtual void update(std::span<const Tensor> in) = 0;
  /// The measure, float64: rank 0, or one number for each class. Throws RuntimeError before the first batch.
  [[nodiscard]] virtual Tensor eval() const = 0;
};

/// What predictions are: one class of several, or any number of labels of a row.
enum class LabelKind { kClassification, kMultilabel };

/// Share of predictions that are right. Predictions (N, C) with labels (N,) or one-hot (N, C); with
/// kMultilabel both are (N, ...) of 0 and 1 and a row counts when all of it is right.
[[nodiscard]] SORUS_API std::unique_ptr<Metric> accuracy(LabelKind kind = LabelKind::kClassification);
/// Share of rows whose label is among the k largest predictions.
[[nodiscard]] SORUS_API std::unique_ptr<Metric> top_k_accuracy(int64_t k);
/// Mean of the losses given, each a tensor of any shape that counts with its mean.
[[nodiscard]] SORUS_API std::unique_ptr<Metric> loss();
/// Mean over rows of the summed absolute, or squared, difference.
[[nodiscard]] SORUS_API std::unique_ptr<Metric> mean_absolute_error();
[[nodiscard]] SORUS_API std::unique_ptr<Metric> mean_squared_error();
/// For each class: share of those predicted as it that are it; share of it that is found; and their weighted
/// harmonic mean (1 + beta^2) p r / (beta^2 p + r). What is 0 / 0 counts as 0. With `average` the mean over
/// classes.
[[nodiscard]] SORUS_API std::unique_ptr<Metric> precision(LabelKind kind = LabelKind::kClassification,
                                                          bool average = false);
[[nodiscard]] SORUS_API std::unique_ptr<Metric> recall(LabelKind kind = LabelKind::kClassification,
                                                       bool average = false);
[[nodiscard]] SORUS_API std::unique_ptr<Metric> f_beta(double beta = 1, bool average = false);
/// (C, C) counts, row = label, column = prediction. Rows are divided by their sums with "target", columns
/// with "prediction", everything with "all".
[[nodiscard]] SORUS_API std::unique_ptr<Metric> confusion_matrix(int64_t classes,
                                                                 const std::string& normalize = "no_norm",
                                                                 double threshold = 0.5);
/// exp(mean of -log of what is predicted for the label), leaving out rows with label `ignore_label`.
[[nodiscard]] SORUS_API std::unique_ptr<Metric> perplexity(int64_t ignore_label = -1);
/// Sum over batches of 2 |a b| / (|a|^2 + |b|^2 + smooth), divided by the number of rows, as the field has
/// it.
[[nodiscard]] SORUS_API std::unique_ptr<Metric> dice(double smooth = 1e-5);

}  // namespace sorus::train
