#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sorus/base/export.h"
#include "sorus/base/small_vector.h"

namespace sorus {

/// What is known of a step of a bound program before it is decided which steps run at once.
struct StepFacts {
  double ns = 0;          ///< on one thread, estimated
  int64_t new_bytes = 0;  ///< of the buffers that no step before it touches
  bool is_alone = false;  ///< it may throw, has effects, or is run by an engine: nothing runs beside it
  SmallVector<int32_t, 8> reads, writes;  ///< memories by number
};

/// Steps that lie side by side in the program.
struct Stage {
  uint32_t first = 0;
  uint32_t count = 0;
  bool is_parallel =
      false;  ///< its steps are tasks: each waits for those in its mask; otherwise they run in order
};

/// Which steps wait for which. Stages run one after the other.
struct Schedule {
  std::vector<Stage> stages;
  std::vector<uint64_t> before;     ///< by step: those of its stage that have to end first, a bit each
  std::vector<uint64_t> ancestors;  ///< by step: all of its stage that end before it begins
  std::vector<int32_t> places;      ///< by step: its place in time, the same for all of a parallel stage
};

/// Cuts the steps into stages. A step waits for those before it that write what it touches, or touch what it
/// writes. Stages are parallel where threads gain by it, as far as can be told from estimated times.
[[nodiscard]] SORUS_API Schedule make_schedule(std::span<const StepFacts> steps, int threads);

/// While set on this thread, stages are parallel wherever they may be: for tests.
[[nodiscard]] SORUS_API bool& schedules_everything();

}  // namespace sorus
