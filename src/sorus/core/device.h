#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sorus/base/export.h"

namespace sorus {

/// Where bytes live: a kind that a room has registered by name, and a number within the kind. Kind 0 is the
/// host.
struct Device {
  int16_t kind = 0;
  int16_t index = 0;
  friend bool operator==(const Device&, const Device&) = default;
};

/// Registers a kind of device, or finds it; names are unique. Called once by the room that drives the device.
SORUS_API int16_t register_device_kind(std::string_view name);
/// "host:0" or the registered name with its number.
[[nodiscard]] SORUS_API std::string device_text(Device device);

}  // namespace sorus
