#pragma once

#include <cstdint>
#include <string_view>

#include "sorus/base/export.h"

namespace sorus::formats {

/// CRC-32C (Castagnoli) of the bytes, as RFC 3720 defines it. `before` is the checksum of what stands before
/// them, so that pieces give what the whole gives.
[[nodiscard]] SORUS_API uint32_t crc32c(std::string_view bytes, uint32_t before = 0);

/// The same without the processor's instruction for it.
[[nodiscard]] SORUS_API uint32_t crc32c_by_table(std::string_view bytes, uint32_t before = 0);

}  // namespace sorus::formats
