#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sorus/data/dataset.h"

/// The tokens that a model knows, and their numbers.
namespace sorus::data::text {

/// Looks strings up by views, without making one.
struct StringHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <class Value>
using StringTable = std::unordered_map<std::string, Value, StringHash, std::equal_to<>>;

class Vocab;
using VocabPtr = std::shared_ptr<const Vocab>;

/// Tokens besides those that are counted or read, numbered before or after them.
struct SpecialTokens {
  std::vector<std::string> tokens = {};
  bool first = true;
};

class SORUS_API Vocab {
 public:
  static constexpr int32_t kMissing = -1;
  using Entry = std::pair<std::string, int32_t>;

  /// Tokens with numbers of their own, none negative. Of tokens with one number, the last has it.
  [[nodiscard]] static VocabPtr from_entries(std::vector<Entry> entries);
  /// Numbered from 0 on. Throws ValueError when a token comes twice.
  [[nodiscard]] static VocabPtr from_list(const std::vector<std::string>& words,
                                          const SpecialTokens& special = {});
  /// A token a line: what stands before the first of the characters of `delimiter`, or the whole line. With
  /// `size`, the first so many lines. Throws IOError naming the file, and ValueError naming file and line
  /// where a token comes twice.
  [[nodiscard]] static VocabPtr from_file(const std::string& path, const std::string& delimiter = "",
                                          std::optional<int64_t> size = {},
                                          const SpecialTokens& special = {});
  struct Counts {
    std::vector<std::string> columns = {};  ///< empty: all
    int64_t least = 0;                      ///< how often a token comes, at least and at most
    int64_t most = INT64_MAX;
    int64_t top = INT64_MAX;  ///< so many of the most frequent
    SpecialTokens special = {};
  };
  /// The strings of one epoch of a dataset, the most frequent first, equally frequent ones in order of their
  /// bytes. Throws TypeError for columns that are no strings.
  [[nodiscard]] static VocabPtr from_dataset(const Dataset& dataset, const Counts& counts);

  /// kMissing when there is none.
  [[nodiscard]] int32_t id(std::string_view token) const;
  /// Empty when there is none.
  [[nodiscard]] const std::string& token(int32_t id) const;
  /// In order of their numbers.
  [[nodiscard]] std::vector<Entry> entries() const;
  [[nodiscard]] size_t size() const { return ids_.size(); }

 private:
  void add(std::string token, int32_t id);

  StringTable<int32_t> ids_;
  std::unordered_map<int32_t, std::string> tokens_;
};

}  // namespace sorus::data::text
