#pragma once

#include "sorus/base/export.h"

/// The clock by which work is judged.
namespace sorus {

/// Nanoseconds since some moment; never goes back.
[[nodiscard]] SORUS_API double monotonic_ns();

/// Another clock for all threads while this lives, so that tests of what follows from times need none. One at
/// a time.
class SORUS_API ScopedClock {
 public:
  using Read = double (*)();
  explicit ScopedClock(Read read);
  ~ScopedClock();
  ScopedClock(const ScopedClock&) = delete;
  ScopedClock& operator=(const ScopedClock&) = delete;
};

}  // namespace sorus
