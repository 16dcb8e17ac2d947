#include <algorithm>
#include <cmath>

#include "sorus/dispatch/apply.h"
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

}  // namespace sorus
