#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sorus/base/export.h"

/// Encoded images: JPEG by libjpeg-turbo and PNG by libpng, with the bits of OpenCV's imdecode. Pixels come
/// as RGB bytes whatever the file holds: gray, palettes and CMYK are converted, alpha is dropped, 16 bits
/// become their upper 8, and orientation in metadata is not applied.
namespace sorus::data {

enum class ImageFormat : uint8_t { kJpeg, kPng };

struct ImageHeader {
  ImageFormat format = ImageFormat::kJpeg;
  int64_t height = 0;
  int64_t width = 0;
};

/// A part of an image: its first pixel and its extents.
struct Window {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

/// Reads what the bytes of a file say of their image, without decoding it. Never trusts them: more pixels
/// than such bytes can hold are an error. `where` stands for them in errors, such as "file 'a.jpg'". Throws
/// IOError for bytes that are no JPEG or PNG image, or a damaged one.
[[nodiscard]] SORUS_API ImageHeader read_image_header(std::span<const std::byte> bytes,
                                                      const std::string& where);

/// Decodes the part `window` of the image to window.height * window.width RGB pixels at `to`. Only what the
/// part needs is decoded; its pixels are those of the whole image, and damage that lies behind it may go
/// unnoticed. `header` is that of the bytes. Throws IOError as read_image_header does, also for bytes that
/// end too early.
SORUS_API void decode_image(std::span<const std::byte> bytes, const ImageHeader& header, const Window& window,
                            uint8_t* to, const std::string& where);

}  // namespace sorus::data
