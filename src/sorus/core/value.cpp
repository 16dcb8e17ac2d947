#include "sorus/core/value.h"

#include <new>

#include "sorus/core/allocator.h"

namespace sorus {

namespace {

/// Numbers are taken from a shared counter a block at a time, so that making a value touches no shared
/// memory.
uint64_t next_id() {
  constexpr uint64_t kBlock = uint64_t{1} << 20;
  static std::atomic<uint64_t> blocks{0};
  thread_local uint64_t next = 0;
  if (next % kBlock == 0) next = blocks.fetch_add(1, std::memory_order_relaxed) * kBlock + 1;
  return next++;
}

Value::ReadHook read_hook = nullptr;

}  // namespace

void Value::set_read_hook(ReadHook hook) { read_hook = hook; }

void Value::wait() {
  while (PendingSource* owed_by = source.load(std::memory_order_acquire)) owed_by->materialize(*this);
}

void Value::deliver(const Value& other) {
  storage = other.storage;
  strides = other.strides;
  offset = other.offset;
  source.store(nullptr, std::memory_order_release);
}

void Value::notify_read() {
  if (read_hook) read_hook(*this);
}

Ref<Value> Value::make(const TensorType& type) {
  auto* v = new (allocate_bytes(sizeof(Value))) Value;
  v->type = type;
  v->id = next_id();
  return Ref<Value>(v);
}

void Value::destroy(Value* v) {
  if (PendingSource* owed_by = v->source.load(std::memory_order_acquire)) owed_by->abandon(*v);
  v->~Value();
  free_bytes(v, sizeof(Value));
}

Ref<Value> make_dense(const TensorType& type) {
  SORUS_CHECK(type.shape.numel() < int64_t{1} << 59, ShapeError,
              "tensor: has too many elements: got shape {}, need fewer than 2^59", type.shape);
  Ref<Value> v = Value::make(type);
  v->strides = Strides::contiguous(type.shape);
  v->storage = Storage::allocate(static_cast<size_t>(type.shape.numel()) * dtype_size(type.dtype));
  return v;
}

}  // namespace sorus
