#include "sorus/compiler/kept_results.h"

#include <mutex>

#include "sorus/base/fork_mutex.h"

namespace sorus {

int32_t KeptResults::add() {
  steps_.emplace_back();
  return static_cast<int32_t>(steps_.size()) - 1;
}

Ref<Storage> KeptResults::find(int32_t step, const Key& key) {
  std::lock_guard lock(fork_mutex_of(this));
  const Step& s = steps_[static_cast<size_t>(step)];
  return s.results && s.key == key ? s.results : nullptr;
}

void KeptResults::keep(int32_t step, Key key, Ref<Storage> results) {
  Step& s = steps_[static_cast<size_t>(step)];
  std::lock_guard lock(fork_mutex_of(this));
  std::swap(s.key, key);
  std::swap(s.results, results);  // the old ones are destroyed without the lock
}

}  // namespace sorus
