#include "sorus/formats/png.h"

#include <zlib.h>

#include <cstdlib>
#include <string_view>

#include "sorus/base/error.h"

namespace sorus::formats {
namespace {

constexpr int64_t kColours = 3;
constexpr int64_t kLargestExtent = INT32_MAX;

void put(std::string& out, uint64_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(v >> shift);
}

/// Length, type, bytes, and the CRC-32 of type and bytes.
void put_chunk(std::string& out, std::string_view type, std::string_view bytes) {
  put(out, bytes.size());
  const size_t begin = out.size();
  out += type;
  out += bytes;
  put(out, ::crc32_z(0, reinterpret_cast<const Bytef*>(out.data() + begin), out.size() - begin));
}

/// The rows, each behind a byte that names its filter: every byte less the one of the pixel before it, which
/// smooth images make small.
std::string filtered(std::span<const uint8_t> pixels, int64_t height, int64_t width) {
  constexpr char kSub = 1;
  const auto row = static_cast<size_t>(width * kColours);
  std::string out;
  out.reserve(static_cast<size_t>(height) * (row + 1));
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    out += kSub;
    const uint8_t* p = pixels.data() + y * row;
    for (size_t x = 0; x < row; ++x) out += static_cast<char>(p[x] - (x < kColours ? 0 : p[x - kColours]));
  }
  return out;
}

std::string deflated(std::string_view bytes) {
  uLongf size = ::compressBound(bytes.size());
  std::string out(size, '\0');
  const int status = ::compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                                 reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED);
  SORUS_CHECK(status == Z_OK, MemoryError,
              "encode_png: image cannot be compressed: got zlib's error {}, need memory for {} bytes", status,
              size);
  out.resize(size);
  return out;
}

}  // namespace

std::string encode_png(std::span<const uint8_t> pixels, int64_t height, int64_t width) {
  SORUS_CHECK(height > 0 && width > 0 && height <= kLargestExtent && width <= kLargestExtent, ValueError,
              "encode_png: extent is out of range: got {} x {}, need 1 to {} each", height, width,
              kLargestExtent);
  const auto row = static_cast<uint64_t>(width * kColours);
  SORUS_CHECK(pixels.size() % row == 0 && pixels.size() / row == static_cast<uint64_t>(height), ValueError,
              "encode_png: number of bytes does not fit: got {}, need {} x {} x {}", pixels.size(), height,
              width, kColours);
  std::string out("\x89PNG\r\n\x1a\n"), head;
  put(head, static_cast<uint64_t>(width));
  put(head, static_cast<uint64_t>(height));
  head += std::string("\x08\x02\x00\x00\x00", 5);  // bits, RGB, deflate, filters by row, no interlacing
  put_chunk(out, "IHDR", head);
  put_chunk(out, "IDAT", deflated(filtered(pixels, height, width)));
  put_chunk(out, "IEND", {});
  return out;
}

}  // namespace sorus::formats
