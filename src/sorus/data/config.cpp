#include "sorus/data/config.h"

#include <mutex>

#include "sorus/base/error.h"
#include "sorus/base/fork_mutex.h"

namespace sorus::data {
namespace {

ForkMutex& mutex = *new ForkMutex;
Config current;

}  // namespace

Config config() {
  std::lock_guard lock(mutex);
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
  std::lock_guard lock(mutex);
  current = config;
}

}  // namespace sorus::data
