#pragma once

#include <string>

#include "sorus/base/export.h"

namespace sorus::kernels::onednn {

/// Version of the library that is loaded, as "2.6.3".
[[nodiscard]] SORUS_API std::string library_version();

}  // namespace sorus::kernels::onednn
