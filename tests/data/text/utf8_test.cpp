#include "sorus/data/text/utf8.h"

#include "tests/data/text/helpers.h"

namespace sorus::data::text {
namespace {

/// As the table of the Unicode standard writes it down.
std::string encoded(char32_t code) {
  auto byte = [](char32_t value) { return static_cast<char>(value); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F))};
  if (code < 0x10000)
    return {byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F))};
  return {byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)), byte(0x80 | (code >> 6 & 0x3F)),
          byte(0x80 | (code & 0x3F))};
}

TEST(Utf8, ReadsEveryCharacterAndNoSurrogate) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    const std::string text = encoded(code);
    if (code >= 0xD800 && code <= 0xDFFF) {
      ASSERT_EQ(first_bad_byte(text), 0U) << uint32_t{code};
      continue;
    }
    const auto runes = decode_utf8("test", text);
    ASSERT_EQ(runes.size(), 1U) << uint32_t{code};
    ASSERT_TRUE(runes[0].code == code);
    ASSERT_EQ(runes[0].size, text.size());
  }
}

TEST(Utf8, RefusesWhatIsNotWhole) {
  for (const char* text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xE5\xBA", "\xE5", "\xF0\x9F\x98", "\xC3(", "\xFF", "\xFE"}) {
    EXPECT_EQ(first_bad_byte(text), 0U) << text;
    EXPECT_EQ(first_bad_byte(std::string("ok") + text), 2U) << text;
  }
  EXPECT_EQ(test::error_of<ValueError>([] { check_utf8("Op", "ab\xFF"); }),
            "Op: text is not UTF-8: got byte 0xff at 2 of 3, need whole characters");
}

TEST(Utf8, RandomBytesAreReadOrRefused) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::string bytes = test::random_bytes(random, 24);
    const size_t bad = first_bad_byte(bytes);
    std::string again;
    for (const Rune& rune : decode_utf8("test", bytes.substr(0, bad))) again += encoded(rune.code);
    EXPECT_EQ(again, bytes.substr(0, bad));
    if (bad != std::string::npos) {
      EXPECT_THROW((void)decode_utf8("test", bytes), ValueError);
    }
  }
}

}  // namespace
}  // namespace sorus::data::text
