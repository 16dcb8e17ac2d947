#include "sorus/core/value.h"

#include <new>

#include "sorus/core/allocator.h"

namespace sorus {

Ref<Value> Value::make(const TensorType& type) {
  auto* v = new (allocate_bytes(sizeof(Value))) Value;
  v->type = type;
  return Ref<Value>(v);
}

void Value::destroy(Value* v) {
  if (v->source) v->source->abandon(*v);
  v->~Value();
  free_bytes(v, sizeof(Value));
}

Ref<Value> make_dense(const TensorType& type) {
  Ref<Value> v = Value::make(type);
  v->strides = Strides::contiguous(type.shape);
  v->storage = Storage::allocate(static_cast<size_t>(type.shape.numel()) * dtype_size(type.dtype));
  return v;
}

}  // namespace sorus
