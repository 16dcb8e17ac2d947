#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sorus/base/export.h"

namespace sorus::formats {

/// A PNG file (ISO/IEC 15948) of an RGB image of 8 bits a colour. `pixels` are height x width x 3, row by
/// row. Throws ValueError when their number is another, or an extent is 0 or more than 2^31 - 1.
[[nodiscard]] SORUS_API std::string encode_png(std::span<const uint8_t> pixels, int64_t height,
                                               int64_t width);

}  // namespace sorus::formats
