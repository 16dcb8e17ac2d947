#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/data/text/text.h"

/// What operations on rows of strings have in common.
namespace sorus::data::text::detail {

/// The strings and shape of each row of a column. Throws DTypeError naming `op` unless all are strings, and
/// ShapeError unless ranks are from `least` to `most`.
class SORUS_API StringRows {
 public:
  StringRows(std::string_view op, const Column& column, int least, int most);
  [[nodiscard]] int64_t rows() const { return std::ssize(items_); }
  [[nodiscard]] std::span<const std::string> items(int64_t row) const {
    return items_[static_cast<size_t>(row)];
  }
  [[nodiscard]] const std::vector<Shape>& shapes() const { return shapes_; }
  /// The number of the first item of a row, counted over all rows.
  [[nodiscard]] int64_t begin(int64_t row) const { return begins_[static_cast<size_t>(row)]; }
  /// Items of all rows.
  [[nodiscard]] int64_t total() const { return begins_.back(); }
  /// What went wrong with the type of row rows(), which therefore is not here.
  [[nodiscard]] const std::exception_ptr& error() const { return error_; }

 private:
  std::vector<Column> cells_;
  std::vector<std::span<const std::string>> items_;
  std::vector<Shape> shapes_;
  std::vector<int64_t> begins_{0};
  std::exception_ptr error_;
};

/// Calls body(row) for each row, in pieces on the thread pool. Rows before the first that throws are done;
/// gives how many those are and sets `error`.
SORUS_API int64_t run_rows(int64_t rows, std::exception_ptr& error, const std::function<void(int64_t)>& body);

/// Items of rows with these shapes, one after the other: dense where all shapes are equal, else ragged views
/// of one store. Items behind the last row are left alone.
[[nodiscard]] SORUS_API Column strings_of_rows(std::vector<std::string> items, std::span<const Shape> shapes);
[[nodiscard]] SORUS_API Column numbers_of_rows(DType dtype, Ref<Storage> items,
                                               std::span<const Shape> shapes);

/// The columns that an operation gets. Throws ValueError naming it when there are not so many.
SORUS_API void check_columns(std::string_view op, const std::vector<Column>& columns, size_t wanted);

/// An operation on one column of strings; each string by itself gives an item of type To: std::string, or a
/// number of `dtype`.
template <class To>
[[nodiscard]] Column map_strings(std::string_view op, const std::vector<Column>& columns, DType dtype,
                                 std::exception_ptr& error,
                                 const std::function<To(const std::string&)>& convert) {
  check_columns(op, columns, 1);
  StringRows rows(op, columns.front(), 0, kMaxRank);
  error = rows.error();
  std::vector<std::string> strings;
  Ref<Storage> numbers;
  if constexpr (std::is_same_v<To, std::string>)
    strings.resize(static_cast<size_t>(rows.total()));
  else
    numbers = Storage::allocate(static_cast<size_t>(rows.total()) * sizeof(To));
  const int64_t done = run_rows(rows.rows(), error, [&](int64_t row) {
    auto at = static_cast<size_t>(rows.begin(row));
    for (const std::string& item : rows.items(row)) {
      if constexpr (std::is_same_v<To, std::string>)
        strings[at++] = convert(item);
      else
        reinterpret_cast<To*>(numbers->data())[at++] = convert(item);
    }
  });
  auto shapes = std::span(rows.shapes()).first(static_cast<size_t>(done));
  if constexpr (std::is_same_v<To, std::string>)
    return strings_of_rows(std::move(strings), shapes);
  else
    return numbers_of_rows(dtype, std::move(numbers), shapes);
}

/// Tokens of a row and where they lie in its text, in bytes.
struct Tokens {
  std::vector<std::string> tokens;
  std::vector<uint32_t> begins;
  std::vector<uint32_t> ends;

  void add(std::string token, size_t begin, size_t end) {
    tokens.push_back(std::move(token));
    begins.push_back(static_cast<uint32_t>(begin));
    ends.push_back(static_cast<uint32_t>(end));
  }
  void add_part(std::string_view text, size_t begin, size_t end) {
    add(std::string(text.substr(begin, end - begin)), begin, end);
  }
};

/// An operation that takes rows of strings apart.
class SORUS_API Tokenizer : public Operation {
 public:
  explicit Tokenizer(bool offsets) : offsets_(offsets) {}
  [[nodiscard]] std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                                          std::exception_ptr& error) const final;
  /// The tokens of one text. Throws what is wrong with it.
  virtual void split(const std::string& text, Tokens& tokens) const = 0;

 protected:
  /// Whether rows may be lists of strings, which are taken apart one by one.
  [[nodiscard]] virtual bool takes_lists() const { return false; }

 private:
  bool offsets_;
};

/// An operation on whole rows, one row after the other.
class SORUS_API RowOperation : public Operation {
 public:
  [[nodiscard]] std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                                          std::exception_ptr& error) const final;

 protected:
  [[nodiscard]] virtual size_t inputs() const { return 1; }
  /// Columns of one row, changed in place.
  virtual void change(std::vector<Column>& row) const = 0;
};

/// The pieces of one word, `at` being its place in the text.
class SORUS_API Wordpieces {
 public:
  Wordpieces(std::string op, VocabPtr vocab, const WordpieceOptions& options);
  void split(const std::string& word, size_t at, Tokens& tokens) const;

 private:
  std::string op_;
  VocabPtr vocab_;
  WordpieceOptions options_;
};

}  // namespace sorus::data::text::detail
