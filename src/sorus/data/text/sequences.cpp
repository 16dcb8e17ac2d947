#include <algorithm>
#include <cstring>

#include "sorus/data/text/detail/rows.h"

namespace sorus::data::text {
namespace {

void check_items(const std::string& op, const RowType& type, int least, int most) {
  SORUS_CHECK(type.kind == ItemKind::kStrings || type.kind == ItemKind::kNumbers, DTypeError,
              "{}: rows have the wrong type: got {}, need strings or numbers", op, type.text());
  const int rank = type.shape.rank();
  SORUS_CHECK(rank >= least && rank <= most, ShapeError, "{}: rows have the wrong shape: got {}, need {}", op,
              type.text(), least == most ? "a list" : fmt::format("rank {} to {}", least, most));
}

void check_strings(const std::string& op, const RowType& type, int least, int most) {
  SORUS_CHECK(type.kind == ItemKind::kStrings, DTypeError,
              "{}: rows have the wrong type: got {}, need strings", op, type.text());
  check_items(op, type, least, most);
}

/// One row with this shape, made of spans of the items of `from`: begin and length of each.
Column pick_spans(const Column& from, const Shape& shape,
                  std::span<const std::pair<int64_t, int64_t>> spans) {
  if (from.type.is_text()) {
    std::vector<std::string> items;
    for (auto [begin, count] : spans)
      for (const std::string& item :
           from.row_strings(0).subspan(static_cast<size_t>(begin), static_cast<size_t>(count)))
        items.push_back(item);
    return make_strings(shape, std::move(items), 1);
  }
  Column out = make_numbers({ItemKind::kNumbers, from.type.dtype, shape}, 1);
  std::byte* to = out.row(0);
  const size_t size = dtype_size(from.type.dtype);
  for (auto [begin, count] : spans) {
    if (count == 0) continue;
    std::memcpy(to, from.row(0) + static_cast<size_t>(begin) * size, static_cast<size_t>(count) * size);
    to += static_cast<size_t>(count) * size;
  }
  return out;
}

/// At most `most` of the last axis; lists are views.
void cut(Column& row, int64_t most) {
  const Shape shape = row.type.shape;
  const int64_t width = shape.size(shape.rank() - 1);
  if (width <= most) return;
  if (shape.rank() == 1) {
    row.type.shape = Shape{most};
    return;
  }
  std::vector<std::pair<int64_t, int64_t>> spans;
  for (int64_t i = 0; i < shape.size(0); ++i) spans.emplace_back(i * width, most);
  row = pick_spans(row, Shape{shape.size(0), most}, spans);
}

class AddToken final : public detail::RowOperation {
 public:
  AddToken(std::string token, bool begin) : token_(std::move(token)), begin_(begin) {}
  std::string name() const override { return "AddToken"; }

 protected:
  void change(std::vector<Column>& row) const override {
    const RowType type = row[0].type;
    check_strings(name(), type, 1, 2);
    const bool table = type.shape.rank() == 2;
    const auto width = static_cast<size_t>(type.shape.size(table ? 1 : 0));
    const int64_t count = table ? type.shape.size(0) : 1;
    auto from = row[0].row_strings(0);
    std::vector<std::string> items;
    for (int64_t i = 0; i < count; ++i) {
      auto line = from.subspan(static_cast<size_t>(i) * width, width);
      if (begin_) items.push_back(token_);
      items.insert(items.end(), line.begin(), line.end());
      if (!begin_) items.push_back(token_);
    }
    const auto longer = static_cast<int64_t>(width) + 1;
    row[0] = make_strings(table ? Shape{count, longer} : Shape{longer}, std::move(items), 1);
  }

 private:
  std::string token_;
  bool begin_;
};

class Truncate final : public detail::RowOperation {
 public:
  explicit Truncate(int64_t most) : most_(most) {
    SORUS_CHECK(most > 0, ValueError, "Truncate: max_seq_len is out of range: got {}, need 1 or more", most);
  }
  std::string name() const override { return "Truncate"; }

 protected:
  void change(std::vector<Column>& row) const override {
    check_items(name(), row[0].type, 1, 2);
    cut(row[0], most_);
  }

 private:
  int64_t most_;
};

class TruncateSequencePair final : public detail::RowOperation {
 public:
  explicit TruncateSequencePair(int64_t most) : most_(most) {
    SORUS_CHECK(most >= 0, ValueError,
                "TruncateSequencePair: max_length is out of range: got {}, need 0 or more", most);
  }
  std::string name() const override { return "TruncateSequencePair"; }

