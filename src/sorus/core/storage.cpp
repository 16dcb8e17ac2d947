#include "sorus/core/storage.h"

#include <new>

#include "sorus/base/error.h"
#include "sorus/core/allocator.h"

namespace sorus {
namespace {
// The header stands in front of the bytes in one block; its size keeps the bytes aligned.
constexpr size_t kHeader = 64;
static_assert(sizeof(Storage) <= kHeader);
}  // namespace

Ref<Storage> Storage::allocate(size_t bytes) {
  void* block = allocate_bytes(kHeader + bytes);
  auto* s = new (block) Storage;
  s->data_ = static_cast<std::byte*>(block) + kHeader;
  s->bytes_ = bytes;
  return Ref<Storage>(s);
}

Ref<Storage> Storage::external(void* data, size_t bytes, Device device, void* owner, void (*release)(void*)) {
  SORUS_INTERNAL(release, "external storage needs a release function");
  auto* s = new (allocate_bytes(kHeader)) Storage;
  s->data_ = static_cast<std::byte*>(data);
  s->bytes_ = bytes;
  s->device_ = device;
  s->owner_ = owner;
  s->release_ = release;
  return Ref<Storage>(s);
}

void Storage::destroy(Storage* s) {
  size_t block_bytes = s->release_ ? kHeader : kHeader + s->bytes_;
  if (s->release_) s->release_(s->owner_);
  s->~Storage();
  free_bytes(s, block_bytes);
}

}  // namespace sorus
