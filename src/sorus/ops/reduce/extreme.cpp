#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/reduce/attributes.h"
#include "sorus/ops/reduce/detail/rules.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

// Greatest and least elements, and where they are.
namespace sorus {
namespace {

using namespace reduce;

TypeList infer_extreme(const InferContext& c) {
  const auto& a = c.attrs<ReduceAttrs>();
  const Shape& x = c.shape(0);
  for (int64_t axis : normalize_axes(c.name(), a.axes, x.rank()))
    SORUS_CHECK(!(x[static_cast<int>(axis)] == Dim(0)), ValueError,
                "{}: nothing to choose from: got extent 0 on axis {}, need at least 1", c.name(), axis);
  return {{c.dtype(0), c.in(0).device, reduced_shape(c.name(), x, a.axes, a.keepdims)}};
}

void extreme_vjp(VjpContext& c) {
  const auto& axes = c.attrs<ReduceAttrs>().axes;
  const Tensor& x = c.in(0);
  Tensor chosen = cast(equal(x, keep_reduced("amax", c.out(), x.shape(), axes)), c.grad().dtype());
  Tensor share = keep_reduced("amax", c.grad(), x.shape(), axes) / sum(chosen, axes, true);
  c.set(0, chosen * share);
}

OpDef extreme(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"x"}},
          .attrs = attrs_def<ReduceAttrs>(),
          .infer = infer_extreme,
          .vjp = extreme_vjp,
          .saves_in = saves({0}),
          .saves_out = saves({0}),
          .cost = reduce_cost};
}
const OpDef amax_op = extreme("amax",
                              "Greatest element over the given axes; NaN if there is one. Any dtype. Equal "
                              "elements share the gradient equally. "
                              "Throws ValueError for a reduction of nothing.");
const OpDef amin_op = extreme("amin",
                              "Least element over the given axes; NaN if there is one. Any dtype. Equal "
                              "elements share the gradient equally. "
                              "Throws ValueError for a reduction of nothing.");

TypeList infer_arg(const InferContext& c) {
  const auto& a = c.attrs<ArgAttrs>();
  const Shape& x = c.shape(0);
  const int axis = normalize_axis(c.name(), a.axis, x.rank());
  SORUS_CHECK(!(x[axis] == Dim(0)), ValueError,
              "{}: nothing to choose from: got extent 0 on axis {}, need at least 1", c.name(), axis);
  return {{DType::kInt64, c.in(0).device, reduced_shape(c.name(), x, {axis}, a.keepdims)}};
}
OpDef arg(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"x"}},
          .attrs = attrs_def<ArgAttrs>(),
          .infer = infer_arg,
          .cost = reduce_cost,
          .traits = {.differentiable = false}};
}
const OpDef argmax_op =
    arg("argmax",
        "Index (int64) of the first of the greatest elements along an axis, or of the first NaN. "
        "Any dtype. Throws ValueError for extent 0.");
const OpDef argmin_op =
    arg("argmin",
        "Index (int64) of the first of the least elements along an axis, or of the first NaN. Any "
        "dtype. Throws ValueError for extent 0.");

const OpRegistrar registered[] = {OpRegistrar(amax_op), OpRegistrar(amin_op), OpRegistrar(argmax_op),
                                  OpRegistrar(argmin_op)};

/// any and all are the greatest and the least of bools, but for nothing, of which they are `of_nothing`.
Tensor truth(const OpDef& op, std::string_view name, const Tensor& x, const Ints& axes, bool keepdims,
             bool of_nothing) {
  if (reduced_count(name, x.shape(), axes) == 0)
    return full({DType::kBool, x.device(), reduced_shape(name, x.shape(), axes, keepdims)},
                of_nothing ? 1 : 0);
  Tensor bools = cast(x, DType::kBool);
  return apply(op, {&bools}, ReduceAttrs{axes, keepdims});
}

ValuesAndIndices with_index(const OpDef& op, const Tensor& x, int64_t axis, bool keepdims) {
  Tensor kept = apply(op, {&x}, ArgAttrs{axis, true});
  Tensor values = gather_elements(x, kept, axis);
  if (keepdims) return {values, kept};
  const Ints axes{normalize_axis(op.name, axis, x.rank())};
  return {squeeze(values, axes), squeeze(kept, axes)};
}

}  // namespace

Tensor amax(const Tensor& x, const Ints& axes, bool keepdims) {
  return apply(amax_op, {&x}, ReduceAttrs{axes, keepdims});
}
Tensor amin(const Tensor& x, const Ints& axes, bool keepdims) {
  return apply(amin_op, {&x}, ReduceAttrs{axes, keepdims});
}
Tensor any(const Tensor& x, const Ints& axes, bool keepdims) {
  return truth(amax_op, "any", x, axes, keepdims, false);
}
Tensor all(const Tensor& x, const Ints& axes, bool keepdims) {
  return truth(amin_op, "all", x, axes, keepdims, true);
}
Tensor argmax(const Tensor& x, int64_t axis, bool keepdims) {
  return apply(argmax_op, {&x}, ArgAttrs{axis, keepdims});
}
Tensor argmin(const Tensor& x, int64_t axis, bool keepdims) {
  return apply(argmin_op, {&x}, ArgAttrs{axis, keepdims});
}
ValuesAndIndices max_with_index(const Tensor& x, int64_t axis, bool keepdims) {
  const ToldAs told("max_with_index");
  return with_index(argmax_op, x, axis, keepdims);
}
ValuesAndIndices min_with_index(const Tensor& x, int64_t axis, bool keepdims) {
  const ToldAs told("min_with_index");
  return with_index(argmin_op, x, axis, keepdims);
}

}  // namespace sorus
