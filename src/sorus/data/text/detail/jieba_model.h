#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "sorus/data/text/utf8.h"

/// The two models of jieba, read from their files.
namespace sorus::data::text::detail {

/// Words as a tree of characters, each with the logarithm of its probability.
class WordTree {
 public:
  /// Throws IOError naming file and line.
  explicit WordTree(const std::string& path);
  void add(const std::string& word, int64_t frequency);

  /// The ends of the best words, one after the other, as places in `runes`.
  [[nodiscard]] std::vector<size_t> cut(std::span<const Rune> runes) const;

 private:
  static constexpr double kNoWord = std::numeric_limits<double>::quiet_NaN();
  void insert(const std::vector<Rune>& word, double weight);
  /// Calls body(length, weight) for all words at the beginning, the shortest first.
  template <class Body>
  void for_each_word(std::span<const Rune> runes, const Body& body) const;

  std::unordered_map<uint64_t, uint32_t> edges_;  ///< node and character to node
  std::vector<double> weights_{kNoWord};          ///< of the word that ends at a node
  double total_ = 0;                              ///< of all frequencies
  double least_ = 0;                              ///< weight of unknown characters
  double median_ = 0;
};

/// A hidden Markov model whose states say where in a word a character stands: begin, end, middle, single.
class HiddenWords {
 public:
  /// Throws IOError naming file and line.
  explicit HiddenWords(const std::string& path);
  /// The ends of words. Letters and numbers of ASCII are words by themselves.
  [[nodiscard]] std::vector<size_t> cut(std::span<const Rune> runes) const;

 private:
  static constexpr size_t kStates = 4;
  enum State : uint8_t { kBegin, kEnd, kMiddle, kSingle };
  using Row = std::array<double, kStates>;
  [[nodiscard]] double emission(size_t state, char32_t code) const;
  /// The likeliest states of characters, by Viterbi's algorithm.
  [[nodiscard]] std::vector<uint8_t> states(std::span<const Rune> runes) const;

  Row start_{};
  std::array<Row, kStates> transitions_{};
  std::array<std::unordered_map<char32_t, double>, kStates> emissions_;
};

}  // namespace sorus::data::text::detail
