#include "sorus/data/text/detail/jieba_model.h"

#include <algorithm>
#include <charconv>

#include "sorus/data/text/detail/lines.h"

namespace sorus::data::text::detail {
namespace {

constexpr const char* kOp = "JiebaTokenizer";
constexpr double kImpossible = -3.14e+100;  // as jieba has it: far below any sum of logarithms
constexpr size_t kLongestWord = 512;

[[noreturn]] void refuse(const Lines& lines, const std::string& path, std::string_view what,
                         std::string_view need) {
  constexpr size_t kShown = 40;
  raise<IOError>("{}: line {} of file '{}' is damaged: got '{}', need {}", kOp, lines.number(), path,
                 what.substr(0, kShown), need);
}

bool parse(std::string_view word, double& value) {
  if (word.starts_with('+')) word.remove_prefix(1);
  auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
  return failure == std::errc() && end == word.data() + word.size() && std::isfinite(value);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

WordTree::WordTree(const std::string& path) {
  Lines lines(kOp, path);
  std::vector<std::pair<std::vector<Rune>, double>> words;
  while (lines.next()) {
    const auto parts = split(without_return(lines.line()), ' ');
    if (parts.empty()) continue;
    double frequency = 0;
    const bool counted =
        parts.size() >= 2 && parts.size() <= 3 && parse(parts[1], frequency) && frequency > 0;
    if (!counted || first_bad_byte(parts[0]) != std::string_view::npos)
      refuse(lines, path, lines.line(), "a word, its frequency and its tag");
    total_ += frequency;
    words.emplace_back(decode_utf8(kOp, parts[0]), frequency);
  }
  SORUS_CHECK(!words.empty(), IOError, "{}: file '{}' has no words: got {} lines, need a word a line", kOp,
              path, lines.number());
  std::vector<double> sorted;
  for (auto& [word, weight] : words) {
    weight = std::log(weight / total_);
    sorted.push_back(weight);
    insert(word, weight);
  }
  std::sort(sorted.begin(), sorted.end());
  least_ = sorted.front();
  median_ = sorted[sorted.size() / 2];
}

void WordTree::add(const std::string& word, int64_t frequency) {
  SORUS_CHECK(!word.empty(), ValueError, "{}: a word is empty: need one or more characters", kOp);
  SORUS_CHECK(frequency >= 0, ValueError,
              "{}: frequency of word '{}' is out of range: got {}, need 0 or more", kOp, word, frequency);
  insert(decode_utf8(kOp, word),
         frequency == 0 ? median_ : std::log(static_cast<double>(frequency) / total_));
}

void WordTree::insert(const std::vector<Rune>& word, double weight) {
  uint32_t node = 0;
  for (const Rune& rune : word) {
    auto [edge, added] =
        edges_.try_emplace(uint64_t{node} << 32 | rune.code, static_cast<uint32_t>(weights_.size()));
    if (added) weights_.push_back(kNoWord);
    node = edge->second;
  }
  weights_[node] = weight;
}

template <class Body>
void WordTree::for_each_word(std::span<const Rune> runes, const Body& body) const {
  uint32_t node = 0;
  for (size_t i = 0; i < std::min(runes.size(), kLongestWord); ++i) {
    auto edge = edges_.find(uint64_t{node} << 32 | runes[i].code);
    if (edge == edges_.end()) return;
    node = edge->second;
    if (!std::isnan(weights_[node])) body(i + 1, weights_[node]);
  }
}

std::vector<size_t> WordTree::cut(std::span<const Rune> runes) const {
  // From the end: the best weight of what begins at each place, and the length of its first word.
  std::vector<double> best(runes.size() + 1, 0);
  std::vector<size_t> lengths(runes.size(), 1);
  for (size_t i = runes.size(); i-- > 0;) {
    best[i] = least_ + best[i + 1];
    bool known = false;
    for_each_word(runes.subspan(i), [&](size_t length, double weight) {
      const double sum = weight + best[i + length];
      // The word of one character takes the place of the unknown one.
      if (sum > best[i] || (length == 1 && !known)) {
        best[i] = sum;
        lengths[i] = length;
      }
      known = true;
    });
  }
  std::vector<size_t> ends;
  for (size_t i = 0; i < runes.size();) ends.push_back(i += lengths[i]);
  return ends;
}

HiddenWords::HiddenWords(const std::string& path) {
  Lines lines(kOp, path);
  auto next = [&]() -> std::string_view {
    while (lines.next()) {
      const std::string_view line = without_return(lines.line());
      if (!line.empty() && line.front() != '#') return line;
    }
    raise<IOError>("{}: file '{}' is cut off: got {} lines, need a hidden Markov model", kOp, path,
                   lines.number());
  };
  auto read_row = [&](Row& row) {
    const auto parts = split(next(), ' ');
    bool numbers = parts.size() == kStates;
    for (size_t i = 0; numbers && i < kStates; ++i) numbers = parse(parts[i], row[i]);
    if (!numbers) refuse(lines, path, lines.line(), "four numbers");
  };
  read_row(start_);
  for (Row& row : transitions_) read_row(row);
  for (auto& emissions : emissions_)
    for (std::string_view entry : split(next(), ',')) {
      const size_t colon = entry.rfind(':');
      double weight = 0;
      const bool pair = colon != entry.npos && first_bad_byte(entry) == entry.npos &&
                        parse(entry.substr(colon + 1), weight);
      const auto runes = pair ? decode_utf8(kOp, entry.substr(0, colon)) : std::vector<Rune>();
      if (runes.size() != 1) refuse(lines, path, entry, "a character, ':' and a number");
      emissions.emplace(runes[0].code, weight);
    }
}

double HiddenWords::emission(size_t state, char32_t code) const {
  auto found = emissions_[state].find(code);
  return found == emissions_[state].end() ? kImpossible : found->second;
}

std::vector<uint8_t> HiddenWords::states(std::span<const Rune> runes) const {
  std::vector<std::array<uint8_t, kStates>> before(runes.size());
  Row weights{};
  for (size_t s = 0; s < kStates; ++s) weights[s] = start_[s] + emission(s, runes[0].code);
  for (size_t i = 1; i < runes.size(); ++i) {
    Row next{};
    for (size_t s = 0; s < kStates; ++s) {
      const double emitted = emission(s, runes[i].code);
      next[s] = kImpossible;
      before[i][s] = kEnd;
      for (uint8_t from = 0; from < kStates; ++from) {
        const double sum = weights[from] + transitions_[from][s] + emitted;
        if (sum > next[s]) {
          next[s] = sum;
          before[i][s] = from;
        }
      }
    }
    weights = next;
  }
  std::vector<uint8_t> path(runes.size());
  path.back() = weights[kEnd] >= weights[kSingle] ? kEnd : kSingle;
  for (size_t i = runes.size() - 1; i > 0; --i) path[i - 1] = before[i][path[i]];
  return path;
}

namespace {

bool is_letter(char32_t code) { return (code | 0x20) >= 'a' && (code | 0x20) <= 'z'; }
bool is_digit(char32_t code) { return code >= '0' && code <= '9'; }

/// Length of the word of ASCII characters at the beginning: letters and digits, a number, or one character.
size_t ascii_word(std::span<const Rune> runes) {
  size_t length = 1;
  if (is_letter(runes[0].code)) {
    while (length < runes.size() && (is_letter(runes[length].code) || is_digit(runes[length].code))) ++length;
  } else if (is_digit(runes[0].code)) {
    while (length < runes.size() && (is_digit(runes[length].code) || runes[length].code == '.')) ++length;
  }
  return length;
}

}  // namespace

std::vector<size_t> HiddenWords::cut(std::span<const Rune> runes) const {
  std::vector<size_t> ends;
  for (size_t i = 0; i < runes.size();) {
    if (runes[i].code < 0x80) {
      ends.push_back(i += ascii_word(runes.subspan(i)));
      continue;
    }
    size_t end = i;
    while (end < runes.size() && runes[end].code >= 0x80) ++end;
    const std::vector<uint8_t> path = states(runes.subspan(i, end - i));
    for (uint8_t state : path) {
      ++i;
      if (state == kEnd || state == kSingle) ends.push_back(i);
    }
  }
  return ends;
}

}  // namespace sorus::data::text::detail
