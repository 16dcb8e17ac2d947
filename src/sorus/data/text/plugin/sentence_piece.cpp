#include "sorus/data/text/plugin/sentence_piece.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

namespace sorus::data::text::plugin {
namespace {

void check_status(const sentencepiece::util::Status& status, const char* what) {
  SORUS_CHECK(status.ok(), RuntimeError, "SentencePieceVocab: {}: got '{}' of SentencePiece, need no error",
              what, status.ToString());
}

class Model final : public SentencePieceVocab {
 public:
  explicit Model(std::string bytes) : bytes_(std::move(bytes)) {
    check_status(processor_.LoadFromSerializedProto(bytes_), "a model cannot be read");
  }
  const std::string& bytes() const override { return bytes_; }
  int64_t size() const override { return processor_.GetPieceSize(); }
  std::vector<std::string> pieces(std::string_view text) const override {
    std::vector<std::string> out;
    check_status(processor_.Encode(text, &out), "text cannot be taken apart");
    return out;
  }
  std::vector<int32_t> ids(std::string_view text) const override {
    std::vector<int> out;
    check_status(processor_.Encode(text, &out), "text cannot be taken apart");
    return {out.begin(), out.end()};
  }

 private:
  std::string bytes_;
  sentencepiece::SentencePieceProcessor processor_;
};

class Sentences final : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const detail::NextSentence& next) : next_(next) { Next(); }
  bool done() const override { return done_; }
  void Next() override {
    std::string_view sentence;
    done_ = !next_(sentence);
    value_ = sentence;
  }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const detail::NextSentence& next_;
  std::string value_;
  bool done_ = false;
};

const char* algorithm_name(PieceAlgorithm algorithm) {
  constexpr const char* kNames[] = {"unigram", "bpe", "char", "word"};
  return kNames[static_cast<size_t>(algorithm)];
}

}  // namespace

SentencePiecePtr load_pieces(std::string bytes) { return std::make_shared<Model>(std::move(bytes)); }

std::string train_pieces(const detail::NextSentence& next, const PieceTraining& training) {
  std::unordered_map<std::string, std::string> options(training.more.begin(), training.more.end());
  // What the caller said by name comes before what stands among further options.
  options["vocab_size"] = std::to_string(training.vocab_size);
  options["character_coverage"] = std::to_string(training.character_coverage);
  options["model_type"] = algorithm_name(training.algorithm);
  options.emplace("minloglevel", "2");
  Sentences sentences(next);
  std::string bytes;
  check_status(sentencepiece::SentencePieceTrainer::Train(options, &sentences, &bytes),
               "a model cannot be trained");
  return bytes;
}

}  // namespace sorus::data::text::plugin
