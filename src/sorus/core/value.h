#pragma once

#include <atomic>
#include <cstdint>

#include "sorus/base/small_vector.h"
#include "sorus/core/storage.h"
#include "sorus/core/tensor_type.h"

namespace sorus {

struct Value;

/// Whoever owes a value its bytes: a boundary that follows the program and has not run it yet. Called from
/// any thread.
class SORUS_API PendingSource {
 public:
  virtual ~PendingSource() = default;
  /// Gives `v` its bytes or another source, or throws what the computation threw.
  virtual void materialize(Value& v) = 0;
  /// The pending `v` is being destroyed unread.
  virtual void abandon(Value& v) noexcept = 0;
};

/// Place of a value on a tape: which tape, and its number there.
struct TapeEdge {
  uint64_t tape = 0;
  int32_t id = -1;
};

/// An immutable tensor value: type, dense bytes (storage, strides, offset) or a promise of them, and the
/// places it has in recordings. Never changes once its bytes are there, so views are free and sharing is
/// safe. Any thread may ask for the bytes of a pending value: `source` is let go of after they are in place.
struct SORUS_API Value {
  TensorType type;
  Strides strides;     ///< in elements; meaningless while pending
  int64_t offset = 0;  ///< in elements from the start of the storage
  Ref<Storage> storage;
  std::atomic<PendingSource*> source{nullptr};  ///< set while the value waits for its bytes
  uint64_t id = 0;                              ///< unique in the process, unlike an address
  uint64_t frame = 0;                           ///< boundary call in which the value was made, 0 outside any
  int32_t place = 0;                            ///< its number there
  SmallVector<TapeEdge, 1> edges;               ///< places on the tapes that track it, outermost first

  std::atomic<uint32_t> refs{0};
  [[nodiscard]] static Ref<Value> make(const TensorType& type);
  static void destroy(Value* v);

  /// Makes sure that the bytes are there, for a kernel. Throws what the computation threw.
  void ensure() {
    if (is_pending()) [[unlikely]]
      wait();
  }
  [[nodiscard]] bool is_pending() const { return source.load(std::memory_order_acquire) != nullptr; }
  /// The pending value gets the bytes of `other`, which has the same type. At most one thread at a time.
  void deliver(const Value& other);
  /// As ensure(), for the host program: a recording under way hears of it.
  void read() {
    ensure();
    if (frame != 0) [[unlikely]]
      notify_read();
  }
  /// Called, on the reading thread, when the host reads a value that a boundary made. Set once, by the
  /// compiler.
  using ReadHook = void (*)(Value&);
  static void set_read_hook(ReadHook hook);
  [[nodiscard]] std::byte* bytes() const {
    return storage->data() + offset * static_cast<int64_t>(dtype_size(type.dtype));
  }

 private:
  void wait();
  void notify_read();
};

/// A value with contiguous host storage of its type, contents undefined.
[[nodiscard]] SORUS_API Ref<Value> make_dense(const TensorType& type);

}  // namespace sorus
