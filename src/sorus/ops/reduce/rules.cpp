#include "sorus/ops/reduce/detail/rules.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/reduce/attributes.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::reduce {

Shape reduced_shape(std::string_view op, const Shape& x, const Ints& axes, bool keepdims) {
  Ints reduced = normalize_axes(op, axes, x.rank());
  Shape out;
  int next = 0;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool is_reduced = next < reduced.size() && reduced[next] == axis;
    if (is_reduced) ++next;
    if (!is_reduced)
      out.push_back(x[axis]);
    else if (keepdims)
      out.push_back(1);
  }
  return out;
}

Tensor keep_reduced(std::string_view op, const Tensor& y, const Shape& x, const Ints& axes) {
  Shape kept = reduced_shape(op, x, axes, true);
  return y.shape() == kept ? y : reshape(y, kept.sizes());
}

Tensor expand_reduced(std::string_view op, const Tensor& y, const Shape& x, const Ints& axes) {
  return broadcast_to(keep_reduced(op, y, x, axes), x);
}

int64_t reduced_count(std::string_view op, const Shape& x, const Ints& axes) {
  int64_t count = 1;
  for (int64_t axis : normalize_axes(op, axes, x.rank())) count *= x.size(static_cast<int>(axis));
  return count;
}

TypeList infer_reduce(const InferContext& c) {
  SORUS_CHECK(c.dtype(0) != DType::kBool, DTypeError, "{}: dtype is not supported: got bool, need a number",
              c.name());
  const auto& a = c.attrs<ReduceAttrs>();
  return {{c.dtype(0), c.in(0).device, reduced_shape(c.name(), c.shape(0), a.axes, a.keepdims)}};
}

Cost reduce_cost(const InferContext& c) {
  auto count = static_cast<double>(c.shape(0).numel());
  return {.flops = count, .bytes = count * static_cast<double>(dtype_size(c.dtype(0)))};
}

Tensor as_number(const Tensor& x) { return x.dtype() == DType::kBool ? cast(x, DType::kInt64) : x; }

}  // namespace sorus::reduce
