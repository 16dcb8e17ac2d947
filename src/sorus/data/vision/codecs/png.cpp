#include <png.h>

#include <cstdio>
#include <cstring>

#include "sorus/base/guarded.h"
#include "sorus/data/vision/detail/codecs.h"

/// PNG by libpng, with the conversions that OpenCV asks it for.
namespace sorus::data::detail {
namespace {

/// libpng's state, the bytes, and where to go when it fails. Trivially destructible: finish() lets the memory
/// go.
struct Reader {
  png_structp png;
  png_infop info;
  const std::byte* next;
  size_t left;
  png_bytep kept;  ///< rows of the image, when not the whole is wanted
  std::jmp_buf failed;
  char text[128];
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  Reader& reader = *static_cast<Reader*>(png_get_error_ptr(png));
  std::snprintf(reader.text, sizeof reader.text, "%s", text);
  std::longjmp(reader.failed, 1);
}
void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, png_size_t count) {
  Reader& reader = *static_cast<Reader*>(png_get_io_ptr(png));
  if (count > reader.left) png_error(png, "data that end before the image does");
  std::memcpy(to, reader.next, count);
  reader.next += count;
  reader.left -= count;
}

/// Reads what stands before the pixels. Called in guarded().
void open(Reader& reader, size_t count) {
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning);
  if (reader.png) reader.info = png_create_info_struct(reader.png);
  if (!reader.info) {
    std::snprintf(reader.text, sizeof reader.text, "no memory for the decoder");
    std::longjmp(reader.failed, 1);
  }
  png_set_read_fn(reader.png, &reader, read_bytes);
  png_read_info(reader.png, reader.info);
  // A deflate stream expands at most 1032 times (zlib's technical notes).
  constexpr double kLargestExpansion = 1032;
  double size = static_cast<double>(png_get_rowbytes(reader.png, reader.info)) *
                static_cast<double>(png_get_image_height(reader.png, reader.info));
  if (size > kLargestExpansion * static_cast<double>(count))
    png_error(reader.png, "more pixels than its bytes can hold");
}

/// RGB bytes. Called in guarded().
void set_conversions(Reader& reader) {
  png_structp png = reader.png;
  int color = png_get_color_type(png, reader.info);
  int bits = png_get_bit_depth(png, reader.info);
  if (bits == 16) png_set_strip_16(png);
  png_set_strip_alpha(png);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if ((color & PNG_COLOR_MASK_COLOR) == 0) {
    if (bits < 8) png_set_expand_gray_1_2_4_to_8(png);
    png_set_gray_to_rgb(png);
  }
}

/// Decodes the window. Called in guarded().
void decode(Reader& reader, const ImageHeader& header, const Window& window, uint8_t* to) {
  png_structp png = reader.png;
  set_conversions(reader);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, reader.info);
  if (png_get_rowbytes(png, reader.info) != static_cast<size_t>(header.width) * 3)
    png_error(png, "pixels of an unknown kind");
  size_t row_bytes = static_cast<size_t>(header.width) * 3;
  size_t part_bytes = static_cast<size_t>(window.width) * 3;
  bool whole = window.height == header.height && window.width == header.width;
  // Interlaced rows are finished only by the last pass, so all of them are kept.
  auto rows = static_cast<size_t>(passes > 1 ? header.height : 1);
  if (!whole) reader.kept = static_cast<png_bytep>(png_malloc(png, row_bytes * rows));
  png_bytep kept = whole ? to : reader.kept;
  int64_t end = window.top + window.height;
  for (int pass = 0; pass < passes; ++pass) {
    bool last = pass + 1 == passes;
    for (int64_t y = 0; y < (last ? end : header.height); ++y) {
      png_bytep row = kept + (whole || passes > 1 ? static_cast<size_t>(y) * row_bytes : 0);
      png_read_row(png, row, nullptr);
      if (last && !whole && y >= window.top)
        std::memcpy(to + static_cast<size_t>(y - window.top) * part_bytes, row + window.left * 3, part_bytes);
    }
  }
  if (end == header.height) png_read_end(png, nullptr);
}

Complaint finish(Reader& reader, bool done) {
  if (reader.kept) png_free(reader.png, reader.kept);
  png_destroy_read_struct(&reader.png, &reader.info, nullptr);
  return done ? Complaint() : Complaint(reader.text);
}

Reader reader_of(std::span<const std::byte> bytes) {
  Reader reader{};
  reader.next = bytes.data();
  reader.left = bytes.size();
  return reader;
}

}  // namespace

Complaint png_header(std::span<const std::byte> bytes, ImageHeader& header) {
  Reader reader = reader_of(bytes);
  bool done = guarded(reader, [&reader, &bytes] { open(reader, bytes.size()); });
  if (done) {
    header.height = png_get_image_height(reader.png, reader.info);
    header.width = png_get_image_width(reader.png, reader.info);
  }
  return finish(reader, done);
}

Complaint png_decode(std::span<const std::byte> bytes, const ImageHeader& header, const Window& window,
                     uint8_t* to) {
  Reader reader = reader_of(bytes);
  bool done = guarded(reader, [&reader, &bytes, &header, &window, to] {
    open(reader, bytes.size());
    decode(reader, header, window, to);
  });
  return finish(reader, done);
}

}  // namespace sorus::data::detail
