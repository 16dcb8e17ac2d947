#include "sorus/ops/nn/loss.h"

#include <cmath>
#include <numbers>

#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/detail/binary_cross_entropy_check.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/reduce/reduce.h"

namespace sorus {
namespace {

Tensor reduced(std::string_view op, const Tensor& loss, Reduction reduction) {
  switch (reduction) {
    case Reduction::kNone:
      return loss;
    case Reduction::kMean:
      return mean(loss);
    case Reduction::kSum:
      return sum(loss);
    case Reduction::kBatchMean:
      break;
  }
  raise<ValueError>("{}: 'reduction' is wrong: got batchmean, need none, mean or sum", op);
}

Tensor weighed(const Tensor& loss, const Tensor& weight) { return weight.defined() ? loss * weight : loss; }

Tensor number(double v, const Tensor& beside) { return scalar_beside(v, beside.dtype()); }

/// log(1 + exp(-x)) without overflow, with the right slope everywhere: the shift m takes no gradient.
Tensor softplus_of_negative(const Tensor& x) {
  Tensor m = stop_gradient(relu(neg(x)));
  return m + log(exp(neg(m)) + exp(neg(x) - m));
}

/// log(x), at least -100. Its slope at 0, which a saturated sigmoid gives, is 0 as elsewhere below.
Tensor bounded_log(const Tensor& x) {
  Tensor floor = number(-100, x), none = equal(x, number(0, x));
  return where(none, floor, maximum(log(where(none, number(1, x), x)), floor));
}

void need_positive(std::string_view op, std::string_view what, double value, bool zero_allowed) {
  SORUS_CHECK(value > 0 || (zero_allowed && value == 0), ValueError,
              "{}: '{}' is too small: got {}, need {} 0", op, what, value,
              zero_allowed ? "at least" : "more than");
}

}  // namespace

Reduction reduction_from_name(std::string_view name) {
  if (name == "none") return Reduction::kNone;
  if (name == "mean") return Reduction::kMean;
  if (name == "sum") return Reduction::kSum;
  if (name == "batchmean") return Reduction::kBatchMean;
  raise<ValueError>("loss: 'reduction' is unknown: got '{}', need none, mean, sum or batchmean", name);
}

Tensor mse_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  const ToldAs told("mse_loss");
  return reduced("mse_loss", square(x - target), reduction);
}

Tensor l1_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  const ToldAs told("l1_loss");
  return reduced("l1_loss", abs(x - target), reduction);
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& target, double beta, Reduction reduction) {
  const ToldAs told("smooth_l1_loss");
  need_positive("smooth_l1_loss", "beta", beta, true);
  if (beta == 0) return reduced("smooth_l1_loss", abs(x - target), reduction);
  Tensor d = abs(x - target);
  Tensor loss = where(less(d, number(beta, d)), square(d) * (0.5 / beta), d - 0.5 * beta);
  return reduced("smooth_l1_loss", loss, reduction);
}

Tensor huber_loss(const Tensor& x, const Tensor& target, double delta, Reduction reduction) {
  const ToldAs told("huber_loss");
  need_positive("huber_loss", "delta", delta, false);
  Tensor d = abs(x - target);
  Tensor loss = where(less(d, number(delta, d)), square(d) * 0.5, (d - 0.5 * delta) * delta);
  return reduced("huber_loss", loss, reduction);
}

