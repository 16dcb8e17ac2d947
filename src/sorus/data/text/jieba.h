#pragma once

#include <string>
#include <vector>

#include "sorus/data/transform.h"

/// Chinese text to words, by the algorithm of jieba: words of a dictionary so that their probabilities
/// multiply to the most, and a hidden Markov model over characters for what the dictionary lacks.
namespace sorus::data::text {

enum class JiebaMode : uint8_t {
  kMix,             ///< the dictionary, then the model for runs of single characters
  kMaxProbability,  ///< the dictionary alone
  kHmm              ///< the model alone
};
/// A word besides those of the dictionary; without frequency it weighs as the dictionary's median.
struct JiebaWord {
  std::string word;
  int64_t frequency = 0;
};
struct JiebaOptions {
  std::string hmm_path = {};  ///< a file such as hmm_model.utf8 of cppjieba
  std::string mp_path = {};   ///< a file such as jieba.dict.utf8: word, frequency and tag in each line
  JiebaMode mode = JiebaMode::kMix;
  std::vector<JiebaWord> words = {};
};
/// Throws IOError naming file and line where the files are not as they should be.
[[nodiscard]] SORUS_API OperationPtr jieba_tokenizer(const JiebaOptions& options, bool offsets = false);

}  // namespace sorus::data::text
