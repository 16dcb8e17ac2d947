#include "sorus/core/generator.h"

#include <mutex>

#include "sorus/base/fork_mutex.h"
#include "sorus/core/parameter.h"

namespace sorus {
namespace {

KeyScope*& key_scope() {
  thread_local KeyScope* scope = nullptr;
  return scope;
}

ForkMutex& seed_mutex() {
  static auto& mutex = *new ForkMutex;
  return mutex;
}

/// Guarded by seed_mutex().
ProcessSeed& seed_of_process() {
  static ProcessSeed seed;
  return seed;
}

/// A block of the counter gives at least two numbers of any dtype.
uint64_t blocks_of(int64_t count) { return static_cast<uint64_t>(count) / 2 + 1; }

}  // namespace

Tensor Generator::key(int64_t count) {
  SORUS_CHECK(count >= 0, ValueError, "random: number of values is negative: got {}, need 0 or more", count);
  KeyScope* scope = key_scope();
  return scope ? scope->key(*this, count) : draw(count);
}

KeyScope::KeyScope(std::vector<Tensor>& keys, KeyUse use) : keys_(keys), use_(use), outer_(key_scope()) {
  key_scope() = this;
}

KeyScope::~KeyScope() { key_scope() = outer_; }

Tensor KeyScope::key(Generator& from, int64_t count) {
  if (use_ == KeyUse::kRepeat) {
    SORUS_CHECK(
        next_ < keys_.size(), ValueError,
        "random: a repeated call draws more often than the first: got more than {} draws, need as many",
        keys_.size());
    return keys_[next_++];
  }
  keys_.push_back(outer_ ? outer_->key(from, count) : from.draw(count));
  return keys_.back();
}

Tensor Generator::draw(int64_t count) {
  uint64_t pair[2];
  {
    std::lock_guard lock(fork_mutex_of(this));
    pair[0] = seed_;
    pair[1] = offset_;
    offset_ += blocks_of(count);
  }
  Tensor key(std::span<const uint64_t>(pair), Shape{2});
  if (HandleLog* log = handle_log()) log->drawn(*this, count, key);
  return key;
}

void Generator::give_back(const Tensor& key, int64_t count) {
  uint64_t pair[2];
  key.copy_to(reinterpret_cast<std::byte*>(pair), DType::kUInt64);
  std::lock_guard lock(fork_mutex_of(this));
  if (seed_ == pair[0] && offset_ == pair[1] + blocks_of(count)) offset_ = pair[1];
}

void Generator::set_seed(uint64_t seed) { set_state({seed, 0}); }

Generator::State Generator::state() const {
  std::lock_guard lock(fork_mutex_of(this));
  return {seed_, offset_};
}

void Generator::set_state(State state) {
  std::lock_guard lock(fork_mutex_of(this));
  seed_ = state.seed;
  offset_ = state.offset;
}

Generator& default_generator() {
  static auto& generator = *new Generator(0);
  return generator;
}

void set_seed(uint64_t seed) {
  default_generator().set_seed(seed);
  std::lock_guard lock(seed_mutex());
  seed_of_process() = {seed, seed_of_process().times + 1};
}

ProcessSeed process_seed() {
  std::lock_guard lock(seed_mutex());
  return seed_of_process();
}

}  // namespace sorus
