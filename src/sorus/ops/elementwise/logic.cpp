#include "sorus/ops/elementwise/logic.h"

#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

using namespace elementwise;

OpDef without_gradient(std::string_view name, std::string_view doc, std::vector<InputSpec> inputs,
                       TypeList (*infer)(const InferContext&)) {
  return {.name = name,
          .doc = doc,
          .inputs = std::move(inputs),
          .infer = infer,
          .cost = elementwise_cost,
          .traits = {.elementwise = true, .differentiable = false}};
}
OpDef test(std::string_view name, std::string_view doc) {
  return without_gradient(name, doc, unary_inputs(), infer<Domain::kFloating, Result::kBool>);
}
OpDef logic(std::string_view name, std::string_view doc) {
  return without_gradient(name, doc, binary_inputs(), infer<Domain::kAny, Result::kBool>);
}
OpDef bitwise(std::string_view name, std::string_view doc) {
  return without_gradient(name, doc, binary_inputs(), infer<Domain::kIntegerOrBool>);
}

const OpDef isnan_op = test("isnan", "Whether x is NaN, as bool, elementwise. Floating dtypes.");
const OpDef isinf_op = test("isinf", "Whether x is an infinity, as bool, elementwise. Floating dtypes.");
const OpDef isfinite_op =
    test("isfinite", "Whether x is neither infinite nor NaN, as bool, elementwise. Floating dtypes.");
const OpDef logical_not_op =
    without_gradient("logical_not", "Whether x is 0, as bool, elementwise. Any dtype.", unary_inputs(),
                     infer<Domain::kAny, Result::kBool>);
const OpDef logical_and_op =
    logic("logical_and", "Whether both differ from 0, as bool, elementwise with broadcasting. Any dtype.");
const OpDef logical_or_op =
    logic("logical_or", "Whether either differs from 0, as bool, elementwise with broadcasting. Any dtype.");
const OpDef logical_xor_op = logic(
    "logical_xor", "Whether exactly one differs from 0, as bool, elementwise with broadcasting. Any dtype.");
const OpDef bitwise_and_op = bitwise("bitwise_and", "Bits set in both, elementwise with broadcasting.");
const OpDef bitwise_or_op = bitwise("bitwise_or", "Bits set in either, elementwise with broadcasting.");
const OpDef bitwise_xor_op =
    bitwise("bitwise_xor", "Bits set in exactly one, elementwise with broadcasting.");
const OpDef bitwise_not_op = without_gradient("bitwise_not", "All bits inverted, elementwise. Integers.",
                                              unary_inputs(), infer<Domain::kInteger>);
const OpDef shift_left_op = without_gradient(
    "shift_left", "a * 2^b, wrapping; 0 for b outside the width. Elementwise with broadcasting, integers.",
    binary_inputs(), infer<Domain::kInteger>);
const OpDef shift_right_op = without_gradient("shift_right",
                                              "a / 2^b rounded towards minus infinity; the sign for b "
                                              "outside the width. Elementwise with broadcasting, "
                                              "integers.",
                                              binary_inputs(), infer<Domain::kInteger>);

const OpRegistrar registered[] = {
    OpRegistrar(isnan_op),       OpRegistrar(isinf_op),       OpRegistrar(isfinite_op),
    OpRegistrar(logical_not_op), OpRegistrar(logical_and_op), OpRegistrar(logical_or_op),
    OpRegistrar(logical_xor_op), OpRegistrar(bitwise_and_op), OpRegistrar(bitwise_or_op),
    OpRegistrar(bitwise_xor_op), OpRegistrar(bitwise_not_op), OpRegistrar(shift_left_op),
    OpRegistrar(shift_right_op)};

/// The answer of a test that integers and bools cannot fail or pass.
Tensor everywhere(const Tensor& x, bool answer) {
  return full({DType::kBool, x.device(), x.shape()}, answer ? 1 : 0);
}

/// Operands of one dtype: others become bools, which say all that logic asks.
Tensor apply_logic(const OpDef& op, const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return apply(op, {&a, &b});
  Tensor x = cast(a, DType::kBool);
  Tensor y = cast(b, DType::kBool);
  return apply(op, {&x, &y});
}

}  // namespace

Tensor isnan(const Tensor& x) {
  return is_floating(x.dtype()) ? apply(isnan_op, {&x}) : everywhere(x, false);
}
Tensor isinf(const Tensor& x) {
  return is_floating(x.dtype()) ? apply(isinf_op, {&x}) : everywhere(x, false);
}
Tensor isfinite(const Tensor& x) {
  return is_floating(x.dtype()) ? apply(isfinite_op, {&x}) : everywhere(x, true);
}
Tensor logical_not(const Tensor& x) { return apply(logical_not_op, {&x}); }
Tensor logical_and(const Tensor& a, const Tensor& b) { return apply_logic(logical_and_op, a, b); }
Tensor logical_or(const Tensor& a, const Tensor& b) { return apply_logic(logical_or_op, a, b); }
Tensor logical_xor(const Tensor& a, const Tensor& b) { return apply_logic(logical_xor_op, a, b); }
Tensor bitwise_not(const Tensor& x) {
  return x.dtype() == DType::kBool ? logical_not(x) : apply(bitwise_not_op, {&x});
}
Tensor bitwise_and(const Tensor& a, const Tensor& b) { return apply_promoted(bitwise_and_op, a, b); }
Tensor bitwise_or(const Tensor& a, const Tensor& b) { return apply_promoted(bitwise_or_op, a, b); }
Tensor bitwise_xor(const Tensor& a, const Tensor& b) { return apply_promoted(bitwise_xor_op, a, b); }
Tensor shift_left(const Tensor& a, const Tensor& b) { return apply_promoted(shift_left_op, a, b); }
Tensor shift_right(const Tensor& a, const Tensor& b) { return apply_promoted(shift_right_op, a, b); }

}  // namespace sorus
