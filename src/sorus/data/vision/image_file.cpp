#include "sorus/data/vision/image_file.h"

#include <array>
#include <cstring>
#include <optional>

#include "sorus/base/error.h"
#include "sorus/data/vision/detail/codecs.h"

namespace sorus::data {
namespace {

/// How a format's files begin.
struct Beginning {
  const char* format;
  std::string_view bytes;
  size_t at = 0;
};

bool begins(std::span<const std::byte> bytes, const Beginning& b) {
  return bytes.size() >= b.at + b.bytes.size() &&
         std::memcmp(bytes.data() + b.at, b.bytes.data(), b.bytes.size()) == 0;
}

constexpr Beginning kJpeg{"JPEG", "\xff\xd8\xff"};
constexpr Beginning kPng{"PNG", "\x89PNG\r\n\x1a\n"};
/// Formats that are known, and not decoded.
constexpr std::array kOthers{
    Beginning{"GIF", "GIF8"},
    Beginning{"BMP", "BM"},
    Beginning{"TIFF", std::string_view("II*\0", 4)},
    Beginning{"TIFF", std::string_view("MM\0*", 4)},
    Beginning{"WebP", "WEBP", 8},
    Beginning{"HEIF or AVIF", "ftyp", 4},
    Beginning{"JPEG 2000", "jP  ", 4},
    Beginning{"JPEG XL", "\xff\x0a"},
};

/// What undecodable bytes are, in words.
std::string describe(std::span<const std::byte> bytes) {
  if (bytes.empty()) return "no bytes";
  for (const Beginning& other : kOthers)
    if (begins(bytes, other)) return fmt::format("a {} image", other.format);
  std::string text = fmt::format("{} bytes that begin with", bytes.size());
  for (std::byte b : bytes.first(std::min<size_t>(bytes.size(), 4)))
    text += fmt::format(" {:02x}", std::to_integer<int>(b));
  return text;
}

const char* name_of(ImageFormat format) { return format == ImageFormat::kJpeg ? "JPEG" : "PNG"; }

void check(const detail::Complaint& complaint, ImageFormat format, const std::string& where) {
  SORUS_CHECK(complaint.empty(), IOError, "Decode: {} holds a damaged {} image: got {}, need a whole one",
              where, name_of(format), complaint);
}

}  // namespace

ImageHeader read_image_header(std::span<const std::byte> bytes, const std::string& where) {
  ImageHeader header;
  bool is_jpeg = begins(bytes, kJpeg);
  SORUS_CHECK(is_jpeg || begins(bytes, kPng), IOError,
              "Decode: {} holds no image that can be decoded: got {}, need a JPEG or PNG image", where,
              describe(bytes));
  header.format = is_jpeg ? ImageFormat::kJpeg : ImageFormat::kPng;
  auto read = is_jpeg ? detail::jpeg_header : detail::png_header;
  check(read(bytes, header), header.format, where);
  return header;
}

void decode_image(std::span<const std::byte> bytes, const ImageHeader& header, const Window& window,
                  uint8_t* to, const std::string& where) {
  bool inside = window.top >= 0 && window.left >= 0 && window.height > 0 && window.width > 0 &&
                window.top + window.height <= header.height && window.left + window.width <= header.width;
  SORUS_CHECK(inside, ValueError,
              "Decode: window leaves the image: got ({}, {}) at ({}, {}), need a part of ({}, {})",
              window.height, window.width, window.top, window.left, header.height, header.width);
  auto decode = header.format == ImageFormat::kJpeg ? detail::jpeg_decode : detail::png_decode;
  check(decode(bytes, header, window, to), header.format, where);
}

}  // namespace sorus::data
