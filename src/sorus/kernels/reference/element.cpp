#include "sorus/kernels/reference/element.h"

namespace sorus::reference {

void for_each_element(const KernelCall& call, ElementFunction f) {
  const Array& out = call.out[0];
  const Shape& shape = *out.shape;
  constexpr size_t kMaxOperands = 4;
  const size_t count = call.in.size();
  SORUS_INTERNAL(count <= kMaxOperands, "{}: too many operands for an elementwise loop", call.op.name);
  // Byte steps along each axis of the result; an operand stands still along the axes it is broadcast over.
  int64_t steps[kMaxOperands + 1][kMaxRank] = {};
  const std::byte* at[kMaxOperands] = {};
  for (size_t i = 0; i < count; ++i) {
    const Array& a = call.in[i];
    at[i] = a.data;
    int lead = shape.rank() - a.rank();
    for (int axis = 0; axis < a.rank(); ++axis)
      if (a.size(axis) != 1)
        steps[i][lead + axis] = a.strides[axis] * static_cast<int64_t>(dtype_size(a.dtype));
  }
  for (int axis = 0; axis < shape.rank(); ++axis)
    steps[kMaxOperands][axis] = out.strides[axis] * static_cast<int64_t>(dtype_size(out.dtype));
  std::byte* to = out.data;
  int64_t index[kMaxRank] = {};
  for (int64_t left = shape.numel(); left > 0; --left) {
    f(to, at, static_cast<const double*>(call.attributes));
    for (int axis = shape.rank(); axis-- > 0;) {
      const int64_t back = ++index[axis] < shape.size(axis) ? -1 : index[axis] - 1;
      for (size_t i = 0; i < count; ++i) at[i] -= back * steps[i][axis];
      to -= back * steps[kMaxOperands][axis];
      if (back < 0) break;
      index[axis] = 0;
    }
  }
}

}  // namespace sorus::reference
