#include "sorus/data/column.h"

#include <algorithm>
#include <cstring>

namespace sorus::data {

std::string RowType::text() const {
  if (kind == ItemKind::kObjects) return "object";
  if (is_text()) return (kind == ItemKind::kStrings ? "string" : "bytes") + shape.text();
  return std::string(dtype_name(dtype)) + shape.text();
}

std::span<const std::string> Column::row_strings(int64_t i) const {
  auto count = static_cast<size_t>(type.items());
  return std::span(*strings).subspan(static_cast<size_t>(offset) + static_cast<size_t>(i) * count, count);
}

size_t Column::bytes() const {
  if (is_ragged()) {
    size_t total = 0;
    for (int64_t i = 0; i < rows; ++i) total += (*cells)[static_cast<size_t>(offset + i)].bytes();
    return total;
  }
  switch (type.kind) {
    case ItemKind::kNumbers:
      return type.bytes() * static_cast<size_t>(rows);
    case ItemKind::kStrings:
    case ItemKind::kBytes: {
      size_t total = static_cast<size_t>(type.items() * rows) * sizeof(std::string);
      const auto first = static_cast<size_t>(offset);
      for (const std::string& item :
           std::span(*strings).subspan(first, static_cast<size_t>(type.items() * rows)))
        total += item.size();
      return total;
    }
    case ItemKind::kObjects:
      break;
  }
  return static_cast<size_t>(rows) * sizeof(Object);
}

Column Column::slice(int64_t begin, int64_t count) const {
  Column out = *this;
  bool per_row = is_ragged() || type.kind == ItemKind::kObjects;
  out.offset += per_row ? begin : begin * type.items();
  out.rows = count;
  if (is_ragged() && count > 0) out.type = (*cells)[static_cast<size_t>(out.offset)].type;
  return out;
}

Column Column::cell(int64_t i) const {
  return is_ragged() ? (*cells)[static_cast<size_t>(offset + i)] : slice(i, 1);
}

Column Column::gather(std::span<const int64_t> ids) const {
  auto count = static_cast<int64_t>(ids.size());
  if (is_ragged()) {
    std::vector<Column> picked;
    picked.reserve(ids.size());
    for (int64_t id : ids) picked.push_back(cell(id));
    return picked.empty() ? slice(0, 0) : concatenate(picked);
  }
  if (type.is_text()) {
    std::vector<std::string> items;
    for (int64_t id : ids) {
      auto row_items = row_strings(id);
      items.insert(items.end(), row_items.begin(), row_items.end());
    }
    return make_strings(type.shape, std::move(items), count, type.kind);
  }
  if (type.kind == ItemKind::kObjects) {
    std::vector<std::shared_ptr<Object>> items;
    for (int64_t id : ids) items.push_back(object(id));
    return make_objects(std::move(items));
  }
  Column out = make_numbers(type, count);
  size_t size = type.bytes();
  std::byte* to = out.row(0);
  for (int64_t id : ids) {
    std::memcpy(to, row(id), size);
    to += size;
  }
  return out;
}

Column Column::batched(int64_t size, const std::string& column) const {
  SORUS_CHECK(type.kind != ItemKind::kObjects, TypeError,
              "batch: column '{}' cannot be batched: got objects, need numbers or strings", column);
  if (is_ragged()) {
    Column first = cell(0);
    for (int64_t i = 1; i < rows; ++i) {
      Column other = cell(i);
      SORUS_CHECK(other.type == first.type, ShapeError,
                  "batch: rows of column '{}' differ: got {} and {}, need equal types and shapes; "
                  "padded_batch pads them",
                  column, first.type.text(), other.type.text());
    }
    raise<InternalError>("batch: column '{}' is ragged with equal rows", column);
  }
  SORUS_CHECK(type.shape.rank() < kMaxRank, ShapeError,
              "batch: column '{}' has too many dimensions: got {}, need fewer than {}", column,
              type.shape.rank(), kMaxRank);
  Column out = *this;
  out.type.shape = Shape{size};
  for (Dim d : type.shape.dims()) out.type.shape.push_back(d);
  out.rows = rows / size;
  return out;
}

Tensor Column::tensor(int64_t i) const {
  const Column one = cell(i);
  if (one.type.kind == ItemKind::kBytes && one.type.items() == 1) {
    const std::string& item = one.row_strings(0)[0];
    const auto* bytes = reinterpret_cast<const uint8_t*>(item.data());
    return Tensor(std::span<const uint8_t>(bytes, item.size()), Shape{std::ssize(item)});
  }
  SORUS_CHECK(one.type.kind == ItemKind::kNumbers, TypeError,
              "dataset: this column is no tensor: got {}, need numbers", one.type.text());
  constexpr uintptr_t kAlignment = 64;
  TensorType tensor_type{one.type.dtype, Device{}, one.type.shape};
  // A small row is copied, so that it does not keep its whole chunk.
  bool share = reinterpret_cast<uintptr_t>(one.row(0)) % kAlignment == 0 && one.type.bytes() >= 4096;
  if (!share) {
    Ref<Value> copy = make_dense(tensor_type);
    std::memcpy(copy->storage->data(), one.row(0), one.type.bytes());
    return Tensor(std::move(copy));
  }
  Ref<Value> view = Value::make(tensor_type);
  view->strides = Strides::contiguous(one.type.shape);
  view->offset = one.offset;
  view->storage = one.numbers;
  view->storage->mark_exported();  // other rows live in the same bytes
  return Tensor(std::move(view));
}

Column make_numbers(const RowType& type, int64_t rows) {
  Column out;
  out.type = type;
  out.rows = rows;
  out.numbers = Storage::allocate(type.bytes() * static_cast<size_t>(rows));
  return out;
}

Column make_strings(const Shape& shape, std::vector<std::string> items, int64_t rows, ItemKind kind) {
  Column out;
  out.type = {kind, DType::kUInt8, shape};
  out.rows = rows;
  out.strings = std::make_shared<const std::vector<std::string>>(std::move(items));
  return out;
}

Column make_objects(std::vector<std::shared_ptr<Object>> items) {
  Column out;
  out.type = {ItemKind::kObjects, DType::kUInt8, Shape{}};
  out.rows = static_cast<int64_t>(items.size());
  out.objects = std::make_shared<const std::vector<std::shared_ptr<Object>>>(std::move(items));
  return out;
}

Column rows_of(const Tensor& tensor) {
  SORUS_CHECK(tensor.rank() > 0, ShapeError,
              "dataset: a tensor without axes has no rows: got shape {}, need rank 1 or more",
              tensor.shape());
  RowType type{ItemKind::kNumbers, tensor.dtype(), Shape(tensor.shape().dims().subspan(1))};
  Column out = make_numbers(type, tensor.size(0));
  tensor.copy_to(out.numbers->data(), tensor.dtype());
  return out;
}

namespace {

Column concatenate_dense(std::span<const Column> parts, int64_t rows) {
  const Column& first = parts.front();
  if (first.type.is_text()) {
    std::vector<std::string> items;
    for (const Column& part : parts)
      for (int64_t i = 0; i < part.rows; ++i) {
        auto row_items = part.row_strings(i);
        items.insert(items.end(), row_items.begin(), row_items.end());
      }
    return make_strings(first.type.shape, std::move(items), rows, first.type.kind);
  }
  if (first.type.kind == ItemKind::kObjects) {
    std::vector<std::shared_ptr<Object>> items;
    for (const Column& part : parts)
      for (int64_t i = 0; i < part.rows; ++i) items.push_back(part.object(i));
    return make_objects(std::move(items));
  }
  Column out = make_numbers(first.type, rows);
  std::byte* to = out.row(0);
  for (const Column& part : parts) {
    size_t size = part.type.bytes() * static_cast<size_t>(part.rows);
    if (size > 0) std::memcpy(to, part.row(0), size);
    to += size;
  }
  return out;
}

}  // namespace

Column concatenate(std::span<const Column> parts) {
  if (parts.size() == 1) return parts.front();
  int64_t rows = 0;
  for (const Column& part : parts) rows += part.rows;
  bool dense = std::all_of(parts.begin(), parts.end(), [&](const Column& part) {
    return !part.is_ragged() && part.type == parts.front().type;
  });
  if (dense) return concatenate_dense(parts, rows);
  std::vector<Column> cells;
  cells.reserve(static_cast<size_t>(rows));
  for (const Column& part : parts)
    for (int64_t i = 0; i < part.rows; ++i) cells.push_back(part.cell(i));
  bool uniform = std::all_of(cells.begin(), cells.end(),
                             [&](const Column& cell) { return cell.type == cells.front().type; });
  if (uniform && !cells.empty()) return concatenate_dense(cells, rows);
  Column out;
  if (!cells.empty()) out.type = cells.front().type;
  out.rows = rows;
  out.cells = std::make_shared<const std::vector<Column>>(std::move(cells));
  return out;
}

Chunk Chunk::slice(int64_t begin, int64_t count) const {
  if (begin == 0 && count == rows) return *this;
  Chunk out;
  out.rows = count;
  out.columns.reserve(columns.size());
  for (const Column& column : columns) {
    Column part = column.slice(begin, count);
    // A view of a ragged column may have lost what made it ragged.
    if (part.is_ragged() && count > 0) {
      std::vector<Column> cells;
      for (int64_t i = 0; i < count; ++i) cells.push_back(part.cell(i));
      part = concatenate(cells);
    }
    out.columns.push_back(std::move(part));
  }
  return out;
}

Chunk Chunk::gather(std::span<const int64_t> ids) const {
  Chunk out;
  out.rows = static_cast<int64_t>(ids.size());
  for (const Column& column : columns) out.columns.push_back(column.gather(ids));
  return out;
}

size_t Chunk::bytes() const {
  size_t total = 0;
  for (const Column& column : columns) total += column.bytes();
  return total;
}

Chunk concatenate(std::span<const Chunk> parts) {
  if (parts.size() == 1) return parts.front();
  Chunk out;
  for (const Chunk& part : parts) out.rows += part.rows;
  for (size_t c = 0; c < parts.front().columns.size(); ++c) {
    std::vector<Column> columns;
    for (const Chunk& part : parts) columns.push_back(part.columns[c]);
    out.columns.push_back(concatenate(columns));
  }
  return out;
}

}  // namespace sorus::data
