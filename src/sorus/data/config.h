#pragma once

#include <cstdint>

#include "sorus/base/export.h"

/// Settings of the data engine for the process, as MindSpore's dataset.config has them. Thread-safe.
namespace sorus::data {

/// The seed that stands for "none": each run then draws its own.
inline constexpr uint32_t kNoSeed = 5489;

struct Config {
  uint32_t seed = kNoSeed;           ///< that of sorus::set_seed, if it was called later than set_config
  int64_t prefetch_size = 16;        ///< rows of the last stage that wait at most, unless they are small
  int64_t num_parallel_workers = 8;  ///< kept for programs that ask; the engine has one budget of workers
  int64_t queue_bytes = 64LL << 20;  ///< bytes that wait for the reader at most
  int64_t callback_timeout = 60;     ///< seconds that a reader waits for a closed gate
  bool opens_late_gates = false;     ///< a gate that is late opens for good, instead of an error
};
[[nodiscard]] SORUS_API Config config();  ///< the settings as they are now
/// Sets all of them; change what config() gives to keep the others. Throws ValueError when a field is out of
/// range.
SORUS_API void set_config(const Config& config);

}  // namespace sorus::data
