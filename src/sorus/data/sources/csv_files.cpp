#include <algorithm>
#include <charconv>
#include <set>

#include "sorus/data/sources/detail/csv.h"

namespace sorus::data {
namespace detail {
namespace {

/// Where a reader of CSV stands.
enum class CsvState { kFieldBegin, kPlain, kQuoted, kQuoteInQuotes };

/// Records of CSV, quotes and all, without the end of their last line.
class CsvStream final : public RecordStream {
 public:
  CsvStream(const char* source, const std::string& path, char delimiter)
      : source_(source), bytes_(source, path), delimiter_(delimiter) {}

  bool next(Record& record) override {
    record.bytes.clear();
    record.place = line_;
    CsvState state = CsvState::kFieldBegin;
    for (std::string_view there = bytes_.peek(); !there.empty(); there = bytes_.peek()) {
      for (size_t i = 0; i < there.size(); ++i) {
        const char c = there[i];
        const bool ends = state != CsvState::kQuoted && (c == '\n' || c == '\r');
        if (c == '\n' && !after_return_) ++line_;
        if (c == '\r') ++line_;
        after_return_ = c == '\r';
        if (!ends) {
          record.bytes += c;
          state = step(state, c, record.place);
          continue;
        }
        if (!record.bytes.empty()) {
          bytes_.skip(i + 1);
          return true;
        }
        record.place = line_;  // an empty line, or the rest of a line's end
      }
      bytes_.skip(there.size());
    }
    if (state == CsvState::kQuoted) fail(record.place, "a quote that is never closed");
    return !record.bytes.empty();
  }

 private:
  CsvState step(CsvState state, char c, uint64_t begin) const {
    if (state == CsvState::kQuoted) return c == '"' ? CsvState::kQuoteInQuotes : CsvState::kQuoted;
    if (c == delimiter_) return CsvState::kFieldBegin;
    if (state == CsvState::kPlain) {
      if (c == '"') fail(begin, "a quote within a field that has none at its beginning");
      return CsvState::kPlain;
    }
    if (c == '"') return CsvState::kQuoted;  // the first of a field, or a doubled one
    if (state == CsvState::kQuoteInQuotes) fail(begin, "characters behind a closing quote");
    return CsvState::kPlain;
  }
  [[noreturn]] void fail(uint64_t line, const char* got) const {
    raise<IOError>("{}: file '{}' is no CSV at line {}: got {}, need quotes around whole fields", source_,
                   bytes_.path(), line, got);
  }

