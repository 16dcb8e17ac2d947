#include "sorus/ops/reduce/detail/rules.h"

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

Tensor expand_reduced(std::string_view op, const Tensor& y, const Shape& x, const Ints& axes) {
  Shape kept = reduced_shape(op, x, axes, true);
  return broadcast_to(y.shape() == kept ? y : reshape(y, kept.sizes()), x);
}

Cost reduce_cost(const InferContext& c) {
  auto count = static_cast<double>(c.shape(0).numel());
  return {.flops = count, .bytes = count * static_cast<double>(dtype_size(c.dtype(0)))};
}

}  // namespace sorus::reduce
