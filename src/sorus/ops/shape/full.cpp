#include <algorithm>
#include <cmath>

#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/elementwise/logic.h"
#include "sorus/ops/shape/attributes.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

TypeList infer_full(const InferContext& c) {
  const auto& a = c.attrs<FullAttrs>();
  return {{a.dtype, {}, Shape(a.shape)}};
}

const OpDef full_op{
    .name = "full",
    .doc = "A tensor of a dtype and shape filled with one number, which is converted to the dtype.",

    .attrs = attrs_def<FullAttrs>(),
    .infer = infer_full,
    .traits = {.differentiable = false}};
const OpRegistrar registered_full{full_op};

TypeList infer_arange(const InferContext& c) {
  const auto& a = c.attrs<ArangeAttrs>();
  return {{a.dtype, {}, Shape{a.count}}};
}

const OpDef arange_op{.name = "arange",
                      .doc = "start, start + step, start + 2 step, ...: `count` numbers of a dtype.",
                      .attrs = attrs_def<ArangeAttrs>(),
                      .infer = infer_arange,
                      .traits = {.differentiable = false}};
const OpRegistrar registered_arange{arange_op};

}  // namespace

Tensor full(const TensorType& type, double value) {
  SORUS_CHECK(type.device == Device{}, NotSupportedError,
              "full: cannot fill on this device: got {}, need the host; copy the tensor there afterwards",
              device_text(type.device));
  return apply(full_op, OperandSpan{}, FullAttrs{type.dtype, type.shape.sizes(), value});
}

Tensor zeros_view(const TensorType& type) {
  return broadcast_to(full({type.dtype, type.device, {}}, 0), type.shape);
}

Tensor arange(double start, double stop, double step, DType dtype) {
  SORUS_CHECK(
      step != 0 && std::isfinite((stop - start) / step), ValueError,
      "arange: range has no end: got start {}, stop {}, step {}, need finite numbers and a step other than 0",
      start, stop, step);
  double steps = std::ceil((stop - start) / step);
  SORUS_CHECK(steps < 0x1p59, ShapeError,
              "arange: result has too many elements: got start {}, stop {}, step {}, need fewer than 2^59",
              start, stop, step);
  auto count = static_cast<int64_t>(std::max(steps, 0.0));
  return apply(arange_op, OperandSpan{}, ArangeAttrs{dtype, start, step, count});
}

namespace {

/// The numbers of linspace in float64.
Tensor even_steps(const Tensor& start, const Tensor& stop, int64_t count, bool endpoint) {
  const Tensor first = cast(start, DType::kFloat64);
  const Tensor last = cast(stop, DType::kFloat64);
  const Shape shape = broadcast_shapes("linspace", first.shape(), last.shape());
  Ints column{count};
  for (int i = 0; i < shape.rank(); ++i) column.push_back(1);
  const Tensor index = reshape(arange(0, static_cast<double>(count), 1, DType::kFloat64), column);
  const auto steps = static_cast<double>(endpoint ? count - 1 : count);
  if (steps <= 0) return index + broadcast_to(first, shape);
  const Tensor even = index * ((last - first) / steps) + first;
  if (!endpoint) return even;
  return where(equal(index, scalar_beside(steps, DType::kFloat64)), last, even);
}

void check_steps(std::string_view op, int64_t count, DType dtype) {
  SORUS_CHECK(count >= 0, ValueError, "{}: count is negative: got {}, need 0 or more", op, count);
  SORUS_CHECK(dtype != DType::kBool, DTypeError, "{}: dtype is not supported: got bool, need numbers", op);
}

}  // namespace

Tensor linspace(const Tensor& start, const Tensor& stop, int64_t count, DType dtype, bool endpoint) {
  check_steps("linspace", count, dtype);
  Tensor numbers = even_steps(start, stop, count, endpoint);
  return cast(is_floating(dtype) ? numbers : floor(numbers), dtype);
}

Tensor logspace(const Tensor& start, const Tensor& stop, int64_t count, double base, DType dtype,
                bool endpoint) {
  const ToldAs told("logspace");
  check_steps("logspace", count, dtype);
  const Tensor exponents = even_steps(start, stop, count, endpoint);
  return cast(pow(scalar_beside(base, DType::kFloat64), exponents), dtype);
}

}  // namespace sorus
