#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/data/dataset.h"
#include "sorus/data/transform.h"

/// Pieces of words that a model of SentencePiece knows, trained here or read from its file.
namespace sorus::data::text {

enum class PieceAlgorithm : uint8_t { kUnigram, kBpe, kChar, kWord };
struct PieceTraining {
  int64_t vocab_size = 8000;
  double character_coverage = 0.9995;
  PieceAlgorithm algorithm = PieceAlgorithm::kUnigram;
  std::map<std::string, std::string> more = {};  ///< further options of SentencePiece's trainer
};

class SentencePieceVocab;
using SentencePiecePtr = std::shared_ptr<const SentencePieceVocab>;

class SORUS_API SentencePieceVocab {
 public:
  virtual ~SentencePieceVocab() = default;
  /// Trained on the lines of text files. Throws IOError for files, RuntimeError with SentencePiece's words.
  [[nodiscard]] static SentencePiecePtr from_files(const std::vector<std::string>& paths,
                                                   const PieceTraining& training);
  /// Trained on the strings of one epoch; no columns: all.
  [[nodiscard]] static SentencePiecePtr from_dataset(const Dataset& dataset,
                                                     const std::vector<std::string>& columns,
                                                     const PieceTraining& training);
  /// A model's file. Throws IOError naming it.
  [[nodiscard]] static SentencePiecePtr load(const std::string& path);
  /// The content of a model's file.
  [[nodiscard]] static SentencePiecePtr from_bytes(std::string bytes);

  [[nodiscard]] virtual const std::string& bytes() const = 0;
  [[nodiscard]] virtual int64_t size() const = 0;
  [[nodiscard]] virtual std::vector<std::string> pieces(std::string_view text) const = 0;
  [[nodiscard]] virtual std::vector<int32_t> ids(std::string_view text) const = 0;
  /// Throws IOError naming the file.
  void save(const std::string& path) const;
};

/// The pieces of one string a row, or their numbers, int32.
[[nodiscard]] SORUS_API OperationPtr sentence_piece_tokenizer(SentencePiecePtr vocab, bool ids = false);

}  // namespace sorus::data::text
