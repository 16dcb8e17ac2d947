#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sorus/data/dataset.h"
#include "sorus/data/sources/record_schema.h"

/// Files that hold one row after the other: text, CSV, JSON lines and TFRecord. They are read from beginning
/// to end, whatever their size. Each source throws IOError naming the file and the line or byte of what is
/// wrong with it, when its rows are read, and ValueError for options that do not fit.
namespace sorus::data {

/// What comes in random order: nothing, the files, or files and rows. Rows are drawn from a buffer that holds
/// 4 files of middling length, and 10000 rows at least.
enum class RowShuffle { kNothing, kFiles, kRows };

struct FileOptions {
  int64_t num_samples = 0;  ///< the first so many rows, before they are shuffled; 0: all
  RowShuffle shuffle = RowShuffle::kRows;
  /// Shards are equally long ranges of all rows; the last ones begin anew at the first row.
  std::optional<int64_t> num_shards = {};
  std::optional<int64_t> shard_id = {};
  bool sorts_files = true;  ///< puts the files in order of their names; else they stand as given
  int64_t lanes = 1;        ///< files that are read side by side, each giving a row in turn
};

/// Lines of text files, without their ends: the column text. Empty lines do not count.
[[nodiscard]] SORUS_API Dataset text_files(std::vector<std::string> files, const FileOptions& options = {});

/// What an empty field of a column of CSV stands for; its type is that of the column: int32, float32 or a
/// string.
using CsvDefault = std::variant<int32_t, float, std::string>;
struct CsvOptions {
  char delimiter = ',';
  std::vector<CsvDefault> defaults = {};  ///< columns without one hold strings
  std::vector<std::string> names = {};    ///< none: those in the first row of each file, which must agree
};
/// CSV as RFC 4180 has it: fields may stand in quotes, with quotes doubled, and lines end in LF, CR or both.
/// Empty lines do not count. Empty strings stay empty.
[[nodiscard]] SORUS_API Dataset csv_files(std::vector<std::string> files, const CsvOptions& csv = {},
                                          const FileOptions& options = {});

/// Lines of the CLUE benchmark, a JSON object each. `task`: "AFQMC", "TNEWS", "IFLYTEK", "CMNLI", "WSC" or
/// "CSL"; `usage`: "train", "test" or "eval". Columns are the task's, in order of their names: strings,
/// numbers as uint32, int32 or float32.
[[nodiscard]] SORUS_API Dataset clue_files(std::vector<std::string> files, const std::string& task = "AFQMC",
                                           const std::string& usage = "train",
                                           const FileOptions& options = {});

enum class RecordCompression { kNone, kGzip, kZlib };
struct TfRecordOptions {
  std::optional<RecordSchema> schema = {};  ///< absent: the columns of the first row of the first file
  std::vector<std::string> columns = {};    ///< in this order; none: all
  bool shard_equal_rows = false;            ///< else shards are made of whole files
  RecordCompression compression = RecordCompression::kNone;
};
/// Rows of TFRecord files, each a message tf.Example. Features of integers are columns of int64, of floats
/// float32, of bytes uint8, of shape (n); a schema gives other types and shapes. Without schema and columns
/// several bytes of a feature are filled up with spaces to the longest. Throws KeyError for a column that is
/// not there.
[[nodiscard]] SORUS_API Dataset tfrecord_files(std::vector<std::string> files,
                                               const TfRecordOptions& what = {},
                                               const FileOptions& options = {});

}  // namespace sorus::data
