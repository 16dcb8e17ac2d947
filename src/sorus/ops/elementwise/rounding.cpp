#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"

// Rounding, remainders and what else is flat or linear piece by piece.
namespace sorus {
namespace {

using namespace elementwise;

void zero_vjp(VjpContext& c) {
  for (size_t i = 0; i < c.input_count(); ++i)
    if (c.needs(i)) set_zeros(c, i);
}

const OpDef floor_op = floating_function("floor", "The greatest integral value not above x. Floating dtypes.",
                                         zero_vjp, kSaveNone);
const OpDef ceil_op =
    floating_function("ceil", "The least integral value not below x. Floating dtypes.", zero_vjp, kSaveNone);
const OpDef trunc_op =
    floating_function("trunc", "x without its fraction. Floating dtypes.", zero_vjp, kSaveNone);
const OpDef round_op = floating_function(
    "round", "The nearest integral value, of two equally near the even one. Floating dtypes.", zero_vjp,
    kSaveNone);

OpDef of_numbers(std::string_view name, std::string_view doc, void (*vjp)(VjpContext&), SaveMask saved_in) {
  OpDef op = floating_function(name, doc, vjp, saved_in);
  op.infer = infer<Domain::kNumber>;
  return op;
}
const OpDef abs_op = of_numbers(
    "abs", "|x|, elementwise. Any number; the least integer wraps to itself. The gradient at 0 is 0.",
    [](VjpContext& c) { c.set(0, c.grad() * sign(c.in(0))); }, kFirst);
const OpDef sign_op = of_numbers(
    "sign", "-1, 0 or 1, elementwise. Any number; NaN stays NaN. The gradient is 0.", zero_vjp, kSaveNone);
const OpDef square_op = of_numbers(
    "square", "x * x, elementwise. Any number; integers wrap.",
    [](VjpContext& c) { c.set(0, c.grad() * (c.in(0) * 2.0)); }, kFirst);

const OpDef floor_div_op = binary_function("floor_div",
                                           "a / b rounded towards minus infinity, elementwise with "
                                           "broadcasting. Any number; an integer divided by 0 "
                                           "gives 0. The gradient is 0.",
                                           infer<Domain::kNumber>, zero_vjp, kSaveNone);

void mod_vjp(VjpContext& c) {
  if (c.needs(0)) set_summed(c, 0, c.grad());
  if (c.needs(1)) set_summed(c, 1, neg(c.grad() * floor_div(c.in(0), c.in(1))));
}
const OpDef mod_op = binary_function("mod",
                                     "Remainder with the sign of the divisor, a - b * floor(a / b), "
                                     "elementwise with broadcasting. Any number; an "
                                     "integer modulo 0 gives 0, a floating one NaN.",
                                     infer<Domain::kNumber>, mod_vjp, saves({0, 1}));

void fmod_vjp(VjpContext& c) {
  if (c.needs(0)) set_summed(c, 0, c.grad());
  if (c.needs(1)) set_summed(c, 1, neg(c.grad() * trunc(c.in(0) / c.in(1))));
}
const OpDef fmod_op = binary_function("fmod",
                                      "Remainder with the sign of the dividend, a - b * trunc(a / b), "
                                      "elementwise with broadcasting. Any number; an "
                                      "integer modulo 0 gives 0, a floating one NaN.",
                                      infer<Domain::kNumber>, fmod_vjp, saves({0, 1}));

const OpRegistrar registered[] = {OpRegistrar(floor_op),  OpRegistrar(ceil_op),      OpRegistrar(trunc_op),
                                  OpRegistrar(round_op),  OpRegistrar(abs_op),       OpRegistrar(sign_op),
                                  OpRegistrar(square_op), OpRegistrar(floor_div_op), OpRegistrar(mod_op),
                                  OpRegistrar(fmod_op)};

Tensor rounded(const OpDef& op, const Tensor& x) { return is_floating(x.dtype()) ? apply(op, {&x}) : x; }

/// Bools take part in number ops as int64, as they do in MindSpore.
Tensor as_number(const Tensor& x) { return x.dtype() == DType::kBool ? cast(x, DType::kInt64) : x; }

}  // namespace

Tensor floor(const Tensor& x) { return rounded(floor_op, x); }
Tensor ceil(const Tensor& x) { return rounded(ceil_op, x); }
Tensor trunc(const Tensor& x) { return rounded(trunc_op, x); }
Tensor round(const Tensor& x) { return rounded(round_op, x); }
Tensor abs(const Tensor& x) {
  if (x.dtype() == DType::kBool) return x;
  return apply(abs_op, {&x});
}
Tensor sign(const Tensor& x) {
  if (x.dtype() == DType::kBool) return x;
  return apply(sign_op, {&x});
}
Tensor square(const Tensor& x) {
  if (x.dtype() == DType::kBool) return x;
  return apply(square_op, {&x});
}
Tensor floor_div(const Tensor& a, const Tensor& b) {
  auto [x, y] = promoted(a, b);
  return apply_promoted(floor_div_op, as_number(x), as_number(y));
}
Tensor mod(const Tensor& a, const Tensor& b) {
  auto [x, y] = promoted(a, b);
  return apply_promoted(mod_op, as_number(x), as_number(y));
}
Tensor fmod(const Tensor& a, const Tensor& b) {
  auto [x, y] = promoted(a, b);
  return apply_promoted(fmod_op, as_number(x), as_number(y));
}

}  // namespace sorus
