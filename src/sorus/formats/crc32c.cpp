#include "sorus/formats/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace sorus::formats {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // 0x1edc6f41, lowest bit first
constexpr size_t kStep = 8;                   // bytes taken at once

/// Row k: what a byte does to the checksum when k further bytes of the same step follow it.
constexpr std::array<std::array<uint32_t, 256>, kStep> make_tables() {
  std::array<std::array<uint32_t, 256>, kStep> t{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? kPolynomial : 0);
    t[0][i] = crc;
  }
  for (size_t k = 1; k < kStep; ++k)
    for (size_t i = 0; i < 256; ++i) t[k][i] = t[k - 1][i] >> 8 ^ t[0][t[k - 1][i] & 0xff];
  return t;
}
constexpr auto kTables = make_tables();

uint64_t load(const char* p) {
  uint64_t v = 0;
  std::memcpy(&v, p, sizeof v);
  return v;
}

uint32_t by_table(const char* p, size_t n, uint32_t crc) {
  static_assert(std::endian::native == std::endian::little);
  for (; n >= kStep; p += kStep, n -= kStep) {
    const uint64_t v = load(p) ^ crc;
    crc = 0;
    for (size_t k = 0; k < kStep; ++k) crc ^= kTables[kStep - 1 - k][v >> (8 * k) & 0xff];
  }
  for (; n > 0; ++p, --n) crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<uint8_t>(*p)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] uint32_t by_instruction(const char* p, size_t n, uint32_t crc) {
  uint64_t wide = crc;
  for (; n >= kStep; p += kStep, n -= kStep) wide = __builtin_ia32_crc32di(wide, load(p));
  crc = static_cast<uint32_t>(wide);
  for (; n > 0; ++p, --n) crc = __builtin_ia32_crc32qi(crc, static_cast<uint8_t>(*p));
  return crc;
}

bool has_instruction() {
  static const bool has = [] {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") != 0;
  }();
  return has;
}
#endif

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t before) {
#if defined(__x86_64__)
  if (has_instruction()) return ~by_instruction(bytes.data(), bytes.size(), ~before);
#endif
  return crc32c_by_table(bytes, before);
}

uint32_t crc32c_by_table(std::string_view bytes, uint32_t before) {
  return ~by_table(bytes.data(), bytes.size(), ~before);
}

}  // namespace sorus::formats
