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
    .inputs = {},
    .attrs = attrs_def<FullAttrs>(),
    .infer = infer_full,
    .traits = {.differentiable = false}};
const OpRegistrar registered_full{full_op};

}  // namespace

Tensor full(const TensorType& type, double value) {
  SORUS_CHECK(type.device == Device{}, NotSupportedError,
              "full: cannot fill on this device: got {}, need the host; copy the tensor there afterwards",
              device_text(type.device));
  return apply(full_op, OperandSpan{}, FullAttrs{type.dtype, type.shape.sizes(), value});
}

}  // namespace sorus
