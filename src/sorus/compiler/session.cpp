#include "sorus/compiler/session.h"

#include <mutex>

#include "sorus/base/error.h"
#include "sorus/base/fork_mutex.h"

namespace sorus {

Session::Id Session::add(Program program) {
  SORUS_CHECK(program.defined(), ValueError,
              "session: there is no program: got an empty one, need one to run");
  std::lock_guard lock(fork_mutex_of(this));
  programs_.emplace(next_, std::move(program));
  return next_++;
}

void Session::remove(Id id) {
  std::map<Id, Program>::node_type dropped;  // destroyed without the lock
  std::lock_guard lock(fork_mutex_of(this));
  dropped = programs_.extract(id);
  SORUS_CHECK(!dropped.empty(), KeyError, "session: program is unknown: got {}, need one that was added", id);
}

std::vector<Session::Id> Session::ids() const {
  std::lock_guard lock(fork_mutex_of(this));
  std::vector<Id> all;
  for (const auto& [id, program] : programs_) all.push_back(id);
  return all;
}

Program Session::find(Id id) const {
  std::lock_guard lock(fork_mutex_of(this));
  auto at = programs_.find(id);
  SORUS_CHECK(at != programs_.end(), KeyError, "session: program is unknown: got {}, need one that was added",
              id);
  return at->second;
}

}  // namespace sorus
