#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace sorus {

/// Owning pointer to an object that counts its own references: T has `std::atomic<uint32_t> refs` starting at
/// 0 and a static `destroy(T*)`. Copies may be made and dropped on any thread.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}  // NOLINT: null is a Ref
  explicit Ref(T* p) : p_(p) { acquire(); }
  Ref(const Ref& o) : p_(o.p_) { acquire(); }
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(const Ref& o) {
    Ref copy(o);
    std::swap(p_, copy.p_);
    return *this;
  }
  Ref& operator=(Ref&& o) noexcept {
    if (this != &o) {
      T* old = std::exchange(p_, std::exchange(o.p_, nullptr));
      release(old);
    }
    return *this;
  }
  ~Ref() { release(p_); }

  [[nodiscard]] T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.p_ == b.p_; }
  /// True when this is the only reference. Only the owner may draw conclusions from it.
  [[nodiscard]] bool unique() const { return p_ && p_->refs.load(std::memory_order_acquire) == 1; }
  void reset() { release(std::exchange(p_, nullptr)); }

 private:
  void acquire() {
    if (p_) p_->refs.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(T* p) {
    if (p && p->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) T::destroy(p);
  }
  T* p_ = nullptr;
};

}  // namespace sorus
