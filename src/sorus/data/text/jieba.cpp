#include "sorus/data/text/jieba.h"

#include <optional>

#include "sorus/data/text/detail/jieba_model.h"
#include "sorus/data/text/detail/rows.h"

namespace sorus::data::text {
namespace {

using Runes = std::span<const Rune>;

class JiebaTokenizer final : public detail::Tokenizer {
 public:
  JiebaTokenizer(const JiebaOptions& options, bool offsets)
      : Tokenizer(offsets), mode_(options.mode), words_(options.mp_path), hidden_(options.hmm_path) {
    for (const JiebaWord& word : options.words) words_.add(word.word, word.frequency);
  }
  std::string name() const override { return "JiebaTokenizer"; }
  void split(const std::string& text, detail::Tokens& tokens) const override {
    const std::vector<Rune> runes = decode_utf8(name(), text);
    for (size_t begin = 0; begin < runes.size();) {
      size_t end = begin;
      while (end < runes.size() && !separates(runes[end].code)) ++end;
      end += end == begin ? 1 : 0;  // the separator itself
      split_part(text, Runes(runes).subspan(begin, end - begin), tokens);
      begin = end;
    }
  }

 private:
  /// Words never reach over these.
  static bool separates(char32_t code) {
    return code == ' ' || code == '\t' || code == '\n' || code == U'，' || code == U'。';
  }

  void split_part(const std::string& text, Runes runes, detail::Tokens& tokens) const {
    auto add = [&](size_t begin, size_t end) {
      tokens.add_part(text, runes[begin].begin, runes[end - 1].begin + runes[end - 1].size);
    };
    const std::vector<size_t> ends = mode_ == JiebaMode::kHmm ? hidden_.cut(runes) : words_.cut(runes);
    size_t begin = 0;
    size_t singles = 0;  // where a run of single characters begins that waits for the model
    auto end_singles = [&] {
      if (mode_ != JiebaMode::kMix || singles == begin) return;
      size_t from = singles;
      for (size_t end : hidden_.cut(runes.subspan(singles, begin - singles))) {
        add(from, singles + end);
        from = singles + end;
      }
    };
    for (size_t end : ends) {
      if (mode_ == JiebaMode::kMix && end - begin == 1) {
        begin = end;
        continue;
      }
      end_singles();
      add(begin, end);
      begin = singles = end;
    }
    end_singles();
  }

  JiebaMode mode_;
  detail::WordTree words_;
  detail::HiddenWords hidden_;
};

}  // namespace

OperationPtr jieba_tokenizer(const JiebaOptions& options, bool offsets) {
  return std::make_shared<JiebaTokenizer>(options, offsets);
}

}  // namespace sorus::data::text
