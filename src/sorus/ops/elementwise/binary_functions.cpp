#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/attributes.h"
#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/elementwise/logic.h"

// Functions of several operands.
namespace sorus {
namespace {

using namespace elementwise;

/// All of the gradient goes to one operand: to `a` where the mask holds, else to `b`.
void choose(VjpContext& c, const Tensor& takes_first) {
  Tensor zero = zero_of(c.grad().dtype());
  if (c.needs(0)) set_summed(c, 0, where(takes_first, c.grad(), zero));
  if (c.needs(1)) set_summed(c, 1, where(takes_first, zero, c.grad()));
}

const OpDef maximum_op = binary_function(
    "maximum",
    "The greater of two, elementwise with broadcasting; NaN if either is NaN. Any dtype. Of equal operands "
    "the "
    "first gets the gradient.",
    infer<Domain::kAny>, [](VjpContext& c) { choose(c, greater_equal(c.in(0), c.in(1))); }, saves({0, 1}));
const OpDef minimum_op = binary_function(
    "minimum",
    "The lesser of two, elementwise with broadcasting; NaN if either is NaN. Any dtype. Of equal operands "
    "the "
    "first gets the gradient.",
    infer<Domain::kAny>, [](VjpContext& c) { choose(c, less_equal(c.in(0), c.in(1))); }, saves({0, 1}));
const OpDef fmax_op = binary_function(
    "fmax",
    "The greater of two, elementwise with broadcasting; of a number and a NaN the number. Floating dtypes. "
    "Of "
    "equal operands the first gets the gradient.",
    infer<Domain::kFloating>,
    [](VjpContext& c) { choose(c, logical_or(greater_equal(c.in(0), c.in(1)), isnan(c.in(1)))); },
    saves({0, 1}));
const OpDef fmin_op = binary_function(
    "fmin",
    "The lesser of two, elementwise with broadcasting; of a number and a NaN the number. Floating dtypes. Of "
    "equal "
    "operands the first gets the gradient.",
    infer<Domain::kFloating>,
    [](VjpContext& c) { choose(c, logical_or(less_equal(c.in(0), c.in(1)), isnan(c.in(1)))); },
    saves({0, 1}));

void pow_vjp(VjpContext& c) {
  const Tensor& a = c.in(0);
  const Tensor& b = c.in(1);
  if (c.needs(0)) {
    Tensor zero = zero_of(b.dtype());
    // x^0 is constant, also at 0, where the formula would give 0 * inf.
    set_summed(c, 0, c.grad() * where(equal(b, zero), zero, b * pow(a, b - 1.0)));
  }
  // Negative bases have no derivative for b: they count as constants, lest whole exponents give NaN.
  if (c.needs(1)) {
    Tensor base = where(less(a, zero_of(a.dtype())), scalar_beside(1, a.dtype()), a);
    set_summed(c, 1, c.grad() * xlogy(c.out(), base));
  }
}
const OpDef pow_op = binary_function("pow",
                                     "a to the power b, elementwise with broadcasting. Any number; integers "
                                     "wrap, a negative exponent of integers "
                                     "rounds towards 0.",
                                     infer<Domain::kNumber>, pow_vjp, saves({0, 1}), kFirst);

void logaddexp_vjp(VjpContext& c) {
  for (size_t i = 0; i < 2; ++i)
    if (c.needs(i)) set_summed(c, i, c.grad() * exp(c.in(i)-c.out()));
}
const OpDef logaddexp_op = binary_function(
    "logaddexp", "log(exp(a) + exp(b)) without overflow, elementwise with broadcasting. Floating dtypes.",
    infer<Domain::kFloating>, logaddexp_vjp, saves({0, 1}), kFirst);

void logaddexp2_vjp(VjpContext& c) {
  for (size_t i = 0; i < 2; ++i)
    if (c.needs(i)) set_summed(c, i, c.grad() * exp2(c.in(i)-c.out()));
}
const OpDef logaddexp2_op = binary_function(
    "logaddexp2", "log2(2^a + 2^b) without overflow, elementwise with broadcasting. Floating dtypes.",
    infer<Domain::kFloating>, logaddexp2_vjp, saves({0, 1}), kFirst);

void xlogy_vjp(VjpContext& c) {
  const Tensor& x = c.in(0);
  const Tensor& y = c.in(1);
  if (c.needs(0)) {
    Tensor zero = zero_of(x.dtype());
    Tensor outside = logical_and(equal(x, zero), less_equal(y, zero));
    set_summed(c, 0, c.grad() * where(outside, zero, log(y)));
  }
  if (c.needs(1)) set_summed(c, 1, c.grad() * x / y);
}
const OpDef xlogy_op = binary_function(
    "xlogy",
    "a * log(b), elementwise with broadcasting, and 0 where a is 0 unless b is NaN. Floating dtypes.",
    infer<Domain::kFloating>, xlogy_vjp, saves({0, 1}));

OpDef ternary(std::string_view name, std::string_view doc, std::vector<InputSpec> inputs,
              const AttrsDef& attrs, void (*vjp)(VjpContext&), SaveMask saved_in) {
  return {.name = name,
          .doc = doc,
          .inputs = std::move(inputs),
          .attrs = attrs,
          .infer = infer<Domain::kFloating>,
          .vjp = vjp,
          .saves_in = saved_in,
          .cost = elementwise_cost,
          .traits = {.elementwise = true}};
}

void lerp_vjp(VjpContext& c) {
  const Tensor& weight = c.in(2);
  if (c.needs(0)) set_summed(c, 0, c.grad() * (1.0 - weight));
  if (c.needs(1)) set_summed(c, 1, c.grad() * weight);
  if (c.needs(2)) set_summed(c, 2, c.grad() * (c.in(1) - c.in(0)));
}
const OpDef lerp_op =
    ternary("lerp", "start + weight * (end - start), elementwise with broadcasting. Floating dtypes.",
            {{"start"}, {"end"}, {"weight"}}, attrs_def<NoAttrs>(), lerp_vjp, saves({0, 1, 2}));

void addcmul_vjp(VjpContext& c) {
  const double value = c.attrs<FactorAttrs>().value;
  if (c.needs(0)) set_summed(c, 0, c.grad());
  if (c.needs(1)) set_summed(c, 1, c.grad() * c.in(2) * value);
  if (c.needs(2)) set_summed(c, 2, c.grad() * c.in(1) * value);
}
const OpDef addcmul_op =
    ternary("addcmul", "x + value * (a * b), elementwise with broadcasting. Floating dtypes.",
            {{"x"}, {"a"}, {"b"}}, attrs_def<FactorAttrs>(), addcmul_vjp, saves({1, 2}));

void addcdiv_vjp(VjpContext& c) {
  const double value = c.attrs<FactorAttrs>().value;
  if (c.needs(0)) set_summed(c, 0, c.grad());
  Tensor scaled = c.grad() * value / c.in(2);
  if (c.needs(1)) set_summed(c, 1, scaled);
  if (c.needs(2)) set_summed(c, 2, neg(scaled * c.in(1) / c.in(2)));
}
const OpDef addcdiv_op =
    ternary("addcdiv", "x + value * (a / b), elementwise with broadcasting. Floating dtypes.",
            {{"x"}, {"a"}, {"b"}}, attrs_def<FactorAttrs>(), addcdiv_vjp, saves({1, 2}));

TypeList infer_nextafter(const InferContext& c) {
  SORUS_CHECK(c.dtype(0) == DType::kFloat32 || c.dtype(0) == DType::kFloat64, DTypeError,
              "nextafter: dtype is not supported: got {}, need float32 or float64", c.dtype(0));
  return infer<Domain::kFloating>(c);
}
const OpDef nextafter_op{
    .name = "nextafter",
    .doc =
        "The number next to a in the direction of b, elementwise with broadcasting; b where they are equal. "
        "float32 and float64.",
    .inputs = binary_inputs(),
    .infer = infer_nextafter,
    .cost = elementwise_cost,
    .traits = {.elementwise = true, .differentiable = false}};

const OpRegistrar registered[] = {
    OpRegistrar(maximum_op),    OpRegistrar(minimum_op), OpRegistrar(fmax_op),
    OpRegistrar(fmin_op),       OpRegistrar(pow_op),     OpRegistrar(logaddexp_op),
    OpRegistrar(logaddexp2_op), OpRegistrar(xlogy_op),   OpRegistrar(lerp_op),
    OpRegistrar(addcmul_op),    OpRegistrar(addcdiv_op), OpRegistrar(nextafter_op)};

}  // namespace

Tensor maximum(const Tensor& a, const Tensor& b) { return apply_promoted(maximum_op, a, b); }
Tensor minimum(const Tensor& a, const Tensor& b) { return apply_promoted(minimum_op, a, b); }
Tensor fmax(const Tensor& a, const Tensor& b) {
  const ToldAs told("fmax");
  auto [x, y] = promoted(a, b);
  return is_floating(x.dtype()) ? apply(fmax_op, {&x, &y}) : maximum(x, y);
}
Tensor fmin(const Tensor& a, const Tensor& b) {
  const ToldAs told("fmin");
  auto [x, y] = promoted(a, b);
  return is_floating(x.dtype()) ? apply(fmin_op, {&x, &y}) : minimum(x, y);
}
Tensor pow(const Tensor& a, const Tensor& b) {
  auto [x, y] = promoted(a, b);
  if (x.dtype() != DType::kBool) return apply(pow_op, {&x, &y});
  return pow(cast(x, DType::kInt64), cast(y, DType::kInt64));
}
Tensor logaddexp(const Tensor& a, const Tensor& b) { return apply_floating(logaddexp_op, a, b); }
Tensor logaddexp2(const Tensor& a, const Tensor& b) { return apply_floating(logaddexp2_op, a, b); }
Tensor xlogy(const Tensor& x, const Tensor& y) { return apply_floating(xlogy_op, x, y); }
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight) {
  return apply_floating(lerp_op, start, end, weight);
}
Tensor nextafter(const Tensor& a, const Tensor& b) { return apply_promoted(nextafter_op, a, b); }
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, double value) {
  return apply_floating(addcmul_op, x, a, b, FactorAttrs{value});
}
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, double value) {
  return apply_floating(addcdiv_op, x, a, b, FactorAttrs{value});
}

}  // namespace sorus
