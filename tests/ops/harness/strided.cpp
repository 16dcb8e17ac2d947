#include "tests/ops/harness/strided.h"

#include <cstring>

namespace sorus::samples {
namespace {

/// A value of that type over fresh storage of `extent` elements that are all ones as bits, so that a kernel
/// that reads a gap is noticed.
Tensor fresh(const TensorType& type, const Strides& strides, int64_t offset, int64_t extent) {
  Ref<Value> v = Value::make(type);
  v->strides = strides;
  v->offset = offset;
  const size_t bytes = static_cast<size_t>(extent) * dtype_size(type.dtype);
  v->storage = Storage::allocate(bytes);
  if (bytes > 0) std::memset(v->storage->data(), type.dtype == DType::kBool ? 1 : 0xff, bytes);
  return Tensor(std::move(v));
}

Tensor fill(Tensor target, const Tensor& dense) {
  const Value& from = dense.ready();
  Value& to = *target.value();
  copy_strided(from.bytes(), from.strides, to.bytes(), to.strides, from.type.shape,
               dtype_size(from.type.dtype));
  return target;
}

Tensor reverse_axes(const Tensor& dense) {
  const Shape& shape = dense.shape();
  if (shape.rank() < 2) return {};
  Ints order;
  for (int axis = shape.rank(); axis-- > 0;) order.push_back(axis);
  return fill(fresh(dense.type(), Strides::dense(shape, order), 0, shape.numel()), dense);
}

Tensor run_backwards(const Tensor& dense) {
  const Shape& shape = dense.shape();
  if (shape.rank() < 1 || shape.numel() == 0) return {};
  Strides strides = Strides::contiguous(shape);
  int64_t offset = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    offset += (shape.size(axis) - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return fill(fresh(dense.type(), strides, offset, shape.numel()), dense);
}

Tensor channels_last(const Tensor& dense) {
  const Shape& shape = dense.shape();
  if (shape.rank() < 3) return {};
  return fill(fresh(dense.type(), Strides::channels_last(shape), 0, shape.numel()), dense);
}

Tensor with_gaps(const Tensor& dense) {
  const Shape& shape = dense.shape();
  if (shape.rank() < 1) return {};
  Strides strides;
  int64_t step = 3;
  for (int axis = shape.rank(); axis-- > 0;) {
    strides[axis] = step;
    step *= shape.size(axis) + 1;
  }
  return fill(fresh(dense.type(), strides, 2, step + 2), dense);
}

}  // namespace

const std::vector<StrideKind>& stride_kinds() {
  static const std::vector<StrideKind> kinds = {{"reverse_axes", reverse_axes},
                                                {"run_backwards", run_backwards},
                                                {"channels_last", channels_last},
                                                {"with_gaps", with_gaps}};
  return kinds;
}

Tensor repeat_first(const Tensor& dense) {
  const Shape& shape = dense.shape();
  int axis = shape.rank() - 1;
  while (axis >= 0 && shape.size(axis) <= 1) --axis;
  if (axis < 0 || shape.numel() == 0) return {};
  Ref<Value> v = Value::make(dense.type());
  v->strides = Strides::contiguous(shape);
  v->strides[axis] = 0;
  v->storage = dense.ready().storage;
  v->offset = dense.ready().offset;
  return Tensor(std::move(v));
}

Tensor dense_copy(const Tensor& t) { return fill(Tensor(make_dense(t.type())), t); }

}  // namespace sorus::samples
