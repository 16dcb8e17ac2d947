#include "sorus/core/device.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "sorus/base/fork_mutex.h"

namespace sorus {
namespace {
struct Kinds {
  ForkMutex mutex;
  std::vector<std::string> names{"host"};
};
Kinds& kinds() {
  static auto& instance = *new Kinds;
  return instance;
}
}  // namespace

int16_t register_device_kind(std::string_view name) {
  std::lock_guard lock(kinds().mutex);
  auto& names = kinds().names;
  auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) at = names.insert(names.end(), std::string(name));
  return static_cast<int16_t>(at - names.begin());
}

std::string device_text(Device device) {
  std::lock_guard lock(kinds().mutex);
  return kinds().names[static_cast<size_t>(device.kind)] + ":" + std::to_string(device.index);
}

}  // namespace sorus
