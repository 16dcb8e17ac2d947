#include "sorus/nn/loss.h"

#include "sorus/ops/reduce/reduce.h"

namespace sorus::nn {

LossBase::LossBase(std::string_view name, Place place, Reduction reduction)
    : Cell(place), name_(name), reduction_(reduction) {
  SORUS_CHECK(reduction != Reduction::kBatchMean, ValueError,
              "{}: reduction does not fit: got kBatchMean, need kMean, kSum or kNone", name);
}

Tensor LossBase::operator()(const Tensor& logits, const Tensor& labels) {
  return (*this)(TensorList{logits, labels})[0];
}

TensorList LossBase::construct(const TensorList& in) {
  SORUS_CHECK(in.size() == 2, ValueError, "{}: number of operands differs: got {}, need logits and labels",
              name_, in.size());
  return {loss(in[0], in[1])};
}

Tensor SoftmaxCrossEntropyWithLogits::loss(const Tensor& logits, const Tensor& labels) const {
  Tensor losses = softmax_cross_entropy(logits, labels);
  if (reduction() == Reduction::kMean) return mean(losses);
  return reduction() == Reduction::kSum ? sum(losses) : losses;
}

Tensor CrossEntropyLoss::loss(const Tensor& logits, const Tensor& labels) const {
  return cross_entropy(logits, labels, options_.weight, options_.ignore_index, reduction(),
                       options_.label_smoothing);
}

Tensor NLLLoss::loss(const Tensor& logits, const Tensor& labels) const {
  return nll_loss(logits, labels, options_.weight, options_.ignore_index, reduction());
}

Tensor MSELoss::loss(const Tensor& logits, const Tensor& labels) const {
  return mse_loss(logits, labels, reduction());
}

Tensor L1Loss::loss(const Tensor& logits, const Tensor& labels) const {
  return l1_loss(logits, labels, reduction());
}

Tensor SmoothL1Loss::loss(const Tensor& logits, const Tensor& labels) const {
  return smooth_l1_loss(logits, labels, beta_, reduction());
}

Tensor HuberLoss::loss(const Tensor& logits, const Tensor& labels) const {
  return huber_loss(logits, labels, delta_, reduction());
}

Tensor BCELoss::loss(const Tensor& logits, const Tensor& labels) const {
  return binary_cross_entropy(logits, labels, weight_, reduction());
}

Tensor BCEWithLogitsLoss::loss(const Tensor& logits, const Tensor& labels) const {
  return binary_cross_entropy_with_logits(logits, labels, weight_, pos_weight_, reduction());
}

Tensor KLDivLoss::loss(const Tensor& logits, const Tensor& labels) const {
  return kl_div(logits, labels, reduction());
}

}  // namespace sorus::nn
