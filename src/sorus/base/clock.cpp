#include "sorus/base/clock.h"

#include <atomic>
#include <chrono>

namespace sorus {
namespace {

std::atomic<ScopedClock::Read> other_clock{nullptr};

}  // namespace

double monotonic_ns() {
  if (const ScopedClock::Read read = other_clock.load(std::memory_order_relaxed)) return read();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

ScopedClock::ScopedClock(Read read) { other_clock = read; }
ScopedClock::~ScopedClock() { other_clock = nullptr; }

}  // namespace sorus
