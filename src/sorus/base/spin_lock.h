#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace sorus {

/// A lock of one byte for a few instructions that neither block nor call anything unknown. Works with
/// std::lock_guard and std::unique_lock.
class SpinLock {
 public:
  void lock() noexcept {
    while (taken_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { taken_.clear(std::memory_order_release); }

 private:
  std::atomic_flag taken_;
};

}  // namespace sorus
