#include "sorus/ops/elementwise/detail/rules.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::elementwise {
namespace {

bool contains(Domain domain, DType t) {
  switch (domain) {
    case Domain::kAny:
      return true;
    case Domain::kNumber:
      return t != DType::kBool;
    case Domain::kFloating:
      return is_floating(t);
    case Domain::kInteger:
      return is_integer(t);
    case Domain::kIntegerOrBool:
      return !is_floating(t);
    case Domain::kBool:
      return t == DType::kBool;
  }
  return false;
}

std::string_view domain_text(Domain domain) {
  constexpr std::string_view kTexts[] = {
      "any", "a number", "a floating dtype", "an integer dtype", "an integer dtype or bool", "bool"};
  return kTexts[static_cast<size_t>(domain)];
}

}  // namespace

TypeList infer_broadcast(const InferContext& c, Domain domain, Result result) {
  TensorType type = c.in(0);
  SORUS_CHECK(contains(domain, type.dtype), DTypeError, "{}: dtype is not supported: got {}, need {}",
              c.name(), type.dtype, domain_text(domain));
  for (size_t i = 1; i < c.count(); ++i) {
    SORUS_CHECK(c.dtype(i) == type.dtype, DTypeError,
                "{}: dtypes of operands differ: got {} and {}, need one", c.name(), type.dtype, c.dtype(i));
    if (!(c.shape(i) == type.shape)) type.shape = broadcast_shapes(c.name(), type.shape, c.shape(i));
  }
  if (result == Result::kBool) type.dtype = DType::kBool;
  return {type};
}

Cost elementwise_cost(const InferContext& c) {
  TensorType out = c.op().infer(c)[0];
  auto count = static_cast<double>(out.shape.numel());
  Cost cost{.flops = count, .bytes = count * static_cast<double>(dtype_size(out.dtype))};
  for (size_t i = 0; i < c.count(); ++i)
    cost.bytes += static_cast<double>(c.shape(i).numel()) * static_cast<double>(dtype_size(c.dtype(i)));
  return cost;
}

std::vector<InputSpec> unary_inputs() { return {{"x"}}; }
std::vector<InputSpec> binary_inputs() { return {{"a"}, {"b"}}; }

Tensor as_floating(const Tensor& x) { return is_floating(x.dtype()) ? x : cast(x, DType::kFloat32); }

std::pair<Tensor, Tensor> promoted(const Tensor& a, const Tensor& b) {
  DType common = promote(a.dtype(), b.dtype());
  return {cast(a, common), cast(b, common)};
}

OpDef floating_function(std::string_view name, std::string_view doc, void (*vjp)(VjpContext&),
                        SaveMask saved_in, SaveMask saved_out) {
  return {.name = name,
          .doc = doc,
          .inputs = unary_inputs(),
          .infer = infer<Domain::kFloating>,
          .vjp = vjp,
          .saves_in = saved_in,
          .saves_out = saved_out,
          .cost = elementwise_cost,
          .traits = {.elementwise = true}};
}

OpDef binary_function(std::string_view name, std::string_view doc, TypeList (*infer)(const InferContext&),
                      void (*vjp)(VjpContext&), SaveMask saved_in, SaveMask saved_out) {
  return {.name = name,
          .doc = doc,
          .inputs = binary_inputs(),
          .infer = infer,
          .vjp = vjp,
          .saves_in = saved_in,
          .saves_out = saved_out,
          .cost = elementwise_cost,
          .traits = {.elementwise = true}};
}

OpDef backward(OpDef op) {
  op.traits.backward = true;
  return op;
}

Tensor apply_floating(const OpDef& op, const Tensor& x, AttrsRef attrs) {
  if (is_floating(x.dtype())) return apply(op, {&x}, attrs);
  Tensor converted = cast(x, DType::kFloat32);
  return apply(op, {&converted}, attrs);
}

Tensor apply_floating(const OpDef& op, const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype() && is_floating(a.dtype())) return apply(op, {&a, &b});
  auto [x, y] = promoted(a, b);
  x = as_floating(x);
  y = as_floating(y);
  return apply(op, {&x, &y});
}

Tensor apply_floating(const OpDef& op, const Tensor& a, const Tensor& b, const Tensor& c, AttrsRef attrs) {
  DType common = promote(promote(a.dtype(), b.dtype()), c.dtype());
  if (!is_floating(common)) common = DType::kFloat32;
  Tensor x = cast(a, common);
  Tensor y = cast(b, common);
  Tensor z = cast(c, common);
  return apply(op, {&x, &y, &z}, attrs);
}

Tensor masked(const Tensor& mask, const Tensor& gradient) {
  return where(mask, gradient, zero_of(gradient.dtype()));
}
void set_zeros(VjpContext& c, size_t i) { c.set(i, full(c.in_type(i), 0)); }

Tensor apply_promoted(const OpDef& op, const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return apply(op, {&a, &b});
  auto [x, y] = promoted(a, b);
  return apply(op, {&x, &y});
}

void set_summed(VjpContext& c, size_t i, const Tensor& gradient) {
  c.set(i, sum_to(gradient, c.in_type(i).shape));
}

Tensor zero_of(DType dtype) { return cast(Tensor(0.0F), dtype); }

}  // namespace sorus::elementwise
