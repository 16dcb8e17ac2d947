#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/detail/rules.h"
#include "sorus/ops/elementwise/elementwise.h"

namespace sorus {
namespace {

using namespace elementwise;

OpDef comparison(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .inputs = binary_inputs(),
          .infer = infer<Domain::kAny, Result::kBool>,
          .cost = elementwise_cost,
          .traits = {.elementwise = true, .differentiable = false}};
}

const OpDef equal_op =
    comparison("equal", "a == b as bool, elementwise with broadcasting. NaN equals nothing.");
const OpDef not_equal_op =
    comparison("not_equal", "a != b as bool, elementwise with broadcasting. NaN differs from everything.");
const OpDef less_op = comparison("less", "a < b as bool, elementwise with broadcasting. False for NaN.");
const OpDef less_equal_op =
    comparison("less_equal", "a <= b as bool, elementwise with broadcasting. False for NaN.");
const OpDef greater_op =
    comparison("greater", "a > b as bool, elementwise with broadcasting. False for NaN.");
const OpDef greater_equal_op =
    comparison("greater_equal", "a >= b as bool, elementwise with broadcasting. False for NaN.");

const OpRegistrar registered[] = {OpRegistrar(equal_op),   OpRegistrar(not_equal_op),
                                  OpRegistrar(less_op),    OpRegistrar(less_equal_op),
                                  OpRegistrar(greater_op), OpRegistrar(greater_equal_op)};

}  // namespace

Tensor equal(const Tensor& a, const Tensor& b) { return apply_promoted(equal_op, a, b); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return apply_promoted(not_equal_op, a, b); }
Tensor less(const Tensor& a, const Tensor& b) { return apply_promoted(less_op, a, b); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return apply_promoted(less_equal_op, a, b); }
Tensor greater(const Tensor& a, const Tensor& b) { return apply_promoted(greater_op, a, b); }
Tensor greater_equal(const Tensor& a, const Tensor& b) { return apply_promoted(greater_equal_op, a, b); }

}  // namespace sorus
