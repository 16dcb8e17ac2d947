#include "sorus/kernels/cpu/reduce/layout.h"

namespace sorus::cpu {

void ReduceAxes::push(int64_t size, int64_t stride) {
  sizes[rank] = size;
  strides[rank++] = stride;
}

int64_t ReduceAxes::offset(int64_t linear) const {
  int64_t sum = 0;
  for (int axis = rank; axis-- > 0;) {
    sum += linear % sizes[axis] * strides[axis];
    linear /= sizes[axis];
  }
  return sum;
}

ReduceLayout reduce_layout(const Array& x, const Ints& axes, std::string_view op) {
  const Ints list = normalize_axes(op, axes, x.rank());
  struct Group {
    bool is_reduced;
    int64_t size;
  };
  Group groups[kMaxRank];
  int used = 0;
  int next = 0;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool is_reduced = next < list.size() && list[next] == axis;
    if (is_reduced) ++next;
    if (x.size(axis) == 1) continue;
    if (used > 0 && groups[used - 1].is_reduced == is_reduced)
      groups[used - 1].size *= x.size(axis);
    else
      groups[used++] = {is_reduced, x.size(axis)};
  }
  ReduceLayout layout;
  for (int g = 0; g < used; ++g) {
    int64_t stride = 1;
    for (int inner = g + 1; inner < used; ++inner) stride *= groups[inner].size;
    const auto [is_reduced, size] = groups[g];
    if (is_reduced) layout.count *= size;
    if (g + 1 == used) {
      (is_reduced ? layout.run : layout.columns) = size;
    } else if (is_reduced) {
      layout.reduced.push(size, stride);
    } else {
      layout.kept.push(size, stride);
      layout.results *= size;
    }
  }
  return layout;
}

bool reduces_pixels(const Array& x, const Ints& axes, std::string_view op) {
  if (x.rank() < 3) return false;
  const Ints list = normalize_axes(op, axes, x.rank());
  const int first = list.size() == x.rank() - 1 ? 0 : 2;
  return list.size() == x.rank() - (first == 0 ? 1 : 2) && list[0] == first && (first == 2 || list[1] == 2);
}

ReduceLayout pixel_layout(const Array& x, const Ints& axes, std::string_view op) {
  Shape shape;
  Ints moved;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis != 1) shape.push_back(x.size(axis));
  shape.push_back(x.size(1));
  for (int64_t axis : normalize_axes(op, axes, x.rank())) moved.push_back(axis == 0 ? 0 : axis - 1);
  Array turned = x;
  turned.shape = &shape;
  return reduce_layout(turned, moved, op);
}

}  // namespace sorus::cpu
