#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/base/export.h"

/// Text as Unicode characters. All text of pipelines is UTF-8 as the Unicode standard has it: no surrogates,
/// no longer forms than needed.
namespace sorus::data::text {

/// A character and where its bytes are.
struct Rune {
  char32_t code = 0;
  uint32_t begin = 0;
  uint32_t size = 0;
};

/// Place of the first byte that begins no valid character; std::string_view::npos when there is none.
[[nodiscard]] SORUS_API size_t first_bad_byte(std::string_view text);
/// Throws ValueError naming `op` and the byte unless the text is UTF-8.
SORUS_API void check_utf8(std::string_view op, std::string_view text);
/// All characters, in order. Throws what check_utf8 throws.
[[nodiscard]] SORUS_API std::vector<Rune> decode_utf8(std::string_view op, std::string_view text);
/// Characters with the property White_Space of Unicode, whose set is stable.
[[nodiscard]] SORUS_API bool is_white_space(char32_t code);

}  // namespace sorus::data::text
