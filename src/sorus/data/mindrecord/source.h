#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sorus/data/dataset.h"
#include "sorus/data/mindrecord/writer.h"

namespace sorus::data {

struct MindRecordOptions {
  std::vector<std::string> columns = {};  ///< in this order; empty: all, in the order of their names
  /// Shuffles files or within files, instead of all rows; excludes num_samples and a sampler.
  std::optional<FileShuffle> file_shuffle = {};
  /// Shuffles files and then the rows that are read, a million at a time; excludes a sampler.
  bool partial_shuffle = false;
  SourceOptions source = {};
  /// A row for each column, which is read `num_padded` times after those of the files; an array's bytes or a
  /// tensor. With shards, all rows together must be a multiple of their number.
  mindrecord::RowValues padded_row = {};
  int64_t num_padded = 0;
};

/// Rows of MindRecord files: the set that a file belongs to, or just the files listed. Numbers are columns of
/// shape (), arrays have the shape of the schema with -1 resolved for each row, strings have shape () and
/// bytes shape (1). Headers and indexes are read now, rows when they are asked for. Throws IOError naming
/// file and byte of what is missing or damaged, KeyError for an unknown column and ValueError for options
/// that do not fit.
[[nodiscard]] SORUS_API Dataset from_mindrecord(
    const std::variant<std::string, std::vector<std::string>>& files, const MindRecordOptions& options = {});

}  // namespace sorus::data
