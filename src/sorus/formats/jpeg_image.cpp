// libjpeg's headers need what <cstdio> declares.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <cstdlib>

#include "sorus/base/error.h"
#include "sorus/base/guarded.h"
#include "sorus/formats/detail/image.h"

namespace sorus::formats {
namespace {

/// libjpeg's state, its bytes, and where to go when it fails. Trivially destructible: encode_jpeg lets the
/// memory go.
struct Writer {
  jpeg_compress_struct codec;
  jpeg_error_mgr errors;
  unsigned char* bytes;
  unsigned long size;
  std::jmp_buf failed;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void on_error(j_common_ptr codec) {
  Writer& writer = *static_cast<Writer*>(codec->client_data);
  codec->err->format_message(codec, writer.text);
  std::longjmp(writer.failed, 1);
}
void on_message(j_common_ptr, int) {}

/// Called in guarded().
void encode(Writer& writer, const uint8_t* pixels, const ImageExtents& extents, int quality) {
  j_compress_ptr codec = &writer.codec;
  codec->err = jpeg_std_error(&writer.errors);
  writer.errors.error_exit = on_error;
  writer.errors.emit_message = on_message;
  codec->client_data = &writer;
  jpeg_create_compress(codec);
  jpeg_mem_dest(codec, &writer.bytes, &writer.size);
  codec->image_width = static_cast<JDIMENSION>(extents.width);
  codec->image_height = static_cast<JDIMENSION>(extents.height);
  codec->input_components = static_cast<int>(extents.channels);
  codec->in_color_space = extents.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(codec);
  jpeg_set_quality(codec, quality, TRUE);
  jpeg_start_compress(codec, TRUE);
  for (int64_t y = 0; y < extents.height; ++y) {
    // libjpeg only reads the row, though it says otherwise.
    auto* row = const_cast<JSAMPROW>(pixels + y * extents.width * extents.channels);
    jpeg_write_scanlines(codec, &row, 1);
  }
  jpeg_finish_compress(codec);
}

}  // namespace

std::string encode_jpeg(std::span<const uint8_t> pixels, const ImageExtents& extents, int64_t quality) {
  detail::check_extents("encode_jpeg", pixels.size(), extents, JPEG_MAX_DIMENSION);
  SORUS_CHECK(quality >= 1 && quality <= 100, ValueError,
              "encode_jpeg: quality is out of range: got {}, need 1 to 100", quality);
  Writer writer{};
  const int percent = static_cast<int>(quality);
  const bool done = guarded(
      writer, [&writer, &pixels, &extents, &percent] { encode(writer, pixels.data(), extents, percent); });
  jpeg_destroy_compress(&writer.codec);
  const std::unique_ptr<unsigned char, decltype(&std::free)> bytes(writer.bytes, &std::free);
  SORUS_CHECK(done, ValueError, "encode_jpeg: image of {} x {} cannot be written: {}", extents.height,
              extents.width, static_cast<const char*>(writer.text));
  return {reinterpret_cast<const char*>(bytes.get()), writer.size};
}

}  // namespace sorus::formats
