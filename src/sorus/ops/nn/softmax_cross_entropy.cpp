#include "sorus/dispatch/apply.h"
#include "sorus/ops/detail/index_range.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/softmax.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

Shape rows_of(const Shape& logits) {
  Shape out;
  for (int i = 0; i + 1 < logits.rank(); ++i) out.push_back(logits[i]);
  return out;
}

void need_labels(const InferContext& c) {
  detail::need_floating(c.name(), "logits", c.dtype(0));
  SORUS_CHECK(c.dtype(1) == DType::kInt32 || c.dtype(1) == DType::kInt64, DTypeError,
              "{}: 'labels' has the wrong dtype: got {}, need int32 or int64", c.name(), c.dtype(1));
  SORUS_CHECK(c.shape(0).rank() >= 1 && c.shape(1) == rows_of(c.shape(0)), ShapeError,
              "{}: labels do not fit: got labels {} for logits {}, need one label for each row", c.name(),
              c.shape(1), c.shape(0));
}

void check_labels(const KernelCall& c) {
  int64_t classes = c.in[0].size(c.in[0].rank() - 1);
  if (auto wrong = detail::find_outside(c.in[1], 0, classes, c.attrs<CrossEntropyAttrs>().ignore_index))
    raise<IndexError>("{}: a label is out of range: got {} at position {}, need 0 to {} ({} classes)",
                      c.op.name, wrong->index, wrong->position, classes - 1, classes);
}

TypeList infer_loss(const InferContext& c) {
  need_labels(c);
  return {{c.dtype(0), c.in(0).device, c.shape(1)}};
}

TypeList infer_backward(const InferContext& c) {
  need_labels(c);
  detail::need_same_dtype(c.name(), "gradient", c.dtype(2), c.dtype(0));
  SORUS_CHECK(c.shape(2) == c.shape(1), ShapeError, "{}: the gradient does not fit: got shape {}, need {}",
              c.name(), c.shape(2), c.shape(1));
  return {c.in(0)};
}

Cost loss_cost(const InferContext& c) {
  double n = static_cast<double>(c.shape(0).numel());
  return {5 * n, 2 * n * static_cast<double>(dtype_size(c.dtype(0)))};
}

void loss_vjp(VjpContext& c) {
  const auto& a = c.attrs<CrossEntropyAttrs>();
  if (c.needs(0) && c.grad().defined())
    c.set(0, softmax_cross_entropy_backward(c.in(0), c.in(1), c.grad(), a.ignore_index, a.label_smoothing));
}

/// dx = (p - t) * g with p = softmax(logits), for rows that are not ignored.
void backward_vjp(VjpContext& c) {
  const Tensor& u = c.grad();
  if (!u.defined()) return;
  const auto& a = c.attrs<CrossEntropyAttrs>();
  if (c.needs(0)) {
    Tensor kept = cast(not_equal(c.in(1), scalar_beside(a.ignore_index, c.in(1).dtype())), u.dtype());
    Tensor scale = expand_dims(kept * c.in(2), -1);
    c.set(0, softmax_backward(softmax(c.in(0)), u * scale));
  }
  if (c.needs(2)) {
    Tensor ones = full(c.in_type(2), 1);
    Tensor slope = softmax_cross_entropy_backward(c.in(0), c.in(1), ones, a.ignore_index, a.label_smoothing);
    c.set(2, sum(u * slope, {-1}));
  }
}

const OpDef loss_op{.name = "softmax_cross_entropy",
                    .doc =
                        "Cross-entropy of softmax(logits) along the last axis with integer labels: logits "
                        "(..., C), labels (...), result (...). IndexError for a label outside [0, C).",
                    .inputs = {{"logits"}, {"labels"}},
                    .attrs = attrs_def<CrossEntropyAttrs>(),
                    .infer = infer_loss,
                    .vjp = loss_vjp,
                    .saves_in = saves({0, 1}),
                    .cost = loss_cost,
                    .check_values = check_labels,
                    .check_reads = saves({1})};
const OpRegistrar loss_registered{loss_op};

const OpDef backward_op{.name = "softmax_cross_entropy_backward",
                        .doc =
                            "Gradient of softmax_cross_entropy for its logits: (softmax(logits) - target) * "
                            "gradient, gradient (...).",
                        .inputs = {{"logits"}, {"labels"}, {"gradient"}},
                        .attrs = attrs_def<CrossEntropyAttrs>(),
                        .infer = infer_backward,
                        .vjp = backward_vjp,
                        .saves_in = saves({0, 1, 2}),
                        .cost = loss_cost,
                        .check_values = check_labels,
                        .check_reads = saves({1}),
                        .traits = {.backward = true}};
const OpRegistrar backward_registered{backward_op};

CrossEntropyAttrs attrs_for(int64_t ignore_index, double label_smoothing) {
  SORUS_CHECK(label_smoothing >= 0 && label_smoothing <= 1, ValueError,
              "softmax_cross_entropy: 'label_smoothing' is out of range: got {}, need 0 to 1",
              label_smoothing);
  return {ignore_index, label_smoothing};
}

}  // namespace

Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& labels, int64_t ignore_index,
                             double label_smoothing) {
  return apply(loss_op, {&logits, &labels}, attrs_for(ignore_index, label_smoothing));
}

Tensor softmax_cross_entropy_backward(const Tensor& logits, const Tensor& labels, const Tensor& gradient,
                                      int64_t ignore_index, double label_smoothing) {
  return apply(backward_op, {&logits, &labels, &gradient}, attrs_for(ignore_index, label_smoothing));
}

}  // namespace sorus