 protected:
  size_t inputs() const override { return 2; }
  void change(std::vector<Column>& row) const override {
    for (const Column& column : row) check_items(name(), column.type, 1, 1);
    int64_t first = row[0].type.items();
    int64_t second = row[1].type.items();
    // The longer one gives up to the other's length; then both in turn, the second first.
    while (first + second > most_) --(first > second ? first : second);
    cut(row[0], first);
    cut(row[1], second);
  }

 private:
  int64_t most_;
};

class Ngram final : public detail::RowOperation {
 public:
  Ngram(std::vector<int64_t> sizes, NgramPad left, NgramPad right, std::string separator)
      : sizes_(std::move(sizes)),
        left_(std::move(left)),
        right_(std::move(right)),
        separator_(std::move(separator)) {
    SORUS_CHECK(!sizes_.empty(), ValueError, "Ngram: n is empty: need one or more sizes");
    for (int64_t size : sizes_)
      SORUS_CHECK(size > 0, ValueError, "Ngram: n is out of range: got {}, need 1 or more", size);
    SORUS_CHECK(left_.width >= 0 && right_.width >= 0, ValueError,
                "Ngram: a pad's width is out of range: got {} and {}, need 0 or more", left_.width,
                right_.width);
  }
  std::string name() const override { return "Ngram"; }

 protected:
  void change(std::vector<Column>& row) const override {
    check_strings(name(), row[0].type, 1, 1);
    std::vector<std::string> grams;
    for (int64_t size : sizes_) add_grams(row[0].row_strings(0), size, grams);
    const int64_t count = std::ssize(grams);
    row[0] = make_strings(Shape{count}, std::move(grams), 1);
  }

 private:
  void add_grams(std::span<const std::string> tokens, int64_t size, std::vector<std::string>& grams) const {
    const int64_t left = std::min(left_.width, size - 1);
    const int64_t count = left + std::ssize(tokens) + std::min(right_.width, size - 1);
    auto token = [&](int64_t i) -> const std::string& {
      const int64_t place = i - left;
      if (place < 0) return left_.token;
      return place < std::ssize(tokens) ? tokens[static_cast<size_t>(place)] : right_.token;
    };
    for (int64_t i = 0; i + size <= count; ++i) {
      std::string gram = token(i);
      for (int64_t j = i + 1; j < i + size; ++j) gram.append(separator_).append(token(j));
      grams.push_back(std::move(gram));
    }
    if (count < size) grams.emplace_back();
  }
  std::vector<int64_t> sizes_;
  NgramPad left_;
  NgramPad right_;
  std::string separator_;
};

class SlidingWindow final : public detail::RowOperation {
 public:
  SlidingWindow(int64_t width, int64_t axis) : width_(width), axis_(axis) {
    SORUS_CHECK(width > 0, ValueError, "SlidingWindow: width is out of range: got {}, need 1 or more", width);
    SORUS_CHECK(axis == 0 || axis == -1, ValueError,
                "SlidingWindow: axis is out of range: got {}, need 0 or -1", axis);
  }
  std::string name() const override { return "SlidingWindow"; }

 protected:
  void change(std::vector<Column>& row) const override {
    check_items(name(), row[0].type, 1, 1);
    const int64_t count = std::max<int64_t>(row[0].type.items() - width_ + 1, 0);
    std::vector<std::pair<int64_t, int64_t>> spans;
    for (int64_t i = 0; i < count; ++i) spans.emplace_back(i, width_);
    row[0] = pick_spans(row[0], count > 0 ? Shape{count, width_} : Shape{0}, spans);
  }

 private:
  int64_t width_;
  int64_t axis_;
};

}  // namespace

OperationPtr add_token(std::string token, bool begin) {
  return std::make_shared<AddToken>(std::move(token), begin);
}
OperationPtr truncate(int64_t most) { return std::make_shared<Truncate>(most); }
OperationPtr truncate_pair(int64_t most) { return std::make_shared<TruncateSequencePair>(most); }
OperationPtr ngram(std::vector<int64_t> sizes, NgramPad left, NgramPad right, std::string separator) {
  return std::make_shared<Ngram>(std::move(sizes), std::move(left), std::move(right), std::move(separator));
}
OperationPtr sliding_window(int64_t width, int64_t axis) {
  return std::make_shared<SlidingWindow>(width, axis);
}

}  // namespace sorus::data::text
