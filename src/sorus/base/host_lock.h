#pragma once

#include "sorus/base/export.h"

/// What the library must know of the lock of a host language's interpreter (Python's), which threads that run
/// host code hold. Without a host the functions here work with a mutex of the library.
namespace sorus {

struct HostLockHooks {
  /// Takes the host's lock, which this thread may hold already, and gives it back.
  void* (*take)() = nullptr;
  void (*give)(void* taken) = nullptr;
};
/// Set once, by the binding of the host language.
SORUS_API void set_host_lock_hooks(const HostLockHooks& hooks);

/// While it lives no host code runs on another thread, and no other thread has a HostLock: for looking at, or
/// changing, several handles at once from a thread that runs no host code. Hold it briefly and wait for
/// nothing meanwhile. A thread may hold several.
class SORUS_API HostLock {
 public:
  HostLock();
  ~HostLock();
  HostLock(const HostLock&) = delete;
  HostLock& operator=(const HostLock&) = delete;

 private:
  void* taken_ = nullptr;
};

}  // namespace sorus
