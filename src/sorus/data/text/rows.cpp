#include "sorus/data/text/detail/rows.h"

#include <algorithm>
#include <limits>

namespace sorus::data::text::detail {

StringRows::StringRows(std::string_view op, const Column& column, int least, int most) {
  const auto count = static_cast<size_t>(column.rows);
  cells_.reserve(count);
  items_.reserve(count);
  shapes_.reserve(count);
  begins_.reserve(count + 1);
  for (int64_t i = 0; i < column.rows; ++i) {
    cells_.push_back(column.cell(i));
    const Column& cell = cells_.back();
    try {
      SORUS_CHECK(cell.type.kind == ItemKind::kStrings, DTypeError,
                  "{}: rows have the wrong type: got {}, need strings", op, cell.type.text());
      const int rank = cell.type.shape.rank();
      SORUS_CHECK(rank >= least && rank <= most, ShapeError, "{}: rows have the wrong shape: got {}, need {}",
                  op, cell.type.text(),
                  most == 0       ? "one string"
                  : least == most ? "a list of strings"
                                  : fmt::format("rank {} to {}", least, most));
    } catch (...) {
      error_ = std::current_exception();
      return;
    }
    items_.push_back(cell.row_strings(0));
    shapes_.push_back(cell.type.shape);
    begins_.push_back(begins_.back() + std::ssize(items_.back()));
  }
}

int64_t run_rows(int64_t rows, std::exception_ptr& error, const std::function<void(int64_t)>& body) {
  constexpr int64_t kGrain = 16;
  std::mutex mutex;
  int64_t done = rows;
  std::exception_ptr first;
  parallel_ranges(rows, kGrain, [&](int64_t begin, int64_t end) {
    int64_t row = begin;
    try {
      for (; row < end; ++row) body(row);
    } catch (...) {
      std::lock_guard lock(mutex);
      if (row < done) {
        done = row;
        first = std::current_exception();
      }
    }
  });
  if (first) error = first;
  return done;
}

namespace {

template <class View>
Column assemble(std::span<const Shape> shapes, const View& view) {
  const auto rows = static_cast<int64_t>(shapes.size());
  const bool dense = std::adjacent_find(shapes.begin(), shapes.end(), std::not_equal_to<>()) == shapes.end();
  if (dense) return view(rows > 0 ? shapes.front() : Shape{}, rows, 0);
  std::vector<Column> cells;
  cells.reserve(shapes.size());
  int64_t offset = 0;
  for (const Shape& shape : shapes) {
    cells.push_back(view(shape, 1, offset));
    offset += shape.numel();
  }
  Column column;
  column.type = cells.front().type;
  column.rows = rows;
  column.cells = std::make_shared<const std::vector<Column>>(std::move(cells));
  return column;
}

}  // namespace

Column strings_of_rows(std::vector<std::string> items, std::span<const Shape> shapes) {
  auto store = std::make_shared<const std::vector<std::string>>(std::move(items));
  return assemble(shapes, [&](const Shape& shape, int64_t rows, int64_t offset) {
    Column column;
    column.type = {ItemKind::kStrings, DType::kUInt8, shape};
    column.rows = rows;
    column.offset = offset;
    column.strings = store;
    return column;
  });
}

Column numbers_of_rows(DType dtype, Ref<Storage> items, std::span<const Shape> shapes) {
  return assemble(shapes, [&](const Shape& shape, int64_t rows, int64_t offset) {
    Column column;
    column.type = {ItemKind::kNumbers, dtype, shape};
    column.rows = rows;
    column.offset = offset;
    column.numbers = items;
    return column;
  });
}

void check_columns(std::string_view op, const std::vector<Column>& columns, size_t wanted) {
  SORUS_CHECK(columns.size() == wanted, ValueError, "{}: number of columns does not fit: got {}, need {}", op,
              columns.size(), wanted);
}

namespace {

Column offsets_of(const std::vector<Tokens>& made, std::vector<uint32_t> Tokens::*which,
                  std::span<const Shape> shapes) {
  size_t total = 0;
  for (const Shape& shape : shapes) total += static_cast<size_t>(shape.numel());
  Ref<Storage> store = Storage::allocate(total * sizeof(uint32_t));
  auto* to = reinterpret_cast<uint32_t*>(store->data());
  for (size_t row = 0; row < shapes.size(); ++row)
    to = std::copy((made[row].*which).begin(), (made[row].*which).end(), to);
  return numbers_of_rows(DType::kUInt32, std::move(store), shapes);
}

}  // namespace

std::vector<Column> Tokenizer::apply(std::vector<Column> columns, const RowContext&,
                                     std::exception_ptr& error) const {
  const std::string op = name();
  check_columns(op, columns, 1);
  StringRows rows(op, columns.front(), 0, takes_lists() ? 1 : 0);
  error = rows.error();
  std::vector<Tokens> made(static_cast<size_t>(rows.rows()));
  const int64_t done = run_rows(rows.rows(), error, [&](int64_t row) {
    Tokens& tokens = made[static_cast<size_t>(row)];
    for (const std::string& text : rows.items(row)) {
      SORUS_CHECK(text.size() <= std::numeric_limits<uint32_t>::max(), ValueError,
                  "{}: text is too long: got {} bytes, need fewer than 2^32", op, text.size());
      split(text, tokens);
    }
    if (tokens.tokens.empty()) tokens.add("", 0, 0);
  });
  std::vector<std::string> items;
  std::vector<Shape> shapes;
  for (int64_t row = 0; row < done; ++row) {
    auto& tokens = made[static_cast<size_t>(row)].tokens;
    shapes.push_back(Shape{std::ssize(tokens)});
    std::move(tokens.begin(), tokens.end(), std::back_inserter(items));
  }
  std::vector<Column> out;
  out.push_back(strings_of_rows(std::move(items), shapes));
  if (offsets_)
    for (auto which : {&Tokens::begins, &Tokens::ends}) out.push_back(offsets_of(made, which, shapes));
  return out;
}

std::vector<Column> RowOperation::apply(std::vector<Column> columns, const RowContext&,
                                        std::exception_ptr& error) const {
  check_columns(name(), columns, inputs());
  std::vector<std::vector<Column>> done(columns.size());
  try {
    for (int64_t i = 0; i < columns.front().rows; ++i) {
      std::vector<Column> row;
      for (const Column& column : columns) row.push_back(column.cell(i));
      change(row);
      for (size_t c = 0; c < row.size(); ++c) done[c].push_back(std::move(row[c]));
    }
  } catch (...) {
    error = std::current_exception();
  }
  std::vector<Column> out;
  for (size_t c = 0; c < columns.size(); ++c)
    out.push_back(done[c].empty() ? columns[c].slice(0, 0) : concatenate(std::span<const Column>(done[c])));
  return out;
}

}  // namespace sorus::data::text::detail
