#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"

namespace sorus {
namespace {

using namespace elementwise;

const OpDef sin_op = floating_function(
    "sin", "Sine of x in radians, elementwise. Floating dtypes; NaN for infinities.",
    [](VjpContext& c) { c.set(0, c.grad() * cos(c.in(0))); }, kFirst);
const OpDef cos_op = floating_function(
    "cos", "Cosine of x in radians, elementwise. Floating dtypes; NaN for infinities.",
    [](VjpContext& c) { c.set(0, neg(c.grad() * sin(c.in(0)))); }, kFirst);
const OpDef tan_op = floating_function(
    "tan", "Tangent of x in radians, elementwise. Floating dtypes; NaN for infinities.",
    [](VjpContext& c) { c.set(0, c.grad() * (square(c.out()) + 1.0)); }, kSaveNone, kFirst);
const OpDef asin_op = floating_function(
    "asin", "Inverse sine, elementwise, in [-pi/2, pi/2]. Floating dtypes; NaN outside [-1, 1].",
    [](VjpContext& c) { c.set(0, c.grad() * rsqrt(1.0 - square(c.in(0)))); }, kFirst);
const OpDef acos_op = floating_function(
    "acos", "Inverse cosine, elementwise, in [0, pi]. Floating dtypes; NaN outside [-1, 1].",
    [](VjpContext& c) { c.set(0, neg(c.grad() * rsqrt(1.0 - square(c.in(0))))); }, kFirst);
const OpDef atan_op = floating_function(
    "atan", "Inverse tangent, elementwise, in [-pi/2, pi/2]. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() / (square(c.in(0)) + 1.0)); }, kFirst);
const OpDef sinh_op = floating_function(
    "sinh", "Hyperbolic sine, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() * cosh(c.in(0))); }, kFirst);
const OpDef cosh_op = floating_function(
    "cosh", "Hyperbolic cosine, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() * sinh(c.in(0))); }, kFirst);
const OpDef asinh_op = floating_function(
    "asinh", "Inverse hyperbolic sine, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() * rsqrt(square(c.in(0)) + 1.0)); }, kFirst);
const OpDef acosh_op = floating_function(
    "acosh", "Inverse hyperbolic cosine, elementwise. Floating dtypes; NaN below 1.",
    [](VjpContext& c) { c.set(0, c.grad() * rsqrt((c.in(0) - 1.0) * (c.in(0) + 1.0))); }, kFirst);
const OpDef atanh_op = floating_function(
    "atanh", "Inverse hyperbolic tangent, elementwise. Floating dtypes; NaN outside [-1, 1].",
    [](VjpContext& c) { c.set(0, c.grad() / (1.0 - square(c.in(0)))); }, kFirst);

void atan2_vjp(VjpContext& c) {
  const Tensor& y = c.in(0);
  const Tensor& x = c.in(1);
  Tensor scaled = c.grad() / (square(x) + square(y));
  if (c.needs(0)) set_summed(c, 0, scaled * x);
  if (c.needs(1)) set_summed(c, 1, neg(scaled * y));
}
const OpDef atan2_op = binary_function(
    "atan2", "Angle of the point (b, a) seen from the origin, elementwise with broadcasting, in (-pi, pi].",
    infer<Domain::kFloating>, atan2_vjp, saves({0, 1}));

void hypot_vjp(VjpContext& c) {
  Tensor scaled = c.grad() / c.out();
  for (size_t i = 0; i < 2; ++i)
    if (c.needs(i)) set_summed(c, i, scaled * c.in(i));
}
const OpDef hypot_op = binary_function(
    "hypot", "sqrt(a^2 + b^2) without overflow, elementwise with broadcasting. Floating dtypes.",
    infer<Domain::kFloating>, hypot_vjp, saves({0, 1}), kFirst);

const OpRegistrar registered[] = {OpRegistrar(sin_op),   OpRegistrar(cos_op),   OpRegistrar(tan_op),
                                  OpRegistrar(asin_op),  OpRegistrar(acos_op),  OpRegistrar(atan_op),
                                  OpRegistrar(sinh_op),  OpRegistrar(cosh_op),  OpRegistrar(asinh_op),
                                  OpRegistrar(acosh_op), OpRegistrar(atanh_op), OpRegistrar(atan2_op),
                                  OpRegistrar(hypot_op)};

}  // namespace

Tensor sin(const Tensor& x) { return apply_floating(sin_op, x); }
Tensor cos(const Tensor& x) { return apply_floating(cos_op, x); }
Tensor tan(const Tensor& x) { return apply_floating(tan_op, x); }
Tensor asin(const Tensor& x) { return apply_floating(asin_op, x); }
Tensor acos(const Tensor& x) { return apply_floating(acos_op, x); }
Tensor atan(const Tensor& x) { return apply_floating(atan_op, x); }
Tensor sinh(const Tensor& x) { return apply_floating(sinh_op, x); }
Tensor cosh(const Tensor& x) { return apply_floating(cosh_op, x); }
Tensor asinh(const Tensor& x) { return apply_floating(asinh_op, x); }
Tensor acosh(const Tensor& x) { return apply_floating(acosh_op, x); }
Tensor atanh(const Tensor& x) { return apply_floating(atanh_op, x); }
Tensor atan2(const Tensor& y, const Tensor& x) { return apply_floating(atan2_op, y, x); }
Tensor hypot(const Tensor& a, const Tensor& b) { return apply_floating(hypot_op, a, b); }

}  // namespace sorus
