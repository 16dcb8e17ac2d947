#include <cmath>

#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/activation.h"
#include "sorus/ops/elementwise/attributes.h"
#include "sorus/ops/elementwise/detail/backward.h"
#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/elementwise/logic.h"

// Activations and bounds that are linear piece by piece, and softsign.
namespace sorus {
namespace {

using namespace elementwise;

Tensor number(double v, const Tensor& beside) { return scalar_beside(v, beside.dtype()); }
Tensor above(const Tensor& x, double v) { return greater(x, number(v, x)); }
Tensor below(const Tensor& x, double v) { return less(x, number(v, x)); }
Tensor at_least(const Tensor& x, double v) { return greater_equal(x, number(v, x)); }
Tensor at_most(const Tensor& x, double v) { return less_equal(x, number(v, x)); }
Tensor between(const Tensor& x, double low, double high) {
  return logical_and(above(x, low), below(x, high));
}

OpDef relu_definition() {
  OpDef op = floating_function(
      "relu", "x, and 0 where x < 0, elementwise; NaN stays NaN. Any number. The gradient at 0 is 0.",
      [](VjpContext& c) { c.set(0, relu_backward(c.grad(), c.out())); }, kSaveNone, kFirst);
  op.infer = infer<Domain::kNumber>;
  return op;
}
const OpDef relu_op = relu_definition();

const OpDef relu6_op = floating_function(
    "relu6", "x within [0, 6], elementwise. Floating dtypes. The gradient at 0 is 0, that at 6 is 1.",
    [](VjpContext& c) { c.set(0, masked(logical_and(above(c.in(0), 0), at_most(c.in(0), 6)), c.grad())); },
    kFirst);

const OpDef leaky_relu_op = floating_function<SlopeAttrs>(
    "leaky_relu", "x, and slope * x where x <= 0, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, leaky_relu_backward(c.grad(), c.in(0), c.attrs<SlopeAttrs>().slope)); },
    kFirst);

void prelu_vjp(VjpContext& c) {
  const Tensor& x = c.in(0);
  Tensor is_positive = above(x, 0);
  if (c.needs(0)) set_summed(c, 0, where(is_positive, c.grad(), c.grad() * c.in(1)));
  if (c.needs(1)) set_summed(c, 1, where(is_positive, number(0, x), c.grad() * x));
}
const OpDef prelu_op = binary_function(
    "prelu",
    "a, and a * b where a <= 0, elementwise with broadcasting. Floating dtypes. Source: He et al. 2015.",
    infer<Domain::kFloating>, prelu_vjp, saves({0, 1}));

void clip_vjp(VjpContext& c) {
  const auto& a = c.attrs<BoundsAttrs>();
  const Tensor& x = c.in(0);
  Tensor inside = logical_and(greater_equal(x, number(a.low, x)), less_equal(x, number(a.high, x)));
  c.set(0, masked(inside, c.grad()));
}
const OpDef clip_op =
    floating_function<BoundsAttrs>("clip",
                                   "x within [low, high], elementwise, and high where the bounds cross. "
                                   "Floating dtypes. The gradient at the bounds "
                                   "is that inside.",
                                   clip_vjp, kFirst);

const OpDef hardsigmoid_op = floating_function(
    "hardsigmoid",
    "(x + 3) / 6 within [0, 1], elementwise. Floating dtypes. The gradient at the bounds is 0.",
    [](VjpContext& c) { c.set(0, masked(between(c.in(0), -3, 3), c.grad() / 6.0)); }, kFirst);

void hardswish_vjp(VjpContext& c) {
  const Tensor& x = c.in(0);
  Tensor slope = where(at_least(x, -3), x / 3.0 + 0.5, number(0, x));
  c.set(0, c.grad() * where(at_most(x, 3), slope, number(1, x)));
}
const OpDef hardswish_op = floating_function(
    "hardswish",
    "x * (x + 3) / 6, 0 below -3 and x above 3, elementwise. Floating dtypes. The gradient at "
    "-3 and 3 is that between. Source: Howard et al. 2019.",
    hardswish_vjp, kFirst);

const OpDef softsign_op = floating_function(
    "softsign", "x / (1 + |x|), elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() / square(abs(c.in(0)) + 1.0)); }, kFirst);

void shrink_vjp(VjpContext& c) {
  c.set(0, masked(above(abs(c.in(0)), c.attrs<ShrinkAttrs>().width), c.grad()));
}
const OpDef softshrink_op = floating_function<ShrinkAttrs>(
    "softshrink", "x moved towards 0 by width, 0 where |x| <= width, elementwise. Floating dtypes.",
    shrink_vjp, kFirst);
const OpDef hardshrink_op = floating_function<ShrinkAttrs>(
    "hardshrink", "x, and 0 where |x| <= width, elementwise. Floating dtypes.", shrink_vjp, kFirst);
const OpDef threshold_op = floating_function<ThresholdAttrs>(
    "threshold", "x, and value where x <= threshold, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, masked(above(c.in(0), c.attrs<ThresholdAttrs>().threshold), c.grad())); },
    kFirst);

const OpRegistrar registered[] = {
    OpRegistrar(relu_op),       OpRegistrar(relu6_op),    OpRegistrar(leaky_relu_op),
    OpRegistrar(prelu_op),      OpRegistrar(clip_op),     OpRegistrar(hardsigmoid_op),
    OpRegistrar(hardswish_op),  OpRegistrar(softsign_op), OpRegistrar(softshrink_op),
    OpRegistrar(hardshrink_op), OpRegistrar(threshold_op)};

bool is_whole(double bound) { return std::isinf(bound) || bound == std::trunc(bound); }

/// Integers against one whole bound; what the dtype cannot hold bounds nothing, or everything.
Tensor bound_integers(const Tensor& x, double bound, Tensor (*choose)(const Tensor&, const Tensor&)) {
  if (std::isinf(bound)) return x;
  Tensor wide = cast(x, DType::kInt64);
  return cast(choose(wide, Tensor(static_cast<int64_t>(bound))), x.dtype());
}

}  // namespace

Tensor relu(const Tensor& x) { return apply(relu_op, {&x}); }
Tensor relu6(const Tensor& x) { return apply_floating(relu6_op, x); }
Tensor leaky_relu(const Tensor& x, double slope) {
  return apply_floating(leaky_relu_op, x, SlopeAttrs{slope});
}
Tensor prelu(const Tensor& x, const Tensor& slope) { return apply_floating(prelu_op, x, slope); }
Tensor clip(const Tensor& x, double low, double high) {
  const ToldAs told("clip");
  if (is_floating(x.dtype()) || !is_whole(low) || !is_whole(high))
    return apply_floating(clip_op, x, BoundsAttrs{low, high});
  if (x.dtype() == DType::kBool) return clip(cast(x, DType::kInt64), low, high);
  return bound_integers(bound_integers(x, low, maximum), high, minimum);
}
Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high) {
  const ToldAs told("clip");
  return minimum(maximum(x, low), high);
}
Tensor hardtanh(const Tensor& x, double low, double high) { return clip(x, low, high); }
Tensor hardsigmoid(const Tensor& x) { return apply_floating(hardsigmoid_op, x); }
Tensor hardswish(const Tensor& x) { return apply_floating(hardswish_op, x); }
Tensor softsign(const Tensor& x) { return apply_floating(softsign_op, x); }
Tensor softshrink(const Tensor& x, double width) {
  return apply_floating(softshrink_op, x, ShrinkAttrs{width});
}
Tensor hardshrink(const Tensor& x, double width) {
  return apply_floating(hardshrink_op, x, ShrinkAttrs{width});
}
Tensor threshold(const Tensor& x, double limit, double value) {
  return apply_floating(threshold_op, x, ThresholdAttrs{limit, value});
}

}  // namespace sorus
