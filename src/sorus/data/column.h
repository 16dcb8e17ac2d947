#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sorus/core/tensor.h"

/// Rows of a data pipeline, stored by column. Rows travel in chunks; rows of one shape lie side by side, so
/// that a batch is a view and picking rows is one gather. Columns are values: copying one copies references,
/// and nothing is written after a column has been handed on.
namespace sorus::data {

/// What the items of a column are.
enum class ItemKind : uint8_t { kNumbers, kStrings, kBytes, kObjects };

/// A value of the host language that the engine only carries, such as a Python dict. Destroyed on any thread.
class SORUS_API Object {
 public:
  virtual ~Object() = default;
};

/// Type of one row of a column. Objects have no dtype and rank 0.
struct SORUS_API RowType {
  ItemKind kind = ItemKind::kNumbers;
  DType dtype = DType::kFloat32;
  Shape shape;

  [[nodiscard]] int64_t items() const { return shape.numel(); }
  /// Items are in the store of strings.
  [[nodiscard]] bool is_text() const { return kind == ItemKind::kStrings || kind == ItemKind::kBytes; }
  /// Bytes of a row of numbers.
  [[nodiscard]] size_t bytes() const { return static_cast<size_t>(items()) * dtype_size(dtype); }
  /// "uint8(28, 28, 1)", "string()", "object".
  [[nodiscard]] std::string text() const;
  friend bool operator==(const RowType& a, const RowType& b) {
    return a.kind == b.kind && a.shape == b.shape && (a.kind != ItemKind::kNumbers || a.dtype == b.dtype);
  }
};

/// Some rows of one column. Either dense (`cells` null): all rows have `type` and lie side by side from
/// `offset` on in the store of their kind. Or ragged: one dense column of one row for each row, `type` being
/// that of the first.
struct SORUS_API Column {
  RowType type;
  int64_t rows = 0;
  int64_t offset = 0;  ///< first item: in elements of the type, strings, objects or cells
  Ref<Storage> numbers;
  std::shared_ptr<const std::vector<std::string>> strings;
  std::shared_ptr<const std::vector<std::shared_ptr<Object>>> objects;
  std::shared_ptr<const std::vector<Column>> cells;
  /// The file that a column of one row was read from, for errors; kept by the cells of ragged columns.
  std::shared_ptr<const std::string> file;

  [[nodiscard]] bool is_ragged() const { return cells != nullptr; }
  /// First byte of row i of dense numbers.
  [[nodiscard]] std::byte* row(int64_t i) const {
    return numbers->data() + static_cast<size_t>(offset + i * type.items()) * dtype_size(type.dtype);
  }
  /// The strings of row i of a dense column of strings or bytes.
  [[nodiscard]] std::span<const std::string> row_strings(int64_t i) const;
  [[nodiscard]] const std::shared_ptr<Object>& object(int64_t i) const {
    return (*objects)[static_cast<size_t>(offset + i)];
  }
  /// Approximate bytes held by these rows.
  [[nodiscard]] size_t bytes() const;

  /// Rows [begin, begin + count) as a view.
  [[nodiscard]] Column slice(int64_t begin, int64_t count) const;
  /// The rows named, in that order; copies numbers.
  [[nodiscard]] Column gather(std::span<const int64_t> ids) const;
  /// Row i as a column of one row, never ragged.
  [[nodiscard]] Column cell(int64_t i) const;
  /// Each `size` rows as one row of shape (size, ...): a view. `rows` must be a multiple of `size`. Throws
  /// ShapeError naming `column` when rows differ in type and TypeError for objects.
  [[nodiscard]] Column batched(int64_t size, const std::string& column) const;
  /// Row i of numbers as a tensor aligned to 64 bytes: shares the bytes where they are, else copies. One item
  /// of bytes becomes a tensor of uint8.
  [[nodiscard]] Tensor tensor(int64_t i) const;
};

/// Numbers for `rows` rows, contents undefined, to be filled before it is handed on.
[[nodiscard]] SORUS_API Column make_numbers(const RowType& type, int64_t rows);
/// `kind`: kStrings or kBytes.
[[nodiscard]] SORUS_API Column make_strings(const Shape& shape, std::vector<std::string> items, int64_t rows,
                                            ItemKind kind = ItemKind::kStrings);
[[nodiscard]] SORUS_API Column make_objects(std::vector<std::shared_ptr<Object>> items);
/// The first axis of a tensor as rows. Throws ShapeError for rank 0.
[[nodiscard]] SORUS_API Column rows_of(const Tensor& tensor);
/// All rows in order; dense when all types are equal. At least one part.
[[nodiscard]] SORUS_API Column concatenate(std::span<const Column> parts);

/// Some rows of all columns of a pipeline stage; no rows means the end of an epoch.
struct SORUS_API Chunk {
  std::vector<Column> columns;
  int64_t rows = 0;

  [[nodiscard]] Chunk slice(int64_t begin, int64_t count) const;
  [[nodiscard]] Chunk gather(std::span<const int64_t> ids) const;
  [[nodiscard]] size_t bytes() const;
};
/// Drops nothing and keeps the order. At least one part, all with as many columns.
[[nodiscard]] SORUS_API Chunk concatenate(std::span<const Chunk> parts);

}  // namespace sorus::data
