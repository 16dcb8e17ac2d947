#include "sorus/data/text/plugin/unicode.h"

#include <unicode/bytestream.h>
#include <unicode/uscript.h>

#include "sorus/data/text/utf8.h"

namespace sorus::data::text::plugin {

void check_icu(std::string_view op, UErrorCode status) {
  SORUS_CHECK(U_SUCCESS(status), RuntimeError, "{}: ICU failed: got {}, need no error", op,
              u_errorName(status));
}

const icu::Normalizer2* normalizer_of(std::string_view op, NormalForm form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = nullptr;
  switch (form) {
    case NormalForm::kNone:
      return nullptr;
    case NormalForm::kNFC:
      found = icu::Normalizer2::getNFCInstance(status);
      break;
    case NormalForm::kNFKC:
      found = icu::Normalizer2::getNFKCInstance(status);
      break;
    case NormalForm::kNFD:
      found = icu::Normalizer2::getNFDInstance(status);
      break;
    case NormalForm::kNFKD:
      found = icu::Normalizer2::getNFKDInstance(status);
      break;
  }
  check_icu(op, status);
  return found;
}

const icu::Normalizer2* case_folding(std::string_view op) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = icu::Normalizer2::getNFKCCasefoldInstance(status);
  check_icu(op, status);
  return found;
}

std::string normalized(std::string_view op, const icu::Normalizer2* form, std::string_view text) {
  check_utf8(op, text);
  if (!form) return std::string(text);
  SORUS_CHECK(std::cmp_less(text.size(), INT32_MAX), ValueError,
              "{}: text is too long: got {} bytes, need less", op, text.size());
  std::string out;
  icu::StringByteSink<std::string> sink(&out);
  UErrorCode status = U_ZERO_ERROR;
  form->normalizeUTF8(0, icu::StringPiece(text.data(), static_cast<int32_t>(text.size())), sink, nullptr,
                      status);
  check_icu(op, status);
  return out;
}

namespace {

/// Each string by itself in some form.
class Normalize final : public Operation {
 public:
  Normalize(std::string name, const icu::Normalizer2* form) : name_(std::move(name)), form_(form) {}
  std::string name() const override { return name_; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr& error) const override {
    return {detail::map_strings<std::string>(
        name_, columns, DType::kUInt8, error,
        [this](const std::string& text) { return normalized(name_, form_, text); })};
  }

 private:
  std::string name_;
  const icu::Normalizer2* form_;
};

class UnicodeScriptTokenizer final : public detail::Tokenizer {
 public:
  UnicodeScriptTokenizer(bool keep_whitespace, bool offsets)
      : Tokenizer(offsets), keep_whitespace_(keep_whitespace) {}
  std::string name() const override { return "UnicodeScriptTokenizer"; }
  void split(const std::string& text, detail::Tokens& tokens) const override {
    size_t begin = 0;
    Kind kind;
    auto end_run = [&](size_t end) {
      if (end > begin && (keep_whitespace_ || !kind.white)) tokens.add_part(text, begin, end);
      begin = end;
    };
    for (const Rune& rune : decode_utf8(name(), text)) {
      const Kind next = kind_of(rune.code);
      if (next.script != kind.script || next.white != kind.white) end_run(rune.begin);
      kind = next;
    }
    end_run(text.size());
  }

 private:
  struct Kind {
    UScriptCode script = USCRIPT_INVALID_CODE;
    bool white = false;
  };
  static Kind kind_of(char32_t code) {
    UErrorCode status = U_ZERO_ERROR;
    const UScriptCode script = uscript_getScript(static_cast<UChar32>(code), &status);
    return {U_SUCCESS(status) ? script : USCRIPT_INVALID_CODE, is_white_space(code)};
  }
  bool keep_whitespace_;
};

}  // namespace

OperationPtr case_fold() { return std::make_shared<Normalize>("CaseFold", case_folding("CaseFold")); }
OperationPtr normalize_utf8(NormalForm form) {
  return std::make_shared<Normalize>("NormalizeUTF8", normalizer_of("NormalizeUTF8", form));
}
OperationPtr unicode_script_tokenizer(bool keep_whitespace, bool offsets) {
  return std::make_shared<UnicodeScriptTokenizer>(keep_whitespace, offsets);
}

}  // namespace sorus::data::text::plugin
