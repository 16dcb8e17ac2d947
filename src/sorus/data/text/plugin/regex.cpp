#include <unicode/regex.h>

#include "sorus/data/text/plugin/unicode.h"
#include "sorus/data/text/utf8.h"

namespace sorus::data::text::plugin {
namespace {

icu::UnicodeString utf16_of(std::string_view op, std::string_view text) {
  check_utf8(op, text);
  SORUS_CHECK(std::cmp_less(text.size(), INT32_MAX), ValueError,
              "{}: text is too long: got {} bytes, need less", op, text.size());
  return icu::UnicodeString::fromUTF8(icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
}

/// A pattern, compiled once; any thread may match with it.
class Pattern {
 public:
  Pattern(std::string op, const std::string& pattern) : op_(std::move(op)), text_(pattern) {
    UErrorCode status = U_ZERO_ERROR;
    UParseError place{};
    pattern_.reset(icu::RegexPattern::compile(utf16_of(op_, pattern), 0, place, status));
    SORUS_CHECK(U_SUCCESS(status), ValueError,
                "{}: pattern is no regular expression of ICU: got '{}' ({} at character {}), need one", op_,
                pattern, u_errorName(status), place.offset);
  }
  [[nodiscard]] std::unique_ptr<icu::RegexMatcher> matcher(const icu::UnicodeString& input) const {
    UErrorCode status = U_ZERO_ERROR;
    std::unique_ptr<icu::RegexMatcher> made(pattern_->matcher(input, status));
    check_icu(op_, status);
    return made;
  }
  /// Throws ValueError when matching failed, as it does where a pattern needs too much memory.
  void check(UErrorCode status) const {
    SORUS_CHECK(U_SUCCESS(status), ValueError,
                "{}: pattern '{}' cannot be matched: got {} of ICU, need no error", op_, text_,
                u_errorName(status));
  }

 private:
  std::string op_;
  std::string text_;
  std::unique_ptr<icu::RegexPattern> pattern_;
};

class RegexReplace final : public Operation {
 public:
  RegexReplace(const std::string& pattern, const std::string& replacement, bool all)
      : pattern_("RegexReplace", pattern), replacement_(utf16_of("RegexReplace", replacement)), all_(all) {}
  std::string name() const override { return "RegexReplace"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr& error) const override {
    return {detail::map_strings<std::string>(name(), columns, DType::kUInt8, error,
                                             [this](const std::string& text) { return replaced(text); })};
  }

 private:
  std::string replaced(const std::string& text) const {
    const icu::UnicodeString input = utf16_of(name(), text);
    auto matcher = pattern_.matcher(input);
    UErrorCode status = U_ZERO_ERROR;
    const icu::UnicodeString result =
        all_ ? matcher->replaceAll(replacement_, status) : matcher->replaceFirst(replacement_, status);
    pattern_.check(status);
    std::string out;
    return result.toUTF8String(out);
  }
  Pattern pattern_;
  icu::UnicodeString replacement_;
  bool all_;
};

/// From places in UTF-16 to places in the UTF-8 that it was made of.
std::vector<uint32_t> byte_places(std::string_view op, const std::string& text) {
  std::vector<uint32_t> places;
  places.reserve(text.size() + 1);
  for (const Rune& rune : decode_utf8(op, text)) {
    places.push_back(rune.begin);
    if (rune.code > 0xFFFF) places.push_back(rune.begin);
  }
  places.push_back(static_cast<uint32_t>(text.size()));
  return places;
}

class RegexTokenizer final : public detail::Tokenizer {
 public:
  RegexTokenizer(const std::string& delimiter, const std::string& kept, bool offsets)
      : Tokenizer(offsets), delimiter_("RegexTokenizer", delimiter), kept_("RegexTokenizer", kept) {}
  std::string name() const override { return "RegexTokenizer"; }
  void split(const std::string& text, detail::Tokens& tokens) const override {
    const icu::UnicodeString input = utf16_of(name(), text);
    const std::vector<uint32_t> places = byte_places(name(), text);
    auto add = [&](int32_t begin, int32_t end) {
      if (end > begin)
        tokens.add_part(text, places[static_cast<size_t>(begin)], places[static_cast<size_t>(end)]);
    };
    auto matcher = delimiter_.matcher(input);
    UErrorCode status = U_ZERO_ERROR;
    int32_t begin = 0;
    while (matcher->find(status) != 0) {
      const int32_t from = matcher->start(status);
      const int32_t to = matcher->end(status);
      add(begin, from);
      if (to > from && keeps(input.tempSubStringBetween(from, to))) add(from, to);
      begin = to;
    }
    delimiter_.check(status);
    add(begin, input.length());
  }

 private:
  bool keeps(const icu::UnicodeString& delimiter) const {
    UErrorCode status = U_ZERO_ERROR;
    const bool kept = kept_.matcher(delimiter)->matches(status) != 0;
    kept_.check(status);
    return kept;
  }
  Pattern delimiter_;
  Pattern kept_;
};

}  // namespace

OperationPtr regex_replace(const std::string& pattern, const std::string& replacement, bool all) {
  return std::make_shared<RegexReplace>(pattern, replacement, all);
}
OperationPtr regex_tokenizer(const std::string& delimiter, const std::string& kept, bool offsets) {
  return std::make_shared<RegexTokenizer>(delimiter, kept, offsets);
}

}  // namespace sorus::data::text::plugin
