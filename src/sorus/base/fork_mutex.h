#pragma once

#include <mutex>

#include "sorus/base/export.h"

namespace sorus {

/// A mutex of the process, for objects that are never destroyed: a fork waits until it is free, so that the
/// child, which has the forking thread alone, finds it free and what it guards whole. It must be held briefly
/// and no other ForkMutex taken meanwhile, since a fork takes them all. Works with std::lock_guard.
class SORUS_API ForkMutex {
 public:
  ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  bool try_lock() { return mutex_.try_lock(); }

 private:
  std::mutex mutex_;
};

/// One of a fixed set of such mutexes, chosen by address: for objects that come and go. Two objects may share
/// one, so a thread may hold but one of them.
[[nodiscard]] SORUS_API ForkMutex& fork_mutex_of(const void* object);

}  // namespace sorus
