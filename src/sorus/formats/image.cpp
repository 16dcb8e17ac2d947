#include "sorus/formats/image.h"

#include "sorus/base/error.h"
#include "sorus/formats/detail/image.h"

namespace sorus::formats {
namespace {

/// The extents of an image that is uint8 and (H, W), (H, W, 1) or (H, W, 3).
ImageExtents extents_of(const char* op, const Tensor& image) {
  SORUS_CHECK(image.dtype() == DType::kUInt8, DTypeError, "{}: image has the wrong type: got {}, need uint8",
              op, image.dtype());
  const Shape& shape = image.shape();
  const bool has_channels = shape.rank() == 3;
  const int64_t channels = has_channels ? shape.size(2) : 1;
  SORUS_CHECK((has_channels || shape.rank() == 2) && (channels == 1 || channels == 3), ShapeError,
              "{}: image has the wrong shape: got {}, need (H, W), (H, W, 1) or (H, W, 3)", op, shape);
  return {shape.size(0), shape.size(1), channels};
}

}  // namespace

namespace detail {

void check_extents(const char* op, size_t bytes, const ImageExtents& extents, int64_t longest) {
  const auto& [height, width, channels] = extents;
  SORUS_CHECK(height > 0 && width > 0 && height <= longest && width <= longest, ValueError,
              "{}: side of the image is out of range: got {} x {}, need 1 to {} each", op, height, width,
              longest);
  SORUS_CHECK(channels == 1 || channels == 3, ValueError,
              "{}: number of channels is not supported: got {}, need 1 or 3", op, channels);
  SORUS_CHECK(bytes == static_cast<size_t>(height * width * channels), ValueError,
              "{}: number of bytes does not fit: got {}, need {} x {} x {}", op, bytes, height, width,
              channels);
}

}  // namespace detail

std::string encode_png(const Tensor& image, int64_t compression_level) {
  const ImageExtents extents = extents_of("encode_png", image);
  return encode_png(image.to_vector<uint8_t>(), extents, compression_level);
}

std::string encode_jpeg(const Tensor& image, int64_t quality) {
  const ImageExtents extents = extents_of("encode_jpeg", image);
  return encode_jpeg(image.to_vector<uint8_t>(), extents, quality);
}

}  // namespace sorus::formats
