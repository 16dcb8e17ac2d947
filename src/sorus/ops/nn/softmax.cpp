#include "sorus/ops/nn/softmax.h"

#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/reduce/reduce.h"

namespace sorus {
namespace {

/// Graphs come from files too, whose attributes no public function has seen.
void need_axis(const InferContext& c) {
  const int64_t axis = c.attrs<SoftmaxAttrs>().axis;
  SORUS_CHECK(axis >= 0 && axis < c.shape(0).rank(), ValueError,
              "{}: axis is out of range: got {}, need 0 to {}", c.name(), axis, c.shape(0).rank() - 1);
}

TypeList infer_softmax(const InferContext& c) {
  detail::need_floating(c.name(), "x", c.dtype(0));
  need_axis(c);
  return {c.in(0)};
}

TypeList infer_backward(const InferContext& c) {
  detail::need_floating(c.name(), "y", c.dtype(0));
  detail::need_same_dtype(c.name(), "gradient", c.dtype(1), c.dtype(0));
  SORUS_CHECK(c.shape(0) == c.shape(1), ShapeError, "{}: shapes differ: got {} and {}, need the same",
              c.name(), c.shape(0), c.shape(1));
  need_axis(c);
  return {c.in(0)};
}

Cost softmax_cost(const InferContext& c) {
  double n = static_cast<double>(c.shape(0).numel());
  return {5 * n, 2 * n * static_cast<double>(dtype_size(c.dtype(0)))};
}

void softmax_vjp(VjpContext& c) {
  if (c.needs(0) && c.grad().defined())
    c.set(0, softmax_backward(c.out(), c.grad(), c.attrs<SoftmaxAttrs>().axis));
}

void log_softmax_vjp(VjpContext& c) {
  if (c.needs(0) && c.grad().defined())
    c.set(0, log_softmax_backward(c.out(), c.grad(), c.attrs<SoftmaxAttrs>().axis));
}

/// dx = y * (g - s), s = sum(g * y): bilinear in (y, g).
void softmax_backward_vjp(VjpContext& c) {
  const Tensor& u = c.grad();
  if (!u.defined()) return;
  int64_t axis = c.attrs<SoftmaxAttrs>().axis;
  const Tensor& y = c.in(0);
  const Tensor& g = c.in(1);
  if (c.needs(0)) {
    Tensor s = sum(g * y, {axis}, true);
    Tensor uy = sum(u * y, {axis}, true);
    c.set(0, u * (g - s) - g * uy);
  }
  if (c.needs(1)) c.set(1, softmax_backward(y, u, axis));
}

/// dx = g - exp(y) * sum(g).
void log_softmax_backward_vjp(VjpContext& c) {
  const Tensor& u = c.grad();
  if (!u.defined()) return;
  int64_t axis = c.attrs<SoftmaxAttrs>().axis;
  Tensor p = exp(c.in(0));
  if (c.needs(0)) c.set(0, neg(u * p * sum(c.in(1), {axis}, true)));
  if (c.needs(1)) c.set(1, u - sum(u * p, {axis}, true));
}

const OpDef softmax_op{.name = "softmax",
                       .doc = "exp(x - max) / sum(exp(x - max)) along one axis of a floating tensor.",
                       .inputs = {{"x"}},
                       .attrs = attrs_def<SoftmaxAttrs>(),
                       .infer = infer_softmax,
                       .vjp = softmax_vjp,
                       .saves_out = saves({0}),
                       .cost = softmax_cost};
const OpRegistrar softmax_registered{softmax_op};

const OpDef log_softmax_op{.name = "log_softmax",
                           .doc = "x - max - log(sum(exp(x - max))) along one axis of a floating tensor.",
                           .inputs = {{"x"}},
                           .attrs = attrs_def<SoftmaxAttrs>(),
                           .infer = infer_softmax,
                           .vjp = log_softmax_vjp,
                           .saves_out = saves({0}),
                           .cost = softmax_cost};
const OpRegistrar log_softmax_registered{log_softmax_op};

const OpDef softmax_backward_op{.name = "softmax_backward",
                                .doc = "Gradient of softmax from its result: y * (g - sum(g * y)).",
                                .inputs = {{"y"}, {"gradient"}},
                                .attrs = attrs_def<SoftmaxAttrs>(),
                                .infer = infer_backward,
                                .vjp = softmax_backward_vjp,
                                .saves_in = saves({0, 1}),
                                .cost = softmax_cost,
                                .traits = {.backward = true}};
const OpRegistrar softmax_backward_registered{softmax_backward_op};

const OpDef log_softmax_backward_op{.name = "log_softmax_backward",
                                    .doc = "Gradient of log_softmax from its result: g - exp(y) * sum(g).",
                                    .inputs = {{"y"}, {"gradient"}},
                                    .attrs = attrs_def<SoftmaxAttrs>(),
                                    .infer = infer_backward,
                                    .vjp = log_softmax_backward_vjp,
                                    .saves_in = saves({0, 1}),
                                    .cost = softmax_cost,
                                    .traits = {.backward = true}};
const OpRegistrar log_softmax_backward_registered{log_softmax_backward_op};

SoftmaxAttrs attrs_for(std::string_view op, const Tensor& x, int64_t axis) {
  SORUS_CHECK(x.rank() > 0, ShapeError, "{}: a scalar has no axis: got shape (), need rank 1 or more", op);
  return {normalize_axis(op, axis, x.rank())};
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis) {
  return apply(softmax_op, {&x}, attrs_for("softmax", x, axis));
}
Tensor log_softmax(const Tensor& x, int64_t axis) {
  return apply(log_softmax_op, {&x}, attrs_for("log_softmax", x, axis));
}
Tensor softmax_backward(const Tensor& y, const Tensor& gradient, int64_t axis) {
  return apply(softmax_backward_op, {&y, &gradient}, attrs_for("softmax_backward", y, axis));
}
Tensor log_softmax_backward(const Tensor& y, const Tensor& gradient, int64_t axis) {
  return apply(log_softmax_backward_op, {&y, &gradient}, attrs_for("log_softmax_backward", y, axis));
}

}  // namespace sorus
