#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sorus/core/shape.h"
#include "sorus/data/mindrecord/schema.h"

namespace sorus::data::mindrecord {

/// One field of one row.
struct Item {
  int64_t integer = 0;     ///< of int32 and int64
  double number = 0;       ///< of float32 and float64
  std::string_view bytes;  ///< of strings, bytes, and of arrays their elements; valid as long as the Record
  Shape shape;             ///< of arrays
};

/// What Reader::read fills; used again for the next row, it keeps its memory.
struct Record {
  std::vector<Item> items;  ///< one for each field that was asked for
  std::string raw, blob;
  std::vector<std::string> unpacked;
};

/// How many rows hold a value of an index field.
struct Category {
  std::string name;
  int64_t count = 0;
};

/// Rows of a set of MindRecord files, in any order. Copies share the open files. Thread-safe; lengths and
/// offsets of the files are checked before they are used.
class SORUS_API Reader {
 public:
  /// The whole set that a data file belongs to, as its header names it; all files must be in its folder.
  /// Throws IOError naming file and byte offset of what is missing or damaged, and NotSupportedError for
  /// encrypted files.
  [[nodiscard]] static Reader open(const std::string& file);
  /// Just these files, in this order; they must have been written alike.
  [[nodiscard]] static Reader open_files(const std::vector<std::string>& files);

  [[nodiscard]] const Schema& schema() const;
  [[nodiscard]] const std::vector<std::string>& index_fields() const;
  [[nodiscard]] int64_t rows() const;
  [[nodiscard]] std::vector<int64_t> rows_by_file() const;
  [[nodiscard]] std::vector<std::string> files() const;
  /// Places of the fields named, in that order; of all fields for no names. Throws KeyError for a field that
  /// is not there.
  [[nodiscard]] std::vector<int64_t> places_of(std::span<const std::string> names) const;

  /// Fields of a row (their places in the schema). Reads no more than those need.
  void read(int64_t row, std::span<const int64_t> fields, Record& record) const;

  /// Values of an index field, in the order of their names. Throws KeyError for a field that is no index
  /// field.
  [[nodiscard]] std::vector<Category> categories(const std::string& index_field) const;
  /// Rows that hold the value.
  [[nodiscard]] std::vector<int64_t> rows_of_category(const std::string& index_field,
                                                      const std::string& name) const;

 private:
  struct State;
  explicit Reader(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  [[nodiscard]] std::vector<std::string> index_texts(const std::string& index_field) const;
  std::shared_ptr<const State> state_;
};

}  // namespace sorus::data::mindrecord
