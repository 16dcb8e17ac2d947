#include "sorus/data/text/vectors.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "sorus/data/text/detail/lines.h"
#include "sorus/data/text/utf8.h"

namespace sorus::data::text {
namespace {

void check_name(VectorsFile kind, const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  if (kind == VectorsFile::kGloVe)
    SORUS_CHECK(name.starts_with("glove.") && name.ends_with(".txt") && name.size() > 10, ValueError,
                "GloVe: file '{}' has the wrong name: got '{}', need 'glove.*.txt'", path, name);
  if (kind == VectorsFile::kFastText)
    SORUS_CHECK(name.ends_with(".vec"), ValueError,
                "FastText: file '{}' has the wrong name: got '{}', need '*.vec'", path, name);
}

std::string_view next_word(std::string_view& rest) {
  const size_t end = std::min(rest.find(' '), rest.size());
  std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

/// Two words, the second of them a count: no vector, but how many there are and of what length.
bool is_header(std::string_view line) {
  (void)next_word(line);
  std::string_view second = next_word(line);
  return line.empty() && !second.empty() && second.find_first_not_of("0123456789") == second.npos;
}

}  // namespace

std::shared_ptr<const Vectors> Vectors::from_file(VectorsFile kind, const std::string& path, int64_t most) {
  SORUS_CHECK(most >= 0, ValueError, "Vectors: max_vectors is out of range: got {}, need 0 or more", most);
  detail::Lines lines("Vectors", path);
  check_name(kind, path);
  auto vectors = std::make_shared<Vectors>();
  vectors->ngrams_ = kind == VectorsFile::kCharNGram;
  for (int64_t count = 0; (most == 0 || count < most) && lines.next();) {
    if (lines.number() == 1 && is_header(lines.line())) continue;
    vectors->read_line(lines.line(), lines.number(), path);
    ++count;
  }
  SORUS_CHECK(vectors->size() > 0, IOError,
              "Vectors: file '{}' has no vectors: got {} lines, need a token a line", path, lines.number());
  return vectors;
}

void Vectors::read_line(const std::string& line, int64_t number, const std::string& path) {
  std::string_view rest = line;
  while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r')) rest.remove_suffix(1);
  const std::string_view token = next_word(rest);
  const size_t begin = values_.size();
  while (!rest.empty()) {
    std::string_view word = next_word(rest);
    if (word.starts_with('+')) word.remove_prefix(1);
    float value = 0;
    auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
    const bool whole = failure != std::errc::invalid_argument && end == word.data() + word.size();
    SORUS_CHECK(whole, IOError,
                "Vectors: line {} of file '{}' is damaged: got '{}', need numbers after the token", number,
                path, word);
    values_.push_back(value);
  }
  const auto dim = static_cast<int64_t>(values_.size() - begin);
  SORUS_CHECK(dim > 1, IOError, "Vectors: line {} of file '{}' has too few numbers: got {}, need 2 or more",
              number, path, dim);
  SORUS_CHECK(dim_ == 0 || dim == dim_, IOError,
              "Vectors: line {} of file '{}' has another length: got {} numbers, need {} as before", number,
              path, dim, dim_);
  dim_ = dim;
  if (!places_.emplace(token, begin).second) values_.resize(begin);
}

const float* Vectors::row(std::string_view token) const {
  auto found = places_.find(token);
  return found == places_.end() ? nullptr : values_.data() + found->second;
}

bool Vectors::mean_of_ngrams(std::string_view token, std::span<float> to) const {
  std::vector<std::string_view> characters{"#BEGIN#"};
  for (const Rune& rune : decode_utf8("ToVectors", token))
    characters.push_back(token.substr(rune.begin, rune.size));
  characters.push_back("#END#");
  std::fill(to.begin(), to.end(), 0.0F);
  int64_t found = 0;
  for (size_t n = 2; n <= 4; ++n)
    for (size_t i = 0; i + n <= characters.size(); ++i) {
      std::string key = std::to_string(n) + "gram-";
      for (size_t j = i; j < i + n; ++j) key += characters[j];
      const float* values = row(key);
      if (!values) continue;
      ++found;
      for (size_t j = 0; j < to.size(); ++j) to[j] += values[j];
    }
  for (float& value : to) value /= static_cast<float>(std::max<int64_t>(found, 1));
  return found > 0;
}

bool Vectors::find(std::string_view token, std::span<float> to) const {
  if (ngrams_) return mean_of_ngrams(token, to);
  const float* values = row(token);
  if (values) std::copy_n(values, to.size(), to.data());
  return values != nullptr;
}

}  // namespace sorus::data::text
