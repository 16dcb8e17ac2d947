#include "binding/indexing.h"

namespace sorus::python {

Tensor row_of(const Tensor& t, int64_t i) {
  const Value& v = t.ready();
  TensorType type{v.type.dtype, v.type.device, Shape(v.type.shape.dims().subspan(1))};
  Ref<Value> row = Value::make(type);
  for (int axis = 1; axis < v.type.shape.rank(); ++axis) row->strides[axis - 1] = v.strides[axis];
  row->offset = v.offset + i * v.strides[0];
  row->storage = v.storage;
  return Tensor(std::move(row));
}

Tensor get_item(const Tensor& t, PyObject*) { return row_of(t, 0); }
Tensor set_item(const Tensor& t, PyObject*, PyObject*) { return t; }

}  // namespace sorus::python
