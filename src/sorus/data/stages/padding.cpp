#include "sorus/data/stages/detail/padding.h"

#include <algorithm>

namespace sorus::data {
namespace {

/// The shape to which all rows of a column are padded. Throws ShapeError when one does not fit.
Shape padded_shape(const char* op, const Column& column, const std::vector<int64_t>& wanted,
                   const std::string& name) {
  Shape shape = column.cell(0).type.shape;
  SORUS_CHECK(wanted.empty() || static_cast<int>(wanted.size()) == shape.rank(), ShapeError,
              "{}: padding of column '{}' does not fit: got {} extents, need {} as its rows have", op, name,
              wanted.size(), shape.rank());
  for (int64_t i = 0; i < column.rows; ++i) {
    Shape row = column.cell(i).type.shape;
    SORUS_CHECK(row.rank() == shape.rank(), ShapeError,
                "{}: rows of column '{}' differ in rank: got {} and {}, need equal ranks", op, name,
                shape.rank(), row.rank());
    for (int d = 0; d < shape.rank(); ++d) shape[d] = std::max(shape.size(d), row.size(d));
  }
  for (int d = 0; d < shape.rank(); ++d) {
    int64_t extent = wanted.empty() ? -1 : wanted[static_cast<size_t>(d)];
    SORUS_CHECK(extent < 0 || extent >= shape.size(d), ShapeError,
                "{}: a row of column '{}' is longer than its padding: got {}, need at most {}", op, name,
                shape.size(d), extent);
    if (extent >= 0) shape[d] = extent;
  }
  return shape;
}

/// One value `rows` times, as a column of numbers.
void fill_numbers(Column& column, double value) {
  visit_dtype(column.type.dtype, [&]<class T>(std::type_identity<T>) {
    auto* to = reinterpret_cast<T*>(column.row(0));
    std::fill_n(to, column.type.items() * column.rows, static_cast<T>(static_cast<ComputeType<T>>(value)));
  });
}

/// Copies a row into the corner of a larger one.
void copy_corner(const Column& from, const Shape& target, std::byte* to) {
  Shape source = from.type.shape;
  if (source.numel() == 0) return;
  copy_strided(from.row(0), Strides::contiguous(source), to, Strides::contiguous(target), source,
               dtype_size(from.type.dtype));
}

Column pad_numbers(const char* op, const Column& column, const Shape& shape, double value,
                   const std::string& name) {
  Column out = make_numbers({ItemKind::kNumbers, column.cell(0).type.dtype, shape}, column.rows);
  fill_numbers(out, value);
  for (int64_t i = 0; i < column.rows; ++i) {
    Column cell = column.cell(i);
    SORUS_CHECK(cell.type.kind == ItemKind::kNumbers && cell.type.dtype == out.type.dtype, DTypeError,
                "{}: rows of column '{}' differ in type: got {}, need {}", op, name, cell.type.text(),
                out.type.dtype);
    copy_corner(cell, shape, out.row(i));
  }
  return out;
}

Column pad_strings(const char* op, const Column& column, const Shape& shape, const std::string& text,
                   const std::string& name) {
  SORUS_CHECK(shape.rank() <= 1, NotSupportedError,
              "{}: column '{}' has strings of rank {}: need rank 0 or 1", op, name, shape.rank());
  std::vector<std::string> items;
  for (int64_t i = 0; i < column.rows; ++i) {
    Column cell = column.cell(i);
    auto row = cell.row_strings(0);
    items.insert(items.end(), row.begin(), row.end());
    items.resize(static_cast<size_t>((i + 1) * shape.numel()), text);
  }
  return make_strings(shape, std::move(items), column.rows, column.cell(0).type.kind);
}

}  // namespace

Column pad_column(const char* op, const Column& column, const PadTo& pad, const std::string& name) {
  Column first = column.cell(0);
  SORUS_CHECK(first.type.kind != ItemKind::kObjects, TypeError,
              "{}: column '{}' holds objects: need numbers or strings", op, name);
  Shape shape = padded_shape(op, column, pad.shape, name);
  if (first.type.is_text()) return pad_strings(op, column, shape, pad.text, name);
  return pad_numbers(op, column, shape, pad.value, name);
}

}  // namespace sorus::data
