#include "binding/functions.h"
#include "sorus/ops/nn/embedding.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/norm.h"

namespace sorus::python {

template <>
struct EnumWords<Reduction> {
  static constexpr const char* words[] = {"none", "mean", "sum", "batchmean"};
};

namespace {

std::tuple<Tensor, Tensor, Tensor> parts(NormResult&& r) {
  return {std::move(r.y), std::move(r.mean), std::move(r.variance)};
}
auto layer_norm_axes(const Tensor& x, int64_t begin_axis, const Tensor& gamma, const Tensor& beta,
                     double epsilon) {
  return layer_norm_with_statistics(x, begin_axis, gamma, beta, epsilon).y;
}
/// layer_norm over the axes from `begin_axis` on, with the means and the inverse standard deviations.
auto layer_norm_parts(const Tensor& x, int64_t begin_axis, const Tensor& gamma, const Tensor& beta,
                      double epsilon) {
  return parts(layer_norm_with_statistics(x, begin_axis, gamma, beta, epsilon));
}
auto group_norm_parts(const Tensor& x, int64_t groups, const Tensor& gamma, const Tensor& beta,
                      double epsilon) {
  return parts(group_norm_with_statistics(x, groups, gamma, beta, epsilon));
}
auto instance_norm_train(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  return parts(group_norm_with_statistics(x, x.size(1), gamma, beta, epsilon));
}
auto bound_batch_norm_train(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  return parts(batch_norm_train(x, gamma, beta, epsilon));
}
std::pair<Tensor, Tensor> bound_rms_norm(const Tensor& x, const Tensor& gamma, double epsilon) {
  RmsNormResult r = rms_norm(x, gamma, epsilon);
  return {std::move(r.y), std::move(r.scale)};
}

}  // namespace

std::vector<Function> loss_functions() {
  return {
      function("cross_entropy", &cross_entropy,
               "logits, target, weight=None, ignore_index=-100, reduction='mean', label_smoothing=0"),
      function("nll_loss", &nll_loss, "x, target, weight=None, ignore_index=-100, reduction='mean'"),
      function("softmax_cross_entropy_with_logits", &softmax_cross_entropy_with_logits, "logits, labels"),
      function("mse_loss", &mse_loss, "x, target, reduction='mean'"),
      function("multi_margin_loss", &multi_margin_loss,
               "x, target, p=1, margin=1, weight=None, reduction='mean'"),
      function("multilabel_soft_margin_loss", &multilabel_soft_margin_loss,
               "x, target, weight=None, reduction='mean'"),
      function("l1_loss", &l1_loss, "x, target, reduction='mean'"),
      function("smooth_l1_loss", &smooth_l1_loss, "x, target, beta=1, reduction='mean'"),
      function("huber_loss", &huber_loss, "x, target, delta=1, reduction='mean'"),
      function("binary_cross_entropy", &binary_cross_entropy, "x, target, weight=None, reduction='mean'"),
      function("binary_cross_entropy_with_logits", &binary_cross_entropy_with_logits,
               "x, target, weight=None, positive_weight=None, reduction='mean'"),
      function("kl_div", &kl_div, "x, target, reduction='mean'"),
      function("cosine_embedding_loss", &cosine_embedding_loss, "x1, x2, target, margin=0, reduction='mean'"),
      function("hinge_embedding_loss", &hinge_embedding_loss, "x, target, margin=1, reduction='mean'"),
      function("margin_ranking_loss", &margin_ranking_loss, "x1, x2, target, margin=0, reduction='mean'"),
      function("triplet_margin_loss", &triplet_margin_loss,
               "anchor, positive, negative, margin=1, p=2, epsilon=1e-6, swap=False, reduction='mean'"),
      function("soft_margin_loss", &soft_margin_loss, "x, target, reduction='mean'"),
      function("gaussian_nll_loss", &gaussian_nll_loss,
               "x, target, variance, full=False, epsilon=1e-6, reduction='mean'"),
      function("embedding", &embedding, "ids, table, padding_index=None"),
      function("layer_norm", &layer_norm, "x, normalized_shape, gamma=None, beta=None, epsilon=1e-5"),
      function("layer_norm_axes", &layer_norm_axes, "x, begin_axis=-1, gamma=None, beta=None, epsilon=1e-5"),
      function("layer_norm_parts", &layer_norm_parts,
               "x, begin_axis=-1, gamma=None, beta=None, epsilon=1e-5"),
      function("group_norm", &group_norm, "x, groups, gamma=None, beta=None, epsilon=1e-5"),
      function("group_norm_parts", &group_norm_parts, "x, groups, gamma=None, beta=None, epsilon=1e-5"),
      function("instance_norm_train", &instance_norm_train, "x, gamma=None, beta=None, epsilon=1e-5"),
      function("batch_norm_train", &bound_batch_norm_train, "x, gamma=None, beta=None, epsilon=1e-5"),
      function("batch_norm_inference", &batch_norm_inference,
               "x, mean, variance, gamma=None, beta=None, epsilon=1e-5"),
      function("rms_norm", &bound_rms_norm, "x, gamma, epsilon=1e-6"),
      function("normalize", &normalize, "x, p=2, axis=1, epsilon=1e-12"),
      function("l2_normalize", &l2_normalize, "x, axes, epsilon=1e-4"),
  };
}

}  // namespace sorus::python
