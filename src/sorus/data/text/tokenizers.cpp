#include <algorithm>

#include "sorus/data/text/detail/rows.h"
#include "sorus/data/text/utf8.h"

namespace sorus::data::text {
namespace {

using detail::Tokens;

class UnicodeCharTokenizer final : public detail::Tokenizer {
 public:
  using Tokenizer::Tokenizer;
  std::string name() const override { return "UnicodeCharTokenizer"; }
  void split(const std::string& text, Tokens& tokens) const override {
    for (const Rune& rune : decode_utf8(name(), text))
      tokens.add_part(text, rune.begin, rune.begin + rune.size);
  }
};

class WhitespaceTokenizer final : public detail::Tokenizer {
 public:
  using Tokenizer::Tokenizer;
  std::string name() const override { return "WhitespaceTokenizer"; }
  void split(const std::string& text, Tokens& tokens) const override {
    size_t begin = 0;
    for (const Rune& rune : decode_utf8(name(), text)) {
      if (!is_white_space(rune.code)) continue;
      if (rune.begin > begin) tokens.add_part(text, begin, rune.begin);
      begin = rune.begin + rune.size;
    }
    if (begin < text.size()) tokens.add_part(text, begin, text.size());
  }
};

class WordpieceTokenizer final : public detail::Tokenizer {
 public:
  WordpieceTokenizer(VocabPtr vocab, const WordpieceOptions& options, bool offsets)
      : Tokenizer(offsets), pieces_("WordpieceTokenizer", std::move(vocab), options) {}
  std::string name() const override { return "WordpieceTokenizer"; }
  void split(const std::string& text, Tokens& tokens) const override { pieces_.split(text, 0, tokens); }

 protected:
  bool takes_lists() const override { return true; }

 private:
  detail::Wordpieces pieces_;
};

/// Steps of FilterWikipediaXML, each over the bytes of the whole text.
namespace wiki {

/// In each line what stands from its first '<' to its last '>' behind it.
std::string without_tags_of_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of("\n\v\f\r"), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    const size_t open = line.find('<');
    const size_t close = line.rfind('>');
    const bool tagged = open != line.npos && close != line.npos && open < close;
    out += tagged ? line.substr(0, open) : line;
    if (tagged) out += line.substr(close + 1);
    text.remove_prefix(end);
  }
  return out;
}

/// Each part from `open` to the next `close` becomes `to`.
std::string replace_spans(std::string_view text, char open, char close, std::string_view to) {
  std::string out;
  for (;;) {
    const size_t begin = text.find(open);
    const size_t end = begin == text.npos ? text.npos : text.find(close, begin);
    if (end == text.npos) return out += text;
    out += text.substr(0, begin);
    out += to;
    text.remove_prefix(end + 1);
  }
}

/// Lower-case letters and line ends stay, digits become words, anything else a space.
std::string letters_of(std::string_view text) {
  constexpr std::string_view kDigits[] = {" zero ", " one ", " two ",   " three ", " four ",
                                          " five ", " six ", " seven ", " eight ", " nine "};
  std::string out;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z')
      out += static_cast<char>(c - 'A' + 'a');
    else if (c >= '0' && c <= '9')
      out += kDigits[c - '0'];
    else
      out += (c >= 'a' && c <= 'z') || c == '\n' ? c : ' ';
  }
  return out;
}

/// Runs of spaces become one. A line that begins with a space continues the one before.
std::string joined(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ' && !out.empty() && out.back() == '\n') {
      out.pop_back();
      while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
    } else if (text[i] != ' ' || out.empty() || out.back() != ' ') {
      out += text[i];
    }
  }
  return out;
}

}  // namespace wiki

class FilterWikipediaXML final : public Operation {
 public:
  std::string name() const override { return "FilterWikipediaXML"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr& error) const override {
    return {
        detail::map_strings<std::string>(name(), columns, DType::kUInt8, error, [this](const std::string& s) {
          check_utf8(name(), s);
          return filter(s);
        })};
  }

 private:
  static std::string filter(const std::string& text) {
    std::string rest = wiki::replace_spans(wiki::without_tags_of_lines(text), '<', '>', "");
    rest = wiki::joined(wiki::letters_of(wiki::replace_spans(rest, '&', ';', " ")));
    std::string out;
    for (char c : rest) {
      const bool space = c == ' ' || c == '\n';
      if (!space) out += c;
      if (space && !out.empty() && out.back() != ' ') out += ' ';
    }
    if (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
  }
};

}  // namespace

namespace detail {

Wordpieces::Wordpieces(std::string op, VocabPtr vocab, const WordpieceOptions& options)
    : op_(std::move(op)), vocab_(std::move(vocab)), options_(options) {
  SORUS_CHECK(vocab_ != nullptr, ValueError, "{}: vocab is missing: need a vocabulary", op_);
  SORUS_CHECK(options.max_bytes >= 0, ValueError,
              "{}: max_bytes_per_token is out of range: got {}, need 0 or more", op_, options.max_bytes);
}

void Wordpieces::split(const std::string& word, size_t at, Tokens& tokens) const {
  const std::vector<Rune> runes = decode_utf8(op_, word);
  const size_t before = tokens.tokens.size();
  const auto drop_pieces = [&] {
    tokens.tokens.resize(before);
    tokens.begins.resize(before);
    tokens.ends.resize(before);
    tokens.add(options_.unknown.empty() ? word : options_.unknown, at, at + word.size());
  };
  if (std::cmp_greater(word.size(), options_.max_bytes)) return drop_pieces();
  std::string piece;
  for (size_t begin = 0; begin < runes.size();) {
    const size_t from = runes[begin].begin;
    size_t end = runes.size();
    for (; end > begin; --end) {
      const size_t to = runes[end - 1].begin + runes[end - 1].size;
      piece = from > 0 ? options_.suffix_indicator : "";
      piece.append(word, from, to - from);
      if (vocab_->id(piece) == Vocab::kMissing) continue;
      tokens.add(std::move(piece), at + from, at + to);
      break;
    }
    if (end == begin) return drop_pieces();
    begin = end;
  }
}

}  // namespace detail

OperationPtr unicode_char_tokenizer(bool offsets) { return std::make_shared<UnicodeCharTokenizer>(offsets); }
OperationPtr whitespace_tokenizer(bool offsets) { return std::make_shared<WhitespaceTokenizer>(offsets); }
OperationPtr wordpiece_tokenizer(VocabPtr vocab, const WordpieceOptions& options, bool offsets) {
  return std::make_shared<WordpieceTokenizer>(std::move(vocab), options, offsets);
}
OperationPtr filter_wikipedia_xml() { return std::make_shared<FilterWikipediaXML>(); }

}  // namespace sorus::data::text
