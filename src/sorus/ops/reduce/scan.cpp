#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/reduce/attributes.h"
#include "sorus/ops/reduce/detail/rules.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

// Running sums, products and extremes.
namespace sorus {
namespace {

using namespace reduce;

TypeList infer_scan(const InferContext& c) {
  SORUS_CHECK(c.dtype(0) != DType::kBool, DTypeError, "{}: dtype is not supported: got bool, need a number",
              c.name());
  (void)normalize_axis(c.name(), c.attrs<ScanAttrs>().axis, c.shape(0).rank());
  return {c.in(0)};
}

void cumsum_vjp(VjpContext& c) {
  const auto& a = c.attrs<ScanAttrs>();
  c.set(0, cumsum(c.grad(), a.axis, a.exclusive, !a.reverse));
}
const OpDef cumsum_op{
    .name = "cumsum",
    .doc =
        "Running sum along an axis, added in order. Any number; integers wrap, 16-bit floats "
        "accumulate in float32.",
    .inputs = {{"x"}},
    .attrs = attrs_def<ScanAttrs>(),
    .infer = infer_scan,
    .vjp = cumsum_vjp,
    .cost = reduce_cost};

void cumprod_vjp(VjpContext& c) {
  const auto& a = c.attrs<ScanAttrs>();
  c.set(0, cumsum(c.grad() * c.out(), a.axis, a.exclusive, !a.reverse) / c.in(0));
}
const OpDef cumprod_op{
    .name = "cumprod",
    .doc =
        "Running product along an axis, multiplied in order. Any number; integers wrap, 16-bit "
        "floats accumulate in float32. The gradient divides by x.",
    .inputs = {{"x"}},
    .attrs = attrs_def<ScanAttrs>(),
    .infer = infer_scan,
    .vjp = cumprod_vjp,
    .saves_in = saves({0}),
    .saves_out = saves({0}),
    .cost = reduce_cost};

TypeList infer_running(const InferContext& c) {
  (void)normalize_axis(c.name(), c.attrs<CumulativeAttrs>().axis, c.shape(0).rank());
  return {c.in(0), {DType::kInt64, c.in(0).device, c.shape(0)}};
}
void running_vjp(VjpContext& c) {
  if (!c.grad(0).defined()) return;
  c.set(0, scatter_elements(full(c.in_type(0), 0), c.out(1), c.grad(0), c.attrs<CumulativeAttrs>().axis,
                            ScatterMode::kAdd));
}
OpDef running(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"x"}},
          .attrs = attrs_def<CumulativeAttrs>(),
          .infer = infer_running,
          .vjp = running_vjp,
          .saves_out = saves({1}),
          .cost = reduce_cost};
}
const OpDef cummax_op = running("cummax",
                                "Greatest element so far along an axis, and the index (int64) of its last "
                                "occurrence. Any dtype; from a NaN on NaN.");
const OpDef cummin_op = running("cummin",
                                "Least element so far along an axis, and the index (int64) of its last "
                                "occurrence. Any dtype; from a NaN on NaN.");

const OpRegistrar registered[] = {OpRegistrar(cumsum_op), OpRegistrar(cumprod_op), OpRegistrar(cummax_op),
                                  OpRegistrar(cummin_op)};

ValuesAndIndices pair_of(TensorList list) { return {std::move(list[0]), std::move(list[1])}; }

}  // namespace

Tensor cumsum(const Tensor& x, int64_t axis, bool exclusive, bool reverse) {
  Tensor numbers = as_number(x);
  return apply(cumsum_op, {&numbers}, ScanAttrs{axis, exclusive, reverse});
}
Tensor cumprod(const Tensor& x, int64_t axis, bool exclusive, bool reverse) {
  Tensor numbers = as_number(x);
  return apply(cumprod_op, {&numbers}, ScanAttrs{axis, exclusive, reverse});
}
ValuesAndIndices cummax(const Tensor& x, int64_t axis) {
  return pair_of(apply_all(cummax_op, {&x}, CumulativeAttrs{axis}));
}
ValuesAndIndices cummin(const Tensor& x, int64_t axis) {
  return pair_of(apply_all(cummin_op, {&x}, CumulativeAttrs{axis}));
}

}  // namespace sorus
