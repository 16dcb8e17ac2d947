#include "sorus/data/text/utf8.h"

#include "sorus/base/error.h"

namespace sorus::data::text {
namespace {

/// The character that begins at `at`; size 0 when none does.
Rune rune_at(std::string_view text, size_t at) {
  auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(at);
  if (lead < 0x80) return {lead, static_cast<uint32_t>(at), 1};
  // The lowest code of each length keeps longer forms out.
  constexpr char32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  const uint32_t size = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (size == 0 || text.size() - at < size) return {};
  char32_t code = lead & (0x7FU >> size);
  for (uint32_t i = 1; i < size; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(at + i) & 0x3FU);
  }
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLowest[size] || code > 0x10FFFF || surrogate) return {};
  return {code, static_cast<uint32_t>(at), size};
}

}  // namespace

size_t first_bad_byte(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const uint32_t size = rune_at(text, at).size;
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

void check_utf8(std::string_view op, std::string_view text) {
  const size_t bad = first_bad_byte(text);
  SORUS_CHECK(bad == std::string_view::npos, ValueError,
              "{}: text is not UTF-8: got byte {:#04x} at {} of {}, need whole characters", op,
              static_cast<unsigned>(static_cast<uint8_t>(text[bad])), bad, text.size());
}

std::vector<Rune> decode_utf8(std::string_view op, std::string_view text) {
  std::vector<Rune> runes;
  runes.reserve(text.size());
  for (size_t at = 0; at < text.size(); at += runes.back().size) {
    runes.push_back(rune_at(text, at));
    if (runes.back().size == 0) check_utf8(op, text);
  }
  return runes;
}

bool is_white_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == 0x20 || code == 0x85 || code == 0xA0 || code == 0x1680 ||
         (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
         code == 0x205F || code == 0x3000;
}

}  // namespace sorus::data::text
