#pragma once

#include <span>
#include <string>
#include <vector>

#include "sorus/data/mindrecord/detail/data_file.h"
#include "sorus/data/mindrecord/detail/header.h"

namespace sorus::data::mindrecord {

/// The records of a row, each with its length before it.
struct EncodedRow {
  std::string raw;
  std::string blob;
};

/// Lays rows out in the pages of one data file, as MindSpore does. Both files have temporary names until
/// they are told to take their own.
class ShardWriter {
 public:
  ShardWriter(const std::string& path, Header header);
  /// Goes on with a copy of the file at `path`.
  [[nodiscard]] static ShardWriter append(const std::string& path, Header header);
  ~ShardWriter();
  ShardWriter(ShardWriter&&) noexcept = default;
  ShardWriter& operator=(ShardWriter&&) = delete;

  void add(std::span<const EncodedRow> rows);
  [[nodiscard]] int64_t rows() const;
  [[nodiscard]] const Header& header() const { return header_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Writes header and index under temporary names, all on disk. Throws ValueError when the header has grown
  /// beyond its size.
  void finish(int64_t compression_size);
  void take_data_name();
  void take_index_name();

 private:
  struct Group {  ///< rows of a batch that join the last group (the first) or make one (the others)
    size_t begin = 0;
    size_t end = 0;
    int64_t raw = 0;  ///< bytes
    int64_t blob = 0;
  };
  ShardWriter(std::string path, std::string temporary, DataFile::Mode mode, Header header);
  [[nodiscard]] std::vector<Group> cut(std::span<const EncodedRow> rows) const;
  void write_blobs(std::span<const EncodedRow> rows, std::span<const Group> groups);
  void shift_last_group();
  void write_raws(std::span<const EncodedRow> rows, std::span<const Group> groups);
  Page& new_page(bool is_blob, int64_t type_id);
  void write_index() const;
  [[nodiscard]] Page* last(int64_t page) {
    return page < 0 ? nullptr : &header_.pages[static_cast<size_t>(page)];
  }
  [[nodiscard]] const Page* last(int64_t page) const {
    return page < 0 ? nullptr : &header_.pages[static_cast<size_t>(page)];
  }

  std::string path_, temporary_;
  DataFile file_;
  Header header_;
  int64_t last_raw_ = -1;  ///< pages; -1: none yet
  int64_t last_blob_ = -1;
};

}  // namespace sorus::data::mindrecord