Tensor binary_cross_entropy(const Tensor& probabilities, const Tensor& target, const Tensor& weight,
                            Reduction reduction) {
  const ToldAs told("binary_cross_entropy");
  detail::binary_cross_entropy_check(probabilities);
  Tensor loss = neg(target * bounded_log(probabilities) + (1.0 - target) * bounded_log(1.0 - probabilities));
  return reduced("binary_cross_entropy", weighed(loss, weight), reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target, const Tensor& weight,
                                        const Tensor& positive_weight, Reduction reduction) {
  const ToldAs told("binary_cross_entropy_with_logits");
  detail::need_floating("binary_cross_entropy_with_logits", "logits", logits.dtype());
  Tensor tail = softplus_of_negative(logits);
  if (positive_weight.defined()) tail = (1.0 + (positive_weight - 1.0) * target) * tail;
  Tensor loss = (1.0 - target) * logits + tail;
  return reduced("binary_cross_entropy_with_logits", weighed(loss, weight), reduction);
}

Tensor kl_div(const Tensor& x, const Tensor& target, Reduction reduction) {
  const ToldAs told("kl_div");
  detail::need_floating("kl_div", "x", x.dtype());
  Tensor zero = number(0, target);
  Tensor positive = greater(target, zero);
  Tensor safe = where(positive, target, number(1, target));
  Tensor loss = where(positive, target * (log(safe) - x), zero);
  if (reduction != Reduction::kBatchMean) return reduced("kl_div", loss, reduction);
  SORUS_CHECK(loss.rank() >= 1, ShapeError, "kl_div: there is no batch: got shape (), need rank 1 or more");
  return sum(loss) / static_cast<double>(loss.size(0));
}

Tensor cosine_embedding_loss(const Tensor& x1, const Tensor& x2, const Tensor& target, double margin,
                             Reduction reduction) {
  const ToldAs told("cosine_embedding_loss");
  constexpr double kEpsilon = 1e-12;
  Tensor dot = sum(x1 * x2, {-1});
  Tensor scale = sqrt((sum(square(x1), {-1}) + kEpsilon) * (sum(square(x2), {-1}) + kEpsilon));
  Tensor c = dot / scale;
  Tensor zero = number(0, c);
  Tensor loss = where(greater(target, scalar_beside(0, target.dtype())), 1.0 - c, maximum(c - margin, zero));
  return reduced("cosine_embedding_loss", loss, reduction);
}

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, double margin, Reduction reduction) {
  const ToldAs told("hinge_embedding_loss");
  Tensor positive = greater(target, scalar_beside(0, target.dtype()));
  Tensor loss = where(positive, x, maximum(margin - x, number(0, x)));
  return reduced("hinge_embedding_loss", loss, reduction);
}

Tensor margin_ranking_loss(const Tensor& x1, const Tensor& x2, const Tensor& target, double margin,
                           Reduction reduction) {
  const ToldAs told("margin_ranking_loss");
  Tensor d = neg(target) * (x1 - x2) + margin;
  return reduced("margin_ranking_loss", maximum(d, number(0, d)), reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double epsilon, bool swap, Reduction reduction) {
  const ToldAs told("triplet_margin_loss");
  need_positive("triplet_margin_loss", "p", p, false);
  auto distance = [&](const Tensor& a, const Tensor& b) {
    Tensor d = a - b + epsilon;
    if (p == 2) return sqrt(sum(square(d), {-1}));
    return pow(sum(pow(abs(d), number(p, d)), {-1}), number(1 / p, d));
  };
  Tensor far = distance(anchor, negative);
  if (swap) far = minimum(far, distance(positive, negative));
  Tensor d = distance(anchor, positive) - far + margin;
  return reduced("triplet_margin_loss", maximum(d, number(0, d)), reduction);
}

Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction) {
  const ToldAs told("soft_margin_loss");
  return reduced("soft_margin_loss", softplus_of_negative(target * x), reduction);
}

Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& variance, bool full,
                         double epsilon, Reduction reduction) {
  const ToldAs told("gaussian_nll_loss");
  need_positive("gaussian_nll_loss", "epsilon", epsilon, false);
  // The bound on the variance takes no gradient.
  Tensor raise = stop_gradient(relu(number(epsilon, variance) - variance));
  Tensor v = variance + raise;
  Tensor loss = (log(v) + square(x - target) / v) * 0.5;
  if (full) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
  return reduced("gaussian_nll_loss", loss, reduction);
}

}  // namespace sorus
