#include "sorus/formats/sealed.h"

#include <zlib.h>

#include "sorus/base/error.h"

namespace sorus::formats {
namespace {

constexpr size_t kKindBytes = 8;
constexpr size_t kHeadBytes = kKindBytes + 8 + 4 + 4;

uint32_t crc(std::string_view bytes) {
  return static_cast<uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void put(std::string& out, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(v >> (8 * i));
}

uint64_t get(std::string_view bytes) {
  uint64_t v = 0;
  for (size_t i = bytes.size(); i-- > 0;) v = v << 8 | static_cast<uint8_t>(bytes[i]);
  return v;
}

std::string printable(std::string_view bytes) {
  std::string out;
  for (char c : bytes.substr(0, bytes.find('\0'))) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

}  // namespace

std::string seal(std::string_view kind, std::string_view bytes) {
  std::string out = seal_head(kind, bytes);
  out += bytes;
  return out;
}

std::string seal_head(std::string_view kind, std::string_view bytes) {
  SORUS_INTERNAL(kind.size() <= kKindBytes, "kind of a file is longer than {} bytes", kKindBytes);
  std::string out(kind);
  out.resize(kKindBytes);
  put(out, bytes.size(), 8);
  put(out, crc(bytes), 4);
  put(out, crc(out), 4);
  return out;
}

std::string_view unseal(std::string_view kind, std::string_view sealed, const std::string& source) {
  SORUS_CHECK(sealed.size() >= kHeadBytes, IOError, "{}: is too short: got {} bytes, need {} or more", source,
              sealed.size(), kHeadBytes);
  std::string wanted(kind);
  wanted.resize(kKindBytes);
  SORUS_CHECK(sealed.substr(0, kKindBytes) == wanted, IOError,
              "{}: is of another kind or version: got '{}', need '{}'", source,
              printable(sealed.substr(0, kKindBytes)), kind);
  const std::string_view bytes = sealed.substr(kHeadBytes);
  const uint64_t size = get(sealed.substr(kKindBytes, 8));
  SORUS_CHECK(get(sealed.substr(kHeadBytes - 4, 4)) == crc(sealed.substr(0, kHeadBytes - 4)) &&
                  size == bytes.size() && get(sealed.substr(kKindBytes + 8, 4)) == crc(bytes),
              IOError,
              "{}: is damaged: got {} bytes or a checksum that differ, need the whole file as it was written",
              source, bytes.size());
  return bytes;
}

}  // namespace sorus::formats
