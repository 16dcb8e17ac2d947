#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sorus/data/mindrecord/schema.h"

/// What stands at the beginning of a data file: a length of 8 bytes and a text in JSON.
namespace sorus::data::mindrecord {

inline constexpr int64_t kLengthBytes = 8;  ///< of the number before the header, and before each record
inline constexpr int64_t kSmallestHeader = int64_t{16} << 10;
inline constexpr int64_t kLargestHeader = int64_t{128} << 20;
inline constexpr int64_t kSmallestPage = int64_t{32} << 10;
inline constexpr int64_t kLargestPage = int64_t{256} << 20;

/// A stretch of the file with records of one kind. Blob pages hold one group of rows each; a raw page the raw
/// records of several groups, each from an offset within the page on.
struct Page {
  int64_t id = 0;
  int64_t shard_id = 0;
  bool is_blob = false;
  int64_t type_id = 0;    ///< of a blob page: number of its group
  int64_t start_row = 0;  ///< of a blob page
  int64_t end_row = 0;
  std::vector<std::pair<int64_t, int64_t>> groups;  ///< number and offset
  int64_t used = 0;                                 ///< bytes
};

struct Header {
  int64_t header_size = int64_t{16} << 20;
  int64_t page_size = int64_t{32} << 20;
  std::vector<std::string> index_fields;
  std::vector<Page> pages;
  int64_t compression_size = 0;  ///< bytes that packing integers has saved in all shards
  Schema schema;
  std::vector<std::string> shard_addresses;
  int64_t shard_id = 0;
  std::string statistics = "null";  ///< JSON, kept as it is
  bool packs_integers = true;       ///< version 3.0; 2.0 has integers as they are

  [[nodiscard]] int64_t page_begin(int64_t page) const { return header_size + page * page_size; }
  /// True when arrays of integers are packed in this set.
  [[nodiscard]] bool packed() const;
};

/// How deep brackets nest in a JSON text. Deep ones are refused before a parser that recurses sees them.
[[nodiscard]] int64_t json_nesting(std::string_view json);
inline constexpr int64_t kDeepestJson = 64;
/// Reads the JSON of `file`. Throws IOError naming the file for what is missing, of another type or out of
/// range.
[[nodiscard]] Header parse_header(std::string_view json, const std::string& file);
/// The JSON as MindSpore writes it, byte for byte.
[[nodiscard]] std::string header_text(const Header& header);
/// Throws IOError naming both files unless they can belong to one set.
void check_same_set(const Header& a, const std::string& file_a, const Header& b, const std::string& file_b);

}  // namespace sorus::data::mindrecord
