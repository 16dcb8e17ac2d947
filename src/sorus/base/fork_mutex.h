#pragma once

#include <mutex>

#include "sorus/base/export.h"

namespace sorus {

/// A mutex that a fork waits for, so that the child, which has the forking thread alone, finds it free and
/// what it guards whole. It must be held briefly and no other ForkMutex taken, made or destroyed meanwhile,
/// since a fork takes them all. Making one costs a lock of the process: objects that come and go often take
/// fork_mutex_of(this). Works with std::lock_guard.
class SORUS_API ForkMutex {
 public:
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  bool try_lock() { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

/// One of a fixed set of such mutexes, chosen by address: for objects that come and go often. Two objects may
/// share one, so a thread may hold but one of them.
[[nodiscard]] SORUS_API ForkMutex& fork_mutex_of(const void* object);

}  // namespace sorus
