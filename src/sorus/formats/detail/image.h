#pragma once

#include "sorus/formats/image.h"

namespace sorus::formats::detail {

/// Throws ValueError unless the extents are those of so many bytes, and no side is longer than `longest`.
void check_extents(const char* op, size_t bytes, const ImageExtents& extents, int64_t longest);

}  // namespace sorus::formats::detail
