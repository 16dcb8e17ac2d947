#pragma once

#include "sorus/data/sources/detail/row_files.h"

namespace sorus::data::detail {

/// A row of files, each a column of its bytes, and what is said about them.
struct AnnotatedRow {
  std::vector<std::string> files;
  std::vector<Cell> cells;
};

/// Rows whose files are read when they are: columns `names`, files first. With `decode` the files are images.
/// Throws IOError naming `source` and `from` when there are no rows.
[[nodiscard]] Dataset from_annotated(const char* source, const std::string& from,
                                     std::vector<std::string> names, std::vector<AnnotatedRow> rows,
                                     bool decodes, const SourceOptions& options);

/// A whole file as text. Throws IOError naming `source` and the file.
[[nodiscard]] std::string read_text(const char* source, const std::string& path);

/// Gathers numbers into a cell of shape (rows, width).
template <class T>
class TableCell {
 public:
  void add(T value) { numbers_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  [[nodiscard]] Cell finish(int64_t width) const {
    const auto items = static_cast<int64_t>(numbers_.size() / sizeof(T));
    return {{ItemKind::kNumbers, dtype_of<T>, Shape{items / width, width}}, numbers_, {}};
  }

 private:
  std::string numbers_;
};

}  // namespace sorus::data::detail
