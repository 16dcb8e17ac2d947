#pragma once

#include "sorus/nn/cell.h"
#include "sorus/ops/nn/loss.h"

/// Losses as cells: `loss(logits, labels)`, reduced to one number or kept one for each element. `weight`
/// tensors are constants and may be undefined.
namespace sorus::nn {

/// The base of losses.
class SORUS_API LossBase : public Cell {
 public:
  /// The loss of two operands.
  Tensor operator()(const Tensor& logits, const Tensor& labels);
  using Cell::operator();
  /// Operands: logits, labels.
  TensorList construct(const TensorList& in) final;
  using Cell::construct;

 protected:
  LossBase(std::string_view name, Place place, Reduction reduction);
  virtual Tensor loss(const Tensor& logits, const Tensor& labels) const = 0;
  [[nodiscard]] Reduction reduction() const { return reduction_; }

 private:
  std::string_view name_;
  Reduction reduction_;
};

/// Softmax cross-entropy of logits (..., C) and class numbers (...). In Python `sparse=True`, with the mean
/// as the default here.
class SORUS_API SoftmaxCrossEntropyWithLogits : public LossBase {
 public:
  explicit SoftmaxCrossEntropyWithLogits(Place place = {}, Reduction reduction = Reduction::kMean)
      : LossBase("SoftmaxCrossEntropyWithLogits", place, reduction) {}

 private:
  Tensor loss(const Tensor& logits, const Tensor& labels) const override;
};

struct CrossEntropyOptions {
  Tensor weight = {};  ///< (C,), of the classes
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::kMean;
  double label_smoothing = 0;
};
/// Cross-entropy of logits (N, C, ...) and class numbers (N, ...), or distributions over axis 1.
class SORUS_API CrossEntropyLoss : public LossBase {
 public:
  explicit CrossEntropyLoss(Place place = {}, const CrossEntropyOptions& options = {})
      : LossBase("CrossEntropyLoss", place, options.reduction), options_(options) {}

 private:
  Tensor loss(const Tensor& logits, const Tensor& labels) const override;
  CrossEntropyOptions options_;
};

struct NLLOptions {
  Tensor weight = {};  ///< (C,), of the classes
  int64_t ignore_index = -100;
  Reduction reduction = Reduction::kMean;
};
/// Minus the log-probability (N, C, ...) of the class numbers (N, ...).
class SORUS_API NLLLoss : public LossBase {
 public:
  explicit NLLLoss(Place place = {}, const NLLOptions& options = {})
      : LossBase("NLLLoss", place, options.reduction), options_(options) {}

 private:
  Tensor loss(const Tensor& logits, const Tensor& labels) const override;
  NLLOptions options_;
};

/// Squared difference.
class SORUS_API MSELoss : public LossBase {
 public:
  explicit MSELoss(Place place = {}, Reduction reduction = Reduction::kMean)
      : LossBase("MSELoss", place, reduction) {}

 private:
  Tensor loss(const Tensor& logits, const Tensor& labels) const override;
};

/// Absolute difference.
class SORUS_API L1Loss : public LossBase {
 public:
  explicit L1Loss(Place place = {}, Reduction reduction = Reduction::kMean)
      : LossBase("L1Loss", place, reduction) {}

 private:
  Tensor loss(const Tensor& logits, const Tensor& labels) const override;
};

/// d^2 / (2 beta) for differences d below beta, d - beta / 2 above.
class SORUS_API SmoothL1Loss : public LossBase {
 public:
  explicit SmoothL1Loss(Place place = {}, double beta = 1, Reduction reduction = Reduction::kNone)
      : LossBase("SmoothL1Loss", place, reduction), beta_(beta) {}

 private:
  Tensor loss(const Tensor& logits, const Tensor& labels) const override;
  double beta_;
};

/// d^2 / 2 for differences d below delta, delta * (d - delta / 2) above.
class SORUS_API HuberLoss : public LossBase {
 public:
  explicit HuberLoss(Place place = {}, Reduction reduction = Reduction::kMean, double delta = 1)
      : LossBase("HuberLoss", place, reduction), delta_(delta) {}

 private:
  Tensor loss(const Tensor& logits, const Tensor& labels) const override;
  double delta_;
};

/// Binary cross-entropy of probabilities; `weight` broadcasts.
class SORUS_API BCELoss : public LossBase {
 public:
  explicit BCELoss(Place place = {}, const Tensor& weight = {}, Reduction reduction = Reduction::kMean)
      : LossBase("BCELoss", place, reduction), weight_(weight) {}

 private:
  Tensor loss(const Tensor& logits, const Tensor& labels) const override;
  Tensor weight_;
};

/// Binary cross-entropy of sigmoid(logits); `weight` and `pos_weight`, of the positive labels, broadcast.
class SORUS_API BCEWithLogitsLoss : public LossBase {
 public:
  explicit BCEWithLogitsLoss(Place place = {}, Reduction reduction = Reduction::kMean,
                             const Tensor& weight = {}, const Tensor& pos_weight = {})
      : LossBase("BCEWithLogitsLoss", place, reduction), weight_(weight), pos_weight_(pos_weight) {}

 private:
  Tensor loss(const Tensor& logits, const Tensor& labels) const override;
  Tensor weight_, pos_weight_;
};

/// labels * (log(labels) - logits) for log-probabilities `logits` and probabilities `labels`.
class SORUS_API KLDivLoss : public LossBase {
 public:
  explicit KLDivLoss(Place place = {}, Reduction reduction = Reduction::kMean)
      : LossBase("KLDivLoss", place, reduction) {}

 private:
  Tensor loss(const Tensor& logits, const Tensor& labels) const override;
};

}  // namespace sorus::nn
