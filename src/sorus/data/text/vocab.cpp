#include "sorus/data/text/vocab.h"

#include <algorithm>
#include <limits>

#include "sorus/data/text/detail/lines.h"

namespace sorus::data::text {
namespace {

/// Numbers tokens one after the other and refuses those that are there.
class Numbering {
 public:
  /// `where`: what follows "the token comes twice", such as the line.
  void add(const std::string& token, const std::string& where = "") {
    SORUS_CHECK(seen_.emplace(token, 0).second, ValueError,
                "Vocab: a token comes twice: got '{}'{}, need each token once", token, where);
    SORUS_CHECK(entries_.size() < static_cast<size_t>(std::numeric_limits<int32_t>::max()), ValueError,
                "Vocab: too many tokens: got more than {}, need at most as many",
                std::numeric_limits<int32_t>::max());
    entries_.emplace_back(token, static_cast<int32_t>(entries_.size()));
  }
  void add_special(const SpecialTokens& special, bool now) {
    if (special.first != now) return;
    for (const std::string& token : special.tokens) add(token, " of special_tokens");
  }
  [[nodiscard]] VocabPtr finish() { return Vocab::from_entries(std::move(entries_)); }
  [[nodiscard]] size_t size() const { return entries_.size(); }

 private:
  StringTable<char> seen_;
  std::vector<Vocab::Entry> entries_;
};

void count_strings(const Column& column, const std::string& name, StringTable<int64_t>& counts) {
  for (int64_t i = 0; i < column.rows; ++i) {
    const Column row = column.cell(i);
    SORUS_CHECK(row.type.kind == ItemKind::kStrings, TypeError,
                "Vocab: column '{}' cannot be counted: got {}, need strings", name, row.type.text());
    for (const std::string& item : row.row_strings(0)) ++counts[item];
  }
}

StringTable<int64_t> count_epoch(const Dataset& dataset, const std::vector<std::string>& columns) {
  const std::vector<std::string> names = dataset.names();
  std::vector<size_t> places;
  for (const std::string& column : columns) places.push_back(find_column("Vocab", names, column));
  if (columns.empty())
    for (size_t i = 0; i < names.size(); ++i) places.push_back(i);
  StringTable<int64_t> counts;
  detail::for_each_row(dataset, [&](const Chunk& chunk, int64_t row) {
    for (size_t place : places) count_strings(chunk.columns[place].cell(row), names[place], counts);
  });
  return counts;
}

}  // namespace

void Vocab::add(std::string token, int32_t id) {
  tokens_.insert_or_assign(id, token);
  ids_.insert_or_assign(std::move(token), id);
}

VocabPtr Vocab::from_entries(std::vector<Entry> entries) {
  auto vocab = std::make_shared<Vocab>();
  vocab->ids_.reserve(entries.size());
  for (auto& [token, id] : entries) {
    SORUS_CHECK(id >= 0, ValueError, "Vocab: number of token '{}' is out of range: got {}, need 0 or more",
                token, id);
    vocab->add(std::move(token), id);
  }
  return vocab;
}

VocabPtr Vocab::from_list(const std::vector<std::string>& words, const SpecialTokens& special) {
  Numbering numbering;
  numbering.add_special(special, true);
  for (const std::string& word : words) numbering.add(word);
  numbering.add_special(special, false);
  return numbering.finish();
}

VocabPtr Vocab::from_file(const std::string& path, const std::string& delimiter, std::optional<int64_t> size,
                          const SpecialTokens& special) {
  SORUS_CHECK(!size || *size > 0, ValueError, "Vocab: vocab_size is out of range: got {}, need 1 or more",
              *size);
  Numbering numbering;
  numbering.add_special(special, true);
  const size_t before = numbering.size();
  detail::Lines lines("Vocab", path);
  while (!(size && std::cmp_greater_equal(numbering.size() - before, *size)) && lines.next()) {
    const std::string& line = lines.line();
    // substr takes the whole line where there is none.
    numbering.add(delimiter.empty() ? line : line.substr(0, line.find_first_of(delimiter)),
                  fmt::format(" in line {} of file '{}'", lines.number(), path));
  }
  numbering.add_special(special, false);
  return numbering.finish();
}

VocabPtr Vocab::from_dataset(const Dataset& dataset, const Counts& counts) {
  SORUS_CHECK(counts.least >= 0 && counts.least <= counts.most, ValueError,
              "Vocab: freq_range is out of range: got ({}, {}), need 0 <= low <= high", counts.least,
              counts.most);
  SORUS_CHECK(counts.top > 0, ValueError, "Vocab: top_k is out of range: got {}, need 1 or more", counts.top);
  std::vector<std::pair<std::string, int64_t>> words;
  for (auto& [word, count] : count_epoch(dataset, counts.columns))
    if (count >= counts.least && count <= counts.most) words.emplace_back(word, count);
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (std::cmp_greater(words.size(), counts.top)) words.resize(static_cast<size_t>(counts.top));
  Numbering numbering;
  numbering.add_special(counts.special, true);
  for (const auto& word : words) numbering.add(word.first);
  numbering.add_special(counts.special, false);
  return numbering.finish();
}

int32_t Vocab::id(std::string_view token) const {
  auto found = ids_.find(token);
  return found == ids_.end() ? kMissing : found->second;
}

const std::string& Vocab::token(int32_t id) const {
  static const std::string none;
  auto found = tokens_.find(id);
  return found == tokens_.end() ? none : found->second;
}

std::vector<Vocab::Entry> Vocab::entries() const {
  std::vector<Entry> all(ids_.begin(), ids_.end());
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
    return a.second != b.second ? a.second < b.second : a.first < b.first;
  });
  return all;
}

}  // namespace sorus::data::text
