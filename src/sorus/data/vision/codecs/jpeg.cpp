// libjpeg's headers need what <cstdio> declares, and jpeglib.h before jerror.h.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <cstring>

#include "sorus/base/guarded.h"
#include "sorus/data/vision/detail/codecs.h"

/// JPEG by libjpeg-turbo, in its accurate integer transform with smooth upsampling, as OpenCV uses it.
namespace sorus::data::detail {
namespace {

constexpr int kMostScans = 500;  ///< a progressive file of tiny scans would take hours to decode

/// libjpeg's state and where to go when it fails. Trivially destructible: close() lets the memory go.
struct Reader {
  jpeg_decompress_struct codec;
  jpeg_error_mgr errors;
  jpeg_source_mgr source;
  jpeg_progress_mgr progress;
  std::jmp_buf failed;
  char text[JMSG_LENGTH_MAX];
  bool ended;  ///< the decoder has asked for more bytes than there are
};

Reader& reader_of(j_common_ptr codec) { return *static_cast<Reader*>(codec->client_data); }

[[noreturn]] void fail(j_common_ptr codec, const char* text) {
  Reader& reader = reader_of(codec);
  std::snprintf(reader.text, sizeof reader.text, "%s", text);
  std::longjmp(reader.failed, 1);
}

[[noreturn]] void on_error(j_common_ptr codec) {
  char text[JMSG_LENGTH_MAX];
  codec->err->format_message(codec, text);
  fail(codec, text);
}

/// Warnings of wrong bits are passed over, as OpenCV does: an image comes all the same. Not so when bytes are
/// missing.
void on_message(j_common_ptr codec, int level) {
  if (level >= 0) return;
  if (codec->err->msg_code == JWRN_HIT_MARKER && reader_of(codec).ended)
    fail(codec, "data that end before the image does");
}

void on_progress(j_common_ptr codec) {
  auto* decoder = reinterpret_cast<j_decompress_ptr>(codec);
  if (decoder->input_scan_number > kMostScans) fail(codec, "more than 500 scans");
}

void start_source(j_decompress_ptr) {}
void end_source(j_decompress_ptr) {}

/// Behind the last byte: an end-of-image marker, so that the decoder comes to an end.
boolean fill_source(j_decompress_ptr codec) {
  static constexpr JOCTET kEnd[2] = {0xff, JPEG_EOI};
  reader_of(reinterpret_cast<j_common_ptr>(codec)).ended = true;
  codec->src->next_input_byte = kEnd;
  codec->src->bytes_in_buffer = sizeof kEnd;
  return TRUE;
}

void skip_source(j_decompress_ptr codec, long count) {
  if (count <= 0) return;
  auto bytes = static_cast<size_t>(count);
  if (bytes >= codec->src->bytes_in_buffer) {
    fill_source(codec);
    return;
  }
  codec->src->next_input_byte += bytes;
  codec->src->bytes_in_buffer -= bytes;
}

/// Reads the header. Called in guarded().
void open(Reader& reader, const std::byte* bytes, size_t count) {
  j_decompress_ptr codec = &reader.codec;
  codec->err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = on_error;
  reader.errors.emit_message = on_message;
  codec->client_data = &reader;
  jpeg_create_decompress(codec);
  codec->client_data = &reader;
  reader.source.next_input_byte = reinterpret_cast<const JOCTET*>(bytes);
  reader.source.bytes_in_buffer = count;
  reader.source.init_source = start_source;
  reader.source.fill_input_buffer = fill_source;
  reader.source.skip_input_data = skip_source;
  reader.source.resync_to_restart = jpeg_resync_to_restart;
  reader.source.term_source = end_source;
  codec->src = &reader.source;
  reader.progress.progress_monitor = on_progress;
  codec->progress = &reader.progress;
  jpeg_read_header(codec, TRUE);
  if (reader.ended) fail(reinterpret_cast<j_common_ptr>(codec), "data that end within the header");
  // A block of 64 pixels takes one bit or more, but for arithmetic coding.
  constexpr double kPixelsPerByte = 512;
  constexpr double kSmall = 1 << 24;
  double pixels = static_cast<double>(codec->image_width) * codec->image_height;
  double limit = codec->arith_code != FALSE ? kSmall : kPixelsPerByte * static_cast<double>(count);
  if (pixels > limit) fail(reinterpret_cast<j_common_ptr>(codec), "more pixels than its bytes can hold");
}

/// Pixels of CMYK with inverted inks, as Adobe's programs write them, to RGB.
void cmyk_to_rgb(const uint8_t* from, uint8_t* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i, from += 4, to += 3)
    for (int c = 0; c < 3; ++c) to[c] = static_cast<uint8_t>(from[c] * from[3] / 255);
}

/// Makes the decoder begin near the window's first pixel, where that changes no pixel of it; gives the column
/// at which lines begin.
int64_t begin_window(j_decompress_ptr codec, const Window& window) {
  // Smoothing between blocks of an unfinished progressive image looks at blocks around.
  if (jpeg_has_multiple_scans(codec) != FALSE) return 0;
  // Smooth upsampling looks at one chroma sample to each side, at most four pixels away.
  constexpr int64_t kMargin = 8;
  auto width = static_cast<int64_t>(codec->output_width);
  int64_t begin = std::max<int64_t>(window.left - kMargin, 0);
  int64_t end = std::min(window.left + window.width + kMargin, width);
  auto first = static_cast<JDIMENSION>(begin);
  auto count = static_cast<JDIMENSION>(end - begin);
  if (begin == 0 && end == width) return 0;
  jpeg_crop_scanline(codec, &first, &count);
  return first;
}

/// Decodes the window. Called in guarded().
void decode(Reader& reader, const Window& window, uint8_t* to) {
  j_decompress_ptr codec = &reader.codec;
  auto* common = reinterpret_cast<j_common_ptr>(codec);
  bool cmyk = codec->num_components == 4;
  codec->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(codec);
  bool whole_file_read = jpeg_has_multiple_scans(codec) != FALSE;
  if (reader.ended && (whole_file_read || codec->arith_code != FALSE))
    fail(common, "data that end before the image does");
  int64_t first = begin_window(codec, window);
  int64_t pixel = codec->output_components;
  auto* line = static_cast<uint8_t*>(codec->mem->alloc_small(
      common, JPOOL_IMAGE, static_cast<size_t>(codec->output_width) * static_cast<size_t>(pixel)));
  const uint8_t* from = line + (window.left - first) * pixel;
  if (window.top > 0) {
    auto rows = static_cast<JDIMENSION>(window.top);
    if (whole_file_read)
      for (JDIMENSION y = 0; y < rows; ++y) jpeg_read_scanlines(codec, &line, 1);
    else if (jpeg_skip_scanlines(codec, rows) != rows)
      fail(common, "fewer lines than its header says");
  }
  bool direct = !cmyk && window.width == codec->output_width;
  for (int64_t y = 0; y < window.height; ++y, to += window.width * 3) {
    JSAMPROW row = direct ? to : line;
    if (jpeg_read_scanlines(codec, &row, 1) != 1) fail(common, "fewer lines than its header says");
    if (cmyk)
      cmyk_to_rgb(from, to, window.width);
    else if (!direct)
      std::memcpy(to, from, static_cast<size_t>(window.width) * 3);
  }
  if (reader.ended && codec->arith_code != FALSE) fail(common, "data that end before the image does");
}

Complaint finish(Reader& reader, bool done) {
  jpeg_destroy_decompress(&reader.codec);
  return done ? Complaint() : Complaint(reader.text);
}

}  // namespace

Complaint jpeg_header(std::span<const std::byte> bytes, ImageHeader& header) {
  Reader reader{};
  bool done = guarded(reader, [&reader, &bytes] { open(reader, bytes.data(), bytes.size()); });
  header.height = reader.codec.image_height;
  header.width = reader.codec.image_width;
  return finish(reader, done);
}

Complaint jpeg_decode(std::span<const std::byte> bytes, const ImageHeader&, const Window& window,
                      uint8_t* to) {
  Reader reader{};
  bool done = guarded(reader, [&reader, &bytes, &window, to] {
    open(reader, bytes.data(), bytes.size());
    decode(reader, window, to);
  });
  return finish(reader, done);
}

}  // namespace sorus::data::detail
