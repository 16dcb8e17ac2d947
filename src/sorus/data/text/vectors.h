#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/data/text/vocab.h"

/// Word embeddings that were trained elsewhere, from their files: a line for each token, which stands before
/// its numbers, all separated by single spaces.
namespace sorus::data::text {

/// What a file is. Plain ones may begin with a line of two numbers, which is passed over; those of fastText
/// do. The tokens of character n-grams are "2gram-ab", and a word's vector is the mean of those of its 2, 3
/// and 4 neighbouring characters.
enum class VectorsFile : uint8_t { kPlain, kGloVe, kFastText, kCharNGram };

class SORUS_API Vectors {
 public:
  /// At most `most` tokens; 0: all. Of lines with one token, the first counts. Throws ValueError when the
  /// name is none of that kind of file, and IOError naming file and line for what is wrong with its content.
  [[nodiscard]] static std::shared_ptr<const Vectors> from_file(VectorsFile kind, const std::string& path,
                                                                int64_t most = 0);

  [[nodiscard]] int64_t dim() const { return dim_; }
  [[nodiscard]] int64_t size() const { return std::ssize(places_); }
  /// Writes the vector of `token` to `to`, which has dim() elements; false when there is none.
  bool find(std::string_view token, std::span<float> to) const;

 private:
  void read_line(const std::string& line, int64_t number, const std::string& path);
  [[nodiscard]] const float* row(std::string_view token) const;
  bool mean_of_ngrams(std::string_view token, std::span<float> to) const;

  bool ngrams_ = false;
  int64_t dim_ = 0;
  StringTable<size_t> places_;  ///< of the first number in values_
  std::vector<float> values_;
};

}  // namespace sorus::data::text
