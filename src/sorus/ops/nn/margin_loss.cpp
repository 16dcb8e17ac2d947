#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

/// Margin losses over classes, made of other ops.
namespace sorus {
namespace {

Tensor reduced(std::string_view op, const Tensor& loss, Reduction reduction) {
  SORUS_CHECK(reduction != Reduction::kBatchMean, ValueError,
              "{}: 'reduction' is wrong: got batchmean, need none, mean or sum", op);
  return reduction == Reduction::kNone ? loss : reduction == Reduction::kMean ? mean(loss) : sum(loss);
}

void need_rows(std::string_view op, const Tensor& x, const Shape& target, const Shape& need) {
  detail::need_floating(op, "x", x.dtype());
  SORUS_CHECK(x.rank() == 2 && target == need, ShapeError,
              "{}: shapes do not fit: got x {} and target {}, need x (N, C) and a target to match", op,
              x.shape(), target);
}

/// (N, C), 1 at the numbers in `labels` (N, K) and 0 elsewhere; negative numbers count for none.
Tensor hot(const Tensor& labels, int64_t classes, DType dtype) {
  Tensor numbers = arange(0, static_cast<double>(classes), 1, labels.dtype());
  Tensor hits = cast(equal(expand_dims(labels, -1), numbers), dtype);  // (N, K, C)
  Tensor count = sum(hits, {1});
  return minimum(count, scalar_beside(1, dtype));
}

}  // namespace

Tensor multi_margin_loss(const Tensor& x, const Tensor& target, double p, double margin, const Tensor& weight,
                         Reduction reduction) {
  const ToldAs told("multi_margin_loss");
  constexpr std::string_view kName = "multi_margin_loss";
  need_rows(kName, x, target.shape(), x.rank() == 2 ? Shape{x.shape()[0]} : Shape{});
  SORUS_CHECK(p == 1 || p == 2, ValueError, "{}: 'p' is wrong: got {}, need 1 or 2", kName, p);
  Tensor column = expand_dims(target, 1);
  Tensor at_label = gather_elements(x, column, 1);
  Tensor excess = relu(margin - at_label + x);
  if (p == 2) excess = square(excess);
  excess = excess * (1.0 - hot(column, x.size(1), x.dtype()));
  if (weight.defined()) excess = excess * expand_dims(gather(weight, target, 0), 1);
  return reduced(kName, sum(excess, {1}) / static_cast<double>(x.size(1)), reduction);
}

Tensor multilabel_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  constexpr std::string_view kName = "multilabel_margin_loss";
  need_rows(kName, x, target.shape(), x.shape());
  Tensor zero = scalar_beside(0, target.dtype());
  Tensor ended = cumsum(cast(less(target, zero), DType::kInt32), 1);
  Tensor counts = equal(ended, scalar_beside(0, DType::kInt32));
  Tensor label = where(counts, target, zero);
  Tensor others = 1.0 - hot(where(counts, target, scalar_beside(-1, target.dtype())), x.size(1), x.dtype());
  Tensor at_labels = gather_elements(x, label, 1);
  Tensor excess = relu(1.0 - expand_dims(at_labels, 2) + expand_dims(x, 1));  // (N, label, class)
  excess = excess * expand_dims(cast(counts, x.dtype()), 2) * expand_dims(others, 1);
  return reduced(kName, sum(excess, {1, 2}) / static_cast<double>(x.size(1)), reduction);
}

Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target, const Tensor& weight,
                                   Reduction reduction) {
  const ToldAs told("multilabel_soft_margin_loss");
  Tensor loss = binary_cross_entropy_with_logits(x, target, weight, {}, Reduction::kNone);
  return reduced("multilabel_soft_margin_loss", mean(loss, {-1}), reduction);
}

}  // namespace sorus
