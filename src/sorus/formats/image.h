#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sorus/base/export.h"
#include "sorus/core/tensor.h"

/// Images of 8 bits a channel as files: PNG (ISO/IEC 15948) by libpng and JPEG by libjpeg-turbo.
namespace sorus::formats {

/// Of pixels that lie row by row, channels innermost: 1 for gray, 3 for RGB.
struct ImageExtents {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 3;
};

/// A PNG file. `compression_level` is zlib's: 0 stores the bytes, 9 takes longest. Throws ValueError for
/// another number of pixels than the extents tell, a side of 0 or more than 1,000,000, other channels and
/// levels.
[[nodiscard]] SORUS_API std::string encode_png(std::span<const uint8_t> pixels, const ImageExtents& extents,
                                               int64_t compression_level = 6);

/// A baseline JPEG file with a quarter of the chroma samples. `quality` is libjpeg's, from 1 to 100. Throws
/// ValueError as encode_png does; sides may have up to 65,500 pixels.
[[nodiscard]] SORUS_API std::string encode_jpeg(std::span<const uint8_t> pixels, const ImageExtents& extents,
                                                int64_t quality = 75);

/// Of uint8 tensors of shape (H, W), (H, W, 1) or (H, W, 3). Throws DTypeError and ShapeError for others.
[[nodiscard]] SORUS_API std::string encode_png(const Tensor& image, int64_t compression_level = 6);
[[nodiscard]] SORUS_API std::string encode_jpeg(const Tensor& image, int64_t quality = 75);

}  // namespace sorus::formats
