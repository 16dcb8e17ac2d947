#include "sorus/data/config.h"

#include <mutex>

#include "sorus/base/error.h"
#include "sorus/base/fork_mutex.h"
#include "sorus/core/generator.h"

namespace sorus::data {
namespace {

ForkMutex& mutex = *new ForkMutex;
Config current;
uint64_t seeds_seen = 0;  // calls of sorus::set_seed that `current` knows of

}  // namespace

Config config() {
  const ProcessSeed process = process_seed();
  std::lock_guard lock(mutex);
  // The process's seed is that of pipelines too: of set_seed and set_config, what was called last holds.
  if (process.times > seeds_seen) {
    current.seed = static_cast<uint32_t>(process.seed);
    seeds_seen = process.times;
  }
  return current;
}

void set_config(const Config& config) {
  SORUS_CHECK(config.prefetch_size >= 1, ValueError,
              "dataset.config: prefetch_size is out of range: got {}, need 1 or more", config.prefetch_size);
  SORUS_CHECK(config.num_parallel_workers >= 1, ValueError,
              "dataset.config: num_parallel_workers is out of range: got {}, need 1 or more",
              config.num_parallel_workers);
  SORUS_CHECK(config.queue_bytes >= 1, ValueError,
              "dataset.config: queue_bytes is out of range: got {}, need 1 or more", config.queue_bytes);
  SORUS_CHECK(config.callback_timeout >= 1, ValueError,
              "dataset.config: callback_timeout is out of range: got {}, need 1 or more",
              config.callback_timeout);
  const ProcessSeed process = process_seed();
  std::lock_guard lock(mutex);
  current = config;
  seeds_seen = process.times;
}

}  // namespace sorus::data
