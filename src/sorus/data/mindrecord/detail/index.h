#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sorus/data/mindrecord/detail/header.h"
#include "sorus/data/mindrecord/detail/packing.h"

struct sqlite3;

/// The index beside a data file: a SQLite database that says where each row lies and what its index fields
/// hold.
namespace sorus::data::mindrecord {

/// Where the records of a row lie: pages, and offsets in them. A record begins with its length.
struct RowPlace {
  uint32_t raw_page = 0;
  uint32_t raw_begin = 0;
  uint32_t raw_end = 0;
  uint32_t blob_page = 0;
  uint32_t blob_begin = 0;
  uint32_t blob_end = 0;
};

/// The name of the index of a data file.
[[nodiscard]] inline std::string index_name(const std::string& data_file) { return data_file + ".db"; }
/// The column of an index field.
[[nodiscard]] std::string index_column(const std::string& field);

/// Closes itself.
class Database {
 public:
  /// Opens to read, or makes a new one to write. Throws IOError naming the file.
  Database(const std::string& path, bool writes);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();
  [[nodiscard]] sqlite3* get() const { return handle_; }
  [[noreturn]] void fail() const;

 private:
  std::string path_;
  sqlite3* handle_ = nullptr;
};

/// Places of all rows of a data file, by row, checked against the header and the size of the file. Throws
/// IOError naming the index for one that is missing, damaged, or not that of the data file `name`.
[[nodiscard]] std::vector<RowPlace> read_places(const std::string& index, const std::string& name,
                                                const Header& header, int64_t file_size);
/// The text of an index field for each row, as SQLite writes numbers.
[[nodiscard]] std::vector<std::string> read_index_texts(const std::string& index, const std::string& field,
                                                        int64_t rows);

/// Writes the index of one data file, row after row.
class IndexWriter {
 public:
  IndexWriter(const std::string& path, const Header& header);
  ~IndexWriter();
  /// `values`: one for each index field, in the header's order.
  void add(int64_t group, const RowPlace& place, std::span<const Scalar> values);
  /// `name`: of the data file. No add() after it.
  void finish(const std::string& name);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sorus::data::mindrecord
