#pragma once

#include <string>

namespace sorus {

/// Tells builds of the library apart: its version, and what the linker noted of its contents.
[[nodiscard]] const std::string& library_build();

}  // namespace sorus
