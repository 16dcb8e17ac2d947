#include "sorus/base/fork_mutex.h"

#include <pthread.h>

#include <array>
#include <vector>

#include "sorus/base/hash.h"

namespace sorus {
namespace {

/// All such mutexes, locked from before a fork until after it, in parent and child.
struct Registry {
  std::mutex mutex;
  std::vector<ForkMutex*> all;

  static Registry& instance() {
    static auto& registry = *[] {
      pthread_atfork([] { instance().lock(); }, [] { instance().unlock(); }, [] { instance().unlock(); });
      return new Registry;
    }();
    return registry;
  }
  void lock() {
    mutex.lock();
    for (ForkMutex* m : all) m->lock();
  }
  void unlock() {
    for (ForkMutex* m : all) m->unlock();
    mutex.unlock();
  }
};

}  // namespace

ForkMutex::ForkMutex() {
  Registry& registry = Registry::instance();
  std::lock_guard lock(registry.mutex);
  registry.all.push_back(this);
}

ForkMutex::~ForkMutex() {
  Registry& registry = Registry::instance();
  std::lock_guard lock(registry.mutex);
  std::erase(registry.all, this);
}

ForkMutex& fork_mutex_of(const void* object) {
  // A fork takes all mutexes, and the thread sanitizer follows at most 64 locks of a thread.
  static auto& mutexes = *new std::array<ForkMutex, 32>;
  return mutexes[mix_bits(reinterpret_cast<uintptr_t>(object)) % mutexes.size()];
}

namespace {
// They are made when the library is loaded: a fork must not meet a thread that is just making them.
[[maybe_unused]] const ForkMutex& made_early = fork_mutex_of(nullptr);
}  // namespace

}  // namespace sorus
