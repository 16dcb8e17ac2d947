#include <vector>

#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

/// Classification losses made of other ops.
namespace sorus {
namespace {

/// Classes (N, C, d...) moved to the last axis; (C,) and (N, C) as they are.
Tensor classes_last(std::string_view op, const Tensor& x) {
  SORUS_CHECK(x.rank() >= 1, ShapeError, "{}: there is no class axis: got shape (), need (C,) or (N, C, ...)",
              op);
  return x.rank() <= 2 ? x : movedim(x, {1}, {-1});
}

void need_weight(std::string_view op, const Tensor& weight, const Tensor& x) {
  if (!weight.defined()) return;
  SORUS_CHECK(weight.rank() == 1 && weight.size(0) == x.size(-1), ShapeError,
              "{}: 'weight' does not fit: got shape {}, need ({},)", op, weight.shape(), x.size(-1));
}

void need_reduction(std::string_view op, Reduction reduction) {
  SORUS_CHECK(reduction != Reduction::kBatchMean, ValueError,
              "{}: 'reduction' is wrong: got batchmean, need none, mean or sum", op);
}

/// Throws the error of the first label that names no class; returns where there is none.
void refuse_label(const Tensor& target, int64_t classes, int64_t ignore_index) {
  const std::vector<int64_t> labels = cast(target, DType::kInt64).to_vector<int64_t>();
  for (size_t i = 0; i < labels.size(); ++i)
    SORUS_CHECK(labels[i] == ignore_index || (labels[i] >= 0 && labels[i] < classes), IndexError,
                "nll_loss: a label is out of range: got {} at position {}, need 0 to {} ({} classes)",
                labels[i], i, classes - 1, classes);
}

/// The loss of each row and the weight with which it counts in the mean, from log-probabilities (..., C).
struct Rows {
  Tensor loss, weight;
};
Rows label_rows(const Tensor& x, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                double smoothing) {
  Tensor kept = not_equal(target, scalar_beside(ignore_index, target.dtype()));
  Tensor zero = scalar_beside(0, target.dtype());
  Tensor label = where(kept, target, zero);
  // Indices count from the end when negative, labels do not: move them out of range, so that they are
  // refused.
  label = where(less(label, zero), label - x.size(-1), label);
  Tensor picked;
  try {
    picked = squeeze(gather_elements(x, expand_dims(label, -1), -1), {-1});
  } catch (const IndexError&) {
    refuse_label(target, x.size(-1), ignore_index);
    throw;
  }
  Tensor counts = cast(kept, x.dtype());
  if (weight.defined()) counts = counts * gather(weight, label, 0);
  Tensor loss = neg(picked) * counts;
  if (smoothing > 0) {
    Tensor spread = weight.defined() ? sum(x * weight, {-1}) : sum(x, {-1});
    Tensor uniform = neg(spread) * cast(kept, x.dtype());
    loss = loss * (1 - smoothing) + uniform * (smoothing / static_cast<double>(x.size(-1)));
  }
  return {loss, counts};
}

Tensor reduce_rows(const Rows& rows, Reduction reduction) {
  if (reduction == Reduction::kNone) return rows.loss;
  Tensor total = sum(rows.loss);
  return reduction == Reduction::kSum ? total : total / sum(rows.weight);
}

void need_labels(std::string_view op, const Tensor& target, const Tensor& x) {
  SORUS_CHECK(target.dtype() == DType::kInt32 || target.dtype() == DType::kInt64, DTypeError,
              "{}: 'target' has the wrong dtype: got {}, need int32 or int64", op, target.dtype());
  bool fits = target.rank() + 1 == x.rank();
  for (int i = 0; fits && i < target.rank(); ++i) fits = target.shape()[i] == x.shape()[i];
  SORUS_CHECK(fits, ShapeError, "{}: 'target' does not fit: got shape {}, need one label for each row of {}",
              op, target.shape(), x.shape());
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight, int64_t ignore_index,
                     Reduction reduction, double label_smoothing) {
  const ToldAs told("cross_entropy");
  constexpr std::string_view kName = "cross_entropy";
  need_reduction(kName, reduction);
  detail::need_floating(kName, "logits", logits.dtype());
  SORUS_CHECK(label_smoothing >= 0 && label_smoothing <= 1, ValueError,
              "{}: 'label_smoothing' is out of range: got {}, need 0 to 1", kName, label_smoothing);
  Tensor x = classes_last(kName, logits);
  need_weight(kName, weight, x);
  if (is_floating(target.dtype())) {
    SORUS_CHECK(target.shape() == logits.shape(), ShapeError,
                "{}: 'target' does not fit: got shape {}, need {}", kName, target.shape(), logits.shape());
    Tensor t = classes_last(kName, target);
    double classes = static_cast<double>(x.size(-1));
    if (label_smoothing > 0) t = t * (1 - label_smoothing) + label_smoothing / classes;
    if (weight.defined()) t = t * weight;
    Tensor loss = neg(sum(t * log_softmax(x), {-1}));
    if (reduction == Reduction::kNone) return loss;
    return reduction == Reduction::kSum ? sum(loss) : sum(loss) / static_cast<double>(loss.numel());
  }
  need_labels(kName, target, x);
  if (weight.defined())
    return reduce_rows(label_rows(log_softmax(x), target, weight, ignore_index, label_smoothing), reduction);
  Tensor loss = softmax_cross_entropy(x, target, ignore_index, label_smoothing);
  if (reduction != Reduction::kMean) return reduction == Reduction::kSum ? sum(loss) : loss;
  Tensor kept = not_equal(target, scalar_beside(ignore_index, target.dtype()));
  return sum(loss) / sum(cast(kept, loss.dtype()));
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight,
                int64_t ignore_index, Reduction reduction) {
  const ToldAs told("nll_loss");
  constexpr std::string_view kName = "nll_loss";
  need_reduction(kName, reduction);
  detail::need_floating(kName, "log_probabilities", log_probabilities.dtype());
  Tensor x = classes_last(kName, log_probabilities);
  need_weight(kName, weight, x);
  need_labels(kName, target, x);
  return reduce_rows(label_rows(x, target, weight, ignore_index, 0), reduction);
}

Tensor softmax_cross_entropy_with_logits(const Tensor& logits, const Tensor& labels) {
  const ToldAs told("softmax_cross_entropy_with_logits");
  SORUS_CHECK(logits.shape() == labels.shape(), ShapeError,
              "softmax_cross_entropy_with_logits: shapes differ: got {} and {}, need the same",
              logits.shape(), labels.shape());
  return neg(sum(labels * log_softmax(logits), {-1}));
}

}  // namespace sorus