  const char* source_;
  ByteSource bytes_;
  char delimiter_;
  uint64_t line_ = 1;
  bool after_return_ = false;
};

template <class T>
Cell parse_number(std::string_view text, T given, const std::string& where) {
  constexpr DType kType = std::is_same_v<T, float> ? DType::kFloat32 : DType::kInt32;
  if (text.empty()) return number_cell(kType, given);
  std::string_view digits = text;
  while (!digits.empty() && (digits.front() == ' ' || digits.front() == '\t')) digits.remove_prefix(1);
  while (!digits.empty() && (digits.back() == ' ' || digits.back() == '\t')) digits.remove_suffix(1);
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  T value{};
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  SORUS_CHECK(error != std::errc::result_out_of_range, IOError, "{}: got '{}', need a number that {} holds",
              where, text, dtype_name(kType));
  SORUS_CHECK(error == std::errc() && end == digits.data() + digits.size(), IOError, "{}: got '{}', need {}",
              where, text, dtype_name(kType));
  return number_cell(kType, value);
}

}  // namespace

std::unique_ptr<RecordStream> open_csv(const char* source, const std::string& path, char delimiter) {
  return std::make_unique<CsvStream>(source, path, delimiter);
}

std::vector<std::string> split_csv(std::string_view record, char delimiter) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (c == '"') {
      if (quoted && i + 1 < record.size() && record[i + 1] == '"')
        fields.back() += record[++i];
      else
        quoted = !quoted;
    } else if (c == delimiter && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace detail

namespace {

constexpr const char* kSource = "CSVDataset";

/// The names in the first row of a file.
std::vector<std::string> header_of(const std::string& path, char delimiter) {
  detail::Record record;
  std::unique_ptr<detail::RecordStream> stream = detail::open_csv(kSource, path, delimiter);
  SORUS_CHECK(stream->next(record), IOError,
              "{}: file '{}' has no rows: need one with the names of the columns", kSource, path);
  return detail::split_csv(record.bytes, delimiter);
}

class CsvFormat final : public detail::RowFormat {
 public:
  CsvFormat(const CsvOptions& csv, std::vector<std::string> names)
      : delimiter_(csv.delimiter),
        header_(csv.names.empty()),
        defaults_(csv.defaults),
        names_(std::move(names)) {
    SORUS_CHECK(defaults_.size() <= names_.size(), ValueError,
                "{}: there are too many defaults: got {}, need at most one for each of {} columns", kSource,
                defaults_.size(), names_.size());
    defaults_.resize(names_.size(), std::string());
    for (const std::string& name : names_) {
      SORUS_CHECK(!name.empty(), ValueError,
                  "{}: a column has no name: got an empty one, need one for each column", kSource);
      SORUS_CHECK(std::count(names_.begin(), names_.end(), name) == 1, ValueError,
                  "{}: two columns have one name: got '{}' twice, need names that differ", kSource, name);
    }
  }
  const char* source() const override { return kSource; }
  std::vector<std::string> names() const override { return names_; }
  std::unique_ptr<detail::RecordStream> open(const std::string& path) const override {
    auto stream = detail::open_csv(kSource, path, delimiter_);
    detail::Record first;
    if (header_) (void)stream->next(first);
    return stream;
  }
  std::vector<detail::Cell> parse(detail::Record record, const std::string& path) const override {
    std::vector<std::string> fields = detail::split_csv(record.bytes, delimiter_);
    SORUS_CHECK(fields.size() == names_.size(), IOError,
                "{}: file '{}' has a row of another length at line {}: got {} fields, need {}", kSource, path,
                record.place, fields.size(), names_.size());
    std::vector<detail::Cell> row;
    for (size_t c = 0; c < fields.size(); ++c) {
      auto where = [&] {
        return fmt::format("{}: file '{}' has a wrong value in column '{}' at line {}", kSource, path,
                           names_[c], record.place);
      };
      if (const auto* integer = std::get_if<int32_t>(&defaults_[c]))
        row.push_back(detail::parse_number(fields[c], *integer, where()));
      else if (const auto* real = std::get_if<float>(&defaults_[c]))
        row.push_back(detail::parse_number(fields[c], *real, where()));
      else
        row.push_back(detail::text_cell(std::move(fields[c])));
    }
    return row;
  }

 private:
  char delimiter_;
  bool header_;
  std::vector<CsvDefault> defaults_;
  std::vector<std::string> names_;
};

}  // namespace

Dataset csv_files(std::vector<std::string> files, const CsvOptions& csv, const FileOptions& options) {
  SORUS_CHECK(csv.delimiter != '"' && csv.delimiter != '\n' && csv.delimiter != '\r', ValueError,
              "{}: delimiter is wrong: got a quote or an end of a line, need another character", kSource);
  std::vector<std::string> names = csv.names;
  if (options.sorts_files) std::sort(files.begin(), files.end());
  if (names.empty() && !files.empty()) {
    names = header_of(files.front(), csv.delimiter);
    for (const std::string& file : files)
      SORUS_CHECK(header_of(file, csv.delimiter) == names, ValueError,
                  "{}: file '{}' has other columns than '{}': need the same names in the first row", kSource,
                  file, files.front());
  }
  return detail::from_row_files(std::make_shared<CsvFormat>(csv, std::move(names)), std::move(files),
                                {options});
}

}  // namespace sorus::data
