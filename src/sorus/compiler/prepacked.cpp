#include "sorus/compiler/prepacked.h"

#include <atomic>
#include <mutex>
#include <new>

#include "sorus/base/error.h"
#include "sorus/base/flags.h"
#include "sorus/base/fork_mutex.h"

namespace sorus {
namespace {

std::atomic<int64_t>& kept_bytes() {
  static std::atomic<int64_t> bytes{0};
  return bytes;
}

/// False where all copies together would take too much.
bool reserve(size_t bytes) {
  static const int64_t most = env_int("SORUS_PREPACK_MB", 1024) << 20;
  const auto more = static_cast<int64_t>(bytes);
  if (kept_bytes().fetch_add(more) + more <= most) return true;
  kept_bytes().fetch_sub(more);
  return false;
}
void release(size_t bytes) { kept_bytes().fetch_sub(static_cast<int64_t>(bytes)); }

}  // namespace

PrepackedOperands::~PrepackedOperands() {
  for (const Operand& o : operands_)
    if (o.copy) release(o.bytes);
}

int32_t PrepackedOperands::add(size_t bytes) {
  operands_.push_back({bytes, 0, nullptr});
  return static_cast<int32_t>(operands_.size()) - 1;
}

Ref<Storage> PrepackedOperands::find(int32_t operand, uint64_t id, Ref<Storage>* memory) {
  Operand& o = operands_[static_cast<size_t>(operand)];
  if (o.bytes == 0) return nullptr;
  Ref<Storage> dropped;  // destroyed without the lock
  {
    std::lock_guard lock(fork_mutex_of(this));
    if (o.id == id && o.copy) return o.copy;
    if (o.id != id) {
      o.id = id;
      if (o.copy) release(o.bytes);
      dropped = std::move(o.copy);
      o.copy = nullptr;
      return nullptr;
    }
  }
  if (!reserve(o.bytes)) return nullptr;
  try {
    *memory = Storage::allocate(o.bytes);
  } catch (const MemoryError&) {
    release(o.bytes);  // it runs without
  }
  return nullptr;
}

/// Two threads may make a copy at once; the first to come is kept.
void PrepackedOperands::keep(int32_t operand, uint64_t id, Ref<Storage> copy) {
  Operand& o = operands_[static_cast<size_t>(operand)];
  std::lock_guard lock(fork_mutex_of(this));
  if (o.id == id && !o.copy)
    o.copy = std::move(copy);
  else
    release(o.bytes);
}

}  // namespace sorus
