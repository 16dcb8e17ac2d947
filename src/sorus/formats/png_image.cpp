#include <png.h>
#include <zlib.h>

#include <cstdio>

#include "sorus/base/error.h"
#include "sorus/base/guarded.h"
#include "sorus/formats/detail/image.h"

namespace sorus::formats {
namespace {

/// libpng's state, where the bytes go, and where to go when it fails. Trivially destructible: encode_png lets
/// the memory go.
struct Writer {
  png_structp png;
  png_infop info;
  std::string* out;
  std::jmp_buf failed;
  char text[128];
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  Writer& writer = *static_cast<Writer*>(png_get_error_ptr(png));
  std::snprintf(writer.text, sizeof writer.text, "%s", text);
  std::longjmp(writer.failed, 1);
}
void on_warning(png_structp, png_const_charp) {}

/// False without memory: no exception may pass through libpng.
bool append(std::string& out, png_const_bytep bytes, size_t count) noexcept {
  try {
    out.append(reinterpret_cast<const char*>(bytes), count);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}
void write_bytes(png_structp png, png_bytep bytes, size_t count) {
  std::string& out = *static_cast<Writer*>(png_get_io_ptr(png))->out;
  if (!append(out, bytes, count)) png_error(png, "no memory for the file");
}
void flush(png_structp) {}

/// Called in guarded().
void encode(Writer& writer, const uint8_t* pixels, const ImageExtents& extents, int level) {
  writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer, on_error, on_warning);
  if (writer.png) writer.info = png_create_info_struct(writer.png);
  if (!writer.info) {
    std::snprintf(writer.text, sizeof writer.text, "no memory for the encoder");
    std::longjmp(writer.failed, 1);
  }
  png_set_write_fn(writer.png, &writer, write_bytes, flush);
  png_set_compression_level(writer.png, level);
  png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(extents.width),
               static_cast<png_uint_32>(extents.height), 8,
               extents.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writer.png, writer.info);
  for (int64_t y = 0; y < extents.height; ++y)
    png_write_row(writer.png, pixels + y * extents.width * extents.channels);
  png_write_end(writer.png, writer.info);
}

}  // namespace

std::string encode_png(std::span<const uint8_t> pixels, const ImageExtents& extents,
                       int64_t compression_level) {
  detail::check_extents("encode_png", pixels.size(), extents, PNG_USER_WIDTH_MAX);
  SORUS_CHECK(compression_level >= 0 && compression_level <= Z_BEST_COMPRESSION, ValueError,
              "encode_png: compression_level is out of range: got {}, need 0 to 9", compression_level);
  std::string out;
  Writer writer{};
  writer.out = &out;
  const int level = static_cast<int>(compression_level);
  const bool done = guarded(
      writer, [&writer, &pixels, &extents, &level] { encode(writer, pixels.data(), extents, level); });
  png_destroy_write_struct(&writer.png, &writer.info);
  SORUS_CHECK(done, ValueError, "encode_png: image of {} x {} cannot be written: {}", extents.height,
              extents.width, static_cast<const char*>(writer.text));
  return out;
}

}  // namespace sorus::formats
