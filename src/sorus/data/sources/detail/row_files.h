#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/data/detail/derived.h"
#include "sorus/data/sources/file_sources.h"

/// What sources have in common whose files hold one row after the other.
namespace sorus::data::detail {

/// The value of a row in a column: the bytes of its numbers, or its strings.
struct Cell {
  RowType type;
  std::string numbers;
  std::vector<std::string> texts;
};
[[nodiscard]] Cell text_cell(std::string text);
template <class T>
Cell number_cell(DType dtype, T value) {
  return {{ItemKind::kNumbers, dtype, Shape{}},
          std::string(reinterpret_cast<const char*>(&value), sizeof value),
          {}};
}
/// The cells as rows of one column: dense when their types are equal.
[[nodiscard]] Column column_of(std::vector<Cell> cells);

/// What a row was read from: its bytes, and its line or byte in the file.
struct Record {
  std::string bytes;
  uint64_t place = 0;
};

/// The records of a file that is being read.
class RecordStream {
 public:
  virtual ~RecordStream() = default;
  /// False at the end. Throws IOError naming the file and the place of what is wrong with it.
  virtual bool next(Record& record) = 0;
};

/// How a kind of file is read. Thread-safe.
class RowFormat {
 public:
  virtual ~RowFormat() = default;
  [[nodiscard]] virtual const char* source() const = 0;
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  [[nodiscard]] virtual std::unique_ptr<RecordStream> open(const std::string& path) const = 0;
  /// A cell for each column. Throws IOError naming the file and the place.
  [[nodiscard]] virtual std::vector<Cell> parse(Record record, const std::string& path) const = 0;
  /// Rows of a file; by default its records are read.
  [[nodiscard]] virtual int64_t count(const std::string& path, const Run& run) const;
};

/// Lines without their ends; empty ones do not count.
class LineStream final : public RecordStream {
 public:
  LineStream(const char* source, const std::string& path);
  ~LineStream() override;
  bool next(Record& record) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct RowFilesOptions : FileOptions {
  bool whole_files = false;  ///< shards are made of whole files
};
/// Rows of the files. Throws ValueError naming format.source() for
/// options that do not fit.
[[nodiscard]] Dataset from_row_files(std::shared_ptr<const RowFormat> format, std::vector<std::string> files,
                                     const RowFilesOptions& options);

}  // namespace sorus::data::detail
