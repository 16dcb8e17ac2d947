#include "sorus/formats/png_image.h"

#include <png.h>

#include "sorus/base/error.h"

namespace sorus::formats {
namespace {

constexpr int64_t kColours = 3;
constexpr int64_t kLargestExtent = INT32_MAX;

}  // namespace

std::string encode_png(std::span<const uint8_t> pixels, int64_t height, int64_t width) {
  SORUS_CHECK(height > 0 && width > 0 && height <= kLargestExtent && width <= kLargestExtent, ValueError,
              "encode_png: extent is out of range: got {} x {}, need 1 to {} each", height, width,
              kLargestExtent);
  const auto row = static_cast<uint64_t>(width * kColours);
  SORUS_CHECK(pixels.size() % row == 0 && pixels.size() / row == static_cast<uint64_t>(height), ValueError,
              "encode_png: number of bytes does not fit: got {}, need {} x {} x {}", pixels.size(), height,
              width, kColours);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_RGB;
  image.flags = PNG_IMAGE_FLAG_FAST;
  std::string out(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t size = out.size();
  SORUS_CHECK(png_image_write_to_memory(&image, out.data(), &size, 0, pixels.data(), 0, nullptr), ValueError,
              "encode_png: image of {} x {} cannot be written: {}", height, width, image.message);
  out.resize(size);
  return out;
}

}  // namespace sorus::formats
