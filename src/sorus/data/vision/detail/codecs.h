#pragma once

#include <span>
#include <string>

#include "sorus/data/vision/image_file.h"

/// The libraries behind image_file.h, a source file each. Both report errors by a jump, which ends in the
/// function that called them and passes over no object that has a destructor.
namespace sorus::data::detail {

/// What a library says is wrong with an image; empty: nothing.
using Complaint = std::string;

/// Extents of the image; format is left alone.
[[nodiscard]] Complaint jpeg_header(std::span<const std::byte> bytes, ImageHeader& header);
[[nodiscard]] Complaint png_header(std::span<const std::byte> bytes, ImageHeader& header);
/// The window as RGB pixels.
[[nodiscard]] Complaint jpeg_decode(std::span<const std::byte> bytes, const ImageHeader& header,
                                    const Window& window, uint8_t* to);
[[nodiscard]] Complaint png_decode(std::span<const std::byte> bytes, const ImageHeader& header,
                                   const Window& window, uint8_t* to);

}  // namespace sorus::data::detail
