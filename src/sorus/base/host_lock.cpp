#include "sorus/base/host_lock.h"

#include <mutex>

namespace sorus {
namespace {

HostLockHooks hooks;

std::recursive_mutex& own_lock() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

}  // namespace

void set_host_lock_hooks(const HostLockHooks& h) { hooks = h; }

HostLock::HostLock() {
  if (hooks.take)
    taken_ = hooks.take();
  else
    own_lock().lock();
}

HostLock::~HostLock() {
  if (hooks.give)
    hooks.give(taken_);
  else
    own_lock().unlock();
}

}  // namespace sorus
