#include <unicode/uchar.h>

#include <algorithm>

#include "sorus/data/text/plugin/unicode.h"
#include "sorus/data/text/utf8.h"

namespace sorus::data::text::plugin {
namespace {

using detail::Tokens;

constexpr std::string_view kSpecial[] = {"[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]"};

/// Length in bytes of a token that stays whole and begins at `at`; 0 when there is none.
size_t special_at(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  for (std::string_view word : kSpecial)
    if (rest.starts_with(word)) return word.size();
  return 0;
}

/// "[unused7]", of any decimal digits.
size_t unused_at(std::string_view text, const std::vector<Rune>& runes, size_t i) {
  constexpr std::string_view kBegin = "[unused";
  if (!text.substr(runes[i].begin).starts_with(kBegin)) return 0;
  size_t end = i + kBegin.size();
  while (end < runes.size() && u_isdigit(static_cast<UChar32>(runes[end].code)) != 0) ++end;
  const bool closed = end > i + kBegin.size() && end < runes.size() && runes[end].code == ']';
  return closed ? runes[end].begin + 1 - runes[i].begin : 0;
}

/// Characters that are tokens of their own: punctuation, ASCII's symbols, and ideographs.
bool stands_alone(char32_t code) {
  constexpr std::pair<char32_t, char32_t> kRanges[] = {
      {'!', '/'},         {':', '@'},         {'[', '`'},         {'{', '~'},
      {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
      {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0x2F800, 0x2FA1F},
  };
  if (std::any_of(std::begin(kRanges), std::end(kRanges),
                  [code](const auto& range) { return code >= range.first && code <= range.second; }))
    return true;
  return (U_GET_GC_MASK(static_cast<UChar32>(code)) & U_GC_P_MASK) != 0;
}

/// The words of a text as BERT has them.
class Words {
 public:
  Words(std::string op, const BasicOptions& options)
      : op_(std::move(op)),
        options_(options),
        fold_(case_folding(op_)),
        decompose_(normalizer_of(op_, NormalForm::kNFD)),
        form_(normalizer_of(op_, options.form)) {}

  void split(const std::string& given, Tokens& tokens) const {
    const std::string text = cleaned(given);
    const std::vector<Rune> runes = decode_utf8(op_, text);
    size_t begin = 0;
    for (size_t i = 0; i < runes.size();) {
      const size_t count = delimiter_at(text, runes, i);
      if (count == 0) {
        ++i;
        continue;
      }
      const size_t from = runes[i].begin;
      const bool white = is_white_space(runes[i].code);
      i += count;
      const size_t to = i < runes.size() ? runes[i].begin : text.size();
      if (from > begin) tokens.add_part(text, begin, from);
      if (!white || options_.keep_whitespace) tokens.add_part(text, from, to);
      begin = to;
    }
    if (begin < text.size()) tokens.add_part(text, begin, text.size());
  }

 private:
  /// How many characters of a delimiter begin at character i: white space, or what is a token by itself.
  size_t delimiter_at(std::string_view text, const std::vector<Rune>& runes, size_t i) const {
    if (options_.preserve_unused && runes[i].code == '[') {
      size_t bytes = special_at(text, runes[i].begin);
      if (bytes == 0) bytes = unused_at(text, runes, i);
      if (bytes > 0) {
        size_t end = i;
        while (end < runes.size() && runes[end].begin < runes[i].begin + bytes) ++end;
        return end - i;
      }
    }
    size_t end = i;
    while (end < runes.size() && is_white_space(runes[end].code)) ++end;
    if (end > i) return end - i;
    return stands_alone(runes[i].code) ? 1 : 0;
  }

  /// Normalized, and with spaces for control characters.
  std::string cleaned(const std::string& given) const {
    const std::string text =
        options_.lower_case ? normalized(op_, decompose_, folded(given)) : normalized(op_, form_, given);
    std::string out;
    for (const Rune& rune : decode_utf8(op_, text)) {
      const int8_t kind = u_charType(static_cast<UChar32>(rune.code));
      if (kind == U_NON_SPACING_MARK && options_.lower_case) continue;
      if (kind == U_CONTROL_CHAR || kind == U_FORMAT_CHAR)
        out += ' ';
      else
        out.append(text, rune.begin, rune.size);
    }
    return out;
  }

  /// Without case, but for the tokens that stay whole.
  std::string folded(std::string_view text) const {
    if (!options_.preserve_unused) return normalized(op_, fold_, text);
    std::string out;
    size_t begin = 0;
    for (size_t at = text.find('['); at != text.npos; at = text.find('[', at)) {
      const size_t size = special_at(text, at);
      if (size > 0) {
        out += normalized(op_, fold_, text.substr(begin, at - begin));
        out += text.substr(at, size);
        begin = at + size;
      }
      at += std::max<size_t>(size, 1);
    }
    return out += normalized(op_, fold_, text.substr(begin));
  }

  std::string op_;
  BasicOptions options_;
  const icu::Normalizer2* fold_;
  const icu::Normalizer2* decompose_;
  const icu::Normalizer2* form_;
};

class BasicTokenizer final : public detail::Tokenizer {
 public:
  BasicTokenizer(const BasicOptions& options, bool offsets)
      : Tokenizer(offsets), words_("BasicTokenizer", options) {}
  std::string name() const override { return "BasicTokenizer"; }
  void split(const std::string& text, Tokens& tokens) const override { words_.split(text, tokens); }

 private:
  Words words_;
};

class BertTokenizer final : public detail::Tokenizer {
 public:
  BertTokenizer(VocabPtr vocab, const WordpieceOptions& pieces, const BasicOptions& words, bool offsets)
      : Tokenizer(offsets),
        words_("BertTokenizer", words),
        pieces_("BertTokenizer", std::move(vocab), pieces) {}
  std::string name() const override { return "BertTokenizer"; }
  void split(const std::string& text, Tokens& tokens) const override {
    Tokens words;
    words_.split(text, words);
    for (size_t i = 0; i < words.tokens.size(); ++i) pieces_.split(words.tokens[i], words.begins[i], tokens);
  }

 private:
  Words words_;
  detail::Wordpieces pieces_;
};

}  // namespace

OperationPtr basic_tokenizer(const BasicOptions& options, bool offsets) {
  return std::make_shared<BasicTokenizer>(options, offsets);
}
OperationPtr bert_tokenizer(VocabPtr vocab, const WordpieceOptions& pieces, const BasicOptions& words,
                            bool offsets) {
  return std::make_shared<BertTokenizer>(std::move(vocab), pieces, words, offsets);
}

}  // namespace sorus::data::text::plugin
