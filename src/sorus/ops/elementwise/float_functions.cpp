#include "sorus/ops/elementwise/detail/backward.h"
#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"

// Exponentials, logarithms, roots and error functions.
namespace sorus {
namespace {

using namespace elementwise;

constexpr double kLog2 = 0.69314718055994530942;
constexpr double kLog10 = 2.30258509299404568402;
constexpr double kSqrtPi = 1.77245385090551602730;

const OpDef exp_op = floating_function(
    "exp", "e to the power x, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, mul(c.grad(), c.out())); }, kSaveNone, kFirst);
const OpDef exp2_op = floating_function(
    "exp2", "2 to the power x, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() * c.out() * kLog2); }, kSaveNone, kFirst);
const OpDef expm1_op = floating_function(
    "expm1", "exp(x) - 1, elementwise and exact near 0. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() * (c.out() + 1.0)); }, kSaveNone, kFirst);
const OpDef log_op = floating_function(
    "log", "Natural logarithm, elementwise. Floating dtypes; log(0) is -inf, of a negative number NaN.",
    [](VjpContext& c) { c.set(0, div(c.grad(), c.in(0))); }, kFirst);
const OpDef log2_op = floating_function(
    "log2", "Logarithm to base 2, elementwise. Floating dtypes; of 0 -inf, of a negative number NaN.",
    [](VjpContext& c) { c.set(0, c.grad() / (c.in(0) * kLog2)); }, kFirst);
const OpDef log10_op = floating_function(
    "log10", "Logarithm to base 10, elementwise. Floating dtypes; of 0 -inf, of a negative number NaN.",
    [](VjpContext& c) { c.set(0, c.grad() / (c.in(0) * kLog10)); }, kFirst);
const OpDef log1p_op = floating_function(
    "log1p", "log(1 + x), elementwise and exact near 0. Floating dtypes; of -1 -inf, below NaN.",
    [](VjpContext& c) { c.set(0, c.grad() / (c.in(0) + 1.0)); }, kFirst);
const OpDef sqrt_op = floating_function(
    "sqrt", "Square root, elementwise and correctly rounded. Floating dtypes; NaN for negative numbers.",
    [](VjpContext& c) { c.set(0, c.grad() * 0.5 / c.out()); }, kSaveNone, kFirst);
const OpDef rsqrt_op = floating_function(
    "rsqrt", "1 / sqrt(x), elementwise. Floating dtypes; inf for 0, NaN for negative numbers.",
    [](VjpContext& c) { c.set(0, c.grad() * -0.5 * (square(c.out()) * c.out())); }, kSaveNone, kFirst);
const OpDef cbrt_op = floating_function(
    "cbrt", "Cube root, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() / (square(c.out()) * 3.0)); }, kSaveNone, kFirst);
const OpDef reciprocal_op = floating_function(
    "reciprocal", "1 / x, elementwise and correctly rounded. Floating dtypes; inf for 0.",
    [](VjpContext& c) { c.set(0, neg(c.grad() * square(c.out()))); }, kSaveNone, kFirst);
const OpDef tanh_op = floating_function(
    "tanh", "Hyperbolic tangent, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, tanh_backward(c.grad(), c.out())); }, kSaveNone, kFirst);
const OpDef sigmoid_op = floating_function(
    "sigmoid", "1 / (1 + exp(-x)), elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, sigmoid_backward(c.grad(), c.out())); }, kSaveNone, kFirst);
const OpDef erf_op = floating_function(
    "erf", "Error function, elementwise. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() * exp(neg(square(c.in(0)))) * (2 / kSqrtPi)); }, kFirst);
const OpDef erfc_op = floating_function(
    "erfc", "1 - erf(x), elementwise and exact for large x. Floating dtypes.",
    [](VjpContext& c) { c.set(0, c.grad() * exp(neg(square(c.in(0)))) * (-2 / kSqrtPi)); }, kFirst);
const OpDef erfinv_op = floating_function(
    "erfinv", "Inverse of the error function, elementwise. Floating dtypes; NaN outside [-1, 1].",
    [](VjpContext& c) { c.set(0, c.grad() * exp(square(c.out())) * (kSqrtPi / 2)); }, kSaveNone, kFirst);

const OpRegistrar registered[] = {
    OpRegistrar(exp_op),     OpRegistrar(exp2_op),  OpRegistrar(expm1_op),      OpRegistrar(log_op),
    OpRegistrar(log2_op),    OpRegistrar(log10_op), OpRegistrar(log1p_op),      OpRegistrar(sqrt_op),
    OpRegistrar(rsqrt_op),   OpRegistrar(cbrt_op),  OpRegistrar(reciprocal_op), OpRegistrar(tanh_op),
    OpRegistrar(sigmoid_op), OpRegistrar(erf_op),   OpRegistrar(erfc_op),       OpRegistrar(erfinv_op)};

}  // namespace

Tensor exp(const Tensor& x) { return apply_floating(exp_op, x); }
Tensor exp2(const Tensor& x) { return apply_floating(exp2_op, x); }
Tensor expm1(const Tensor& x) { return apply_floating(expm1_op, x); }
Tensor log(const Tensor& x) { return apply_floating(log_op, x); }
Tensor log2(const Tensor& x) { return apply_floating(log2_op, x); }
Tensor log10(const Tensor& x) { return apply_floating(log10_op, x); }
Tensor log1p(const Tensor& x) { return apply_floating(log1p_op, x); }
Tensor sqrt(const Tensor& x) { return apply_floating(sqrt_op, x); }
Tensor rsqrt(const Tensor& x) { return apply_floating(rsqrt_op, x); }
Tensor cbrt(const Tensor& x) { return apply_floating(cbrt_op, x); }
Tensor reciprocal(const Tensor& x) { return apply_floating(reciprocal_op, x); }
Tensor tanh(const Tensor& x) { return apply_floating(tanh_op, x); }
Tensor sigmoid(const Tensor& x) { return apply_floating(sigmoid_op, x); }
Tensor erf(const Tensor& x) { return apply_floating(erf_op, x); }
Tensor erfc(const Tensor& x) { return apply_floating(erfc_op, x); }
Tensor erfinv(const Tensor& x) { return apply_floating(erfinv_op, x); }

}  // namespace sorus
