#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sorus/base/export.h"
#include "sorus/core/device.h"
#include "sorus/core/ref.h"

namespace sorus {

/// Reference-counted bytes on one device: written once by whoever made them, read-only afterwards. External
/// storage (NumPy, DLPack) belongs to somebody else, may change behind our back, and is never donated, folded
/// or saved without a copy. Thread-safe as read-only data is.
class SORUS_API Storage {
 public:
  /// Fresh host bytes, aligned to 64, contents undefined. Throws MemoryError.
  static Ref<Storage> allocate(size_t bytes);
  /// Bytes that somebody else owns; `release(owner)` is called once when the last reference goes.
  static Ref<Storage> external(void* data, size_t bytes, Device device, void* owner, void (*release)(void*));

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] size_t bytes() const { return bytes_; }
  [[nodiscard]] Device device() const { return device_; }
  [[nodiscard]] bool is_external() const { return release_ != nullptr; }
  /// Once exported (DLPack, np.asarray) others may look at the bytes: they are never written again.
  void mark_exported() { exported_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool may_be_donated() const {
    return !is_external() && !exported_.load(std::memory_order_relaxed);
  }

  std::atomic<uint32_t> refs{0};
  static void destroy(Storage* s);

 private:
  Storage() = default;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
  Device device_;
  std::atomic<bool> exported_{false};
  void* owner_ = nullptr;
  void (*release_)(void*) = nullptr;
};

}  // namespace sorus
