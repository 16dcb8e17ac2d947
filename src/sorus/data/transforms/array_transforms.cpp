#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "sorus/data/transform.h"

/// Transforms of arrays of any shape.
namespace sorus::data {
namespace {

using TransformPtr = std::shared_ptr<const Transform>;

template <class T>
T number(double value) {
  return static_cast<T>(static_cast<ComputeType<T>>(value));
}

/// Walks over all places of `extents`, last axis fastest, and calls f(offset in a, offset in b), with strides
/// in elements.
void walk(std::span<const int64_t> extents, std::span<const int64_t> a, std::span<const int64_t> b,
          const std::function<void(int64_t, int64_t)>& f) {
  int64_t count = 1;
  for (int64_t n : extents) count *= n;
  std::vector<int64_t> at(extents.size());
  for (int64_t k = 0; k < count; ++k) {
    int64_t from = 0;
    int64_t to = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      from += at[d] * a[d];
      to += at[d] * b[d];
    }
    f(from, to);
    for (size_t d = at.size(); d-- > 0 && ++at[d] == extents[d];) at[d] = 0;
  }
}
std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(static_cast<size_t>(shape.rank()));
  int64_t step = 1;
  for (int d = shape.rank(); d-- > 0; step *= shape.size(d)) strides[static_cast<size_t>(d)] = step;
  return strides;
}

class PadEnd final : public Transform {
 public:
  PadEnd(std::vector<int64_t> shape, double value) : shape_(std::move(shape)), value_(value) {
    for (int64_t n : shape_)
      SORUS_CHECK(n >= -1, ValueError, "PadEnd: pad_shape is out of range: got {}, need 0 or more", n);
  }
  std::string name() const override { return "PadEnd"; }
  RowType infer(const RowType& in) const override {
    SORUS_CHECK(in.shape.rank() == static_cast<int>(shape_.size()), ShapeError,
                "PadEnd: pad_shape does not fit: got {} extents for an array {}, need one for each axis",
                shape_.size(), in.shape);
    RowType out = in;
    for (size_t d = 0; d < shape_.size(); ++d)
      if (shape_[d] >= 0) out.shape[static_cast<int>(d)] = shape_[d];
    return out;
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    RowType out = infer(in);
    std::vector<int64_t> common;
    for (int d = 0; d < in.shape.rank(); ++d) common.push_back(std::min(in.shape.size(d), out.shape.size(d)));
    auto source_strides = strides_of(in.shape);
    auto target_strides = strides_of(out.shape);
    visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
      for (int64_t i = 0; i < rows; ++i) {
        const T* source = reinterpret_cast<const T*>(from) + i * in.items();
        T* target = reinterpret_cast<T*>(to) + i * out.items();
        std::fill_n(target, out.items(), number<T>(value_));
        walk(common, source_strides, target_strides, [&](int64_t a, int64_t b) { target[b] = source[a]; });
      }
    });
  }

 private:
  std::vector<int64_t> shape_;
  double value_;
};

class Fill final : public Transform {
 public:
  explicit Fill(double value) : value_(value) {}
  std::string name() const override { return "Fill"; }
  RowType infer(const RowType& in) const override { return in; }
  void run(const RowType& in, const std::byte*, std::byte* to, int64_t rows,
           const RowContext&) const override {
    visit_dtype(in.dtype, [&]<class T>(std::type_identity<T>) {
      std::fill_n(reinterpret_cast<T*>(to), in.items() * rows, number<T>(value_));
    });
  }

 private:
  double value_;
};

class Mask final : public Transform {
 public:
  Mask(Comparison comparison, double constant, DType dtype)
      : comparison_(comparison), constant_(constant), dtype_(dtype) {}
  std::string name() const override { return "Mask"; }
  RowType infer(const RowType& in) const override { return {ItemKind::kNumbers, dtype_, in.shape}; }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    visit_dtype(in.dtype, [&]<class From>(std::type_identity<From>) {
      visit_dtype(dtype_, [&]<class To>(std::type_identity<To>) {
        const auto* source = reinterpret_cast<const From*>(from);
        auto* target = reinterpret_cast<To*>(to);
        for (int64_t i = 0; i < in.items() * rows; ++i)
          target[i] =
              number<To>(holds(static_cast<double>(static_cast<ComputeType<From>>(source[i]))) ? 1 : 0);
      });
    });
  }

 private:
  [[nodiscard]] bool holds(double v) const {
    switch (comparison_) {
      case Comparison::kEqual:
        return v == constant_;
      case Comparison::kNotEqual:
        return v != constant_;
      case Comparison::kLess:
        return v < constant_;
      case Comparison::kLessEqual:
        return v <= constant_;
      case Comparison::kGreater:
        return v > constant_;
      case Comparison::kGreaterEqual:
        break;
    }
    return v >= constant_;
  }
  Comparison comparison_;
  double constant_;
  DType dtype_;
};

class Slice final : public Transform {
 public:
  explicit Slice(std::vector<SliceAxis> axes) : axes_(std::move(axes)) {
    for (const SliceAxis& axis : axes_)
      SORUS_CHECK(axis.step != 0, ValueError, "Slice: step is out of range: got 0, need another number");
  }
  std::string name() const override { return "Slice"; }
  RowType infer(const RowType& in) const override {
    SORUS_CHECK(static_cast<int>(axes_.size()) <= in.shape.rank(), ShapeError,
                "Slice: too many slices: got {} for an array {}, need at most one for each axis",
                axes_.size(), in.shape);
    RowType out = in;
    for (size_t d = 0; d < axes_.size(); ++d)
      out.shape[static_cast<int>(d)] = std::ssize(places(axes_[d], in.shape.size(static_cast<int>(d))));
    SORUS_CHECK(out.items() > 0, ShapeError,
                "Slice: nothing is left: got an array {}, need one element or more", in.shape);
    return out;
  }
  void run(const RowType& in, const std::byte* from, std::byte* to, int64_t rows,
           const RowContext&) const override {
    RowType out = infer(in);
    std::vector<std::vector<int64_t>> picked;
    for (int d = 0; d < in.shape.rank(); ++d)
      picked.push_back(
          places(static_cast<size_t>(d) < axes_.size() ? axes_[static_cast<size_t>(d)] : SliceAxis{},
                 in.shape.size(d)));
    auto strides = strides_of(in.shape);
    size_t size = dtype_size(in.dtype);
    for (int64_t i = 0; i < rows; ++i, from += in.bytes())
      for (int64_t k = 0; k < out.items(); ++k, to += size) {
        int64_t rest = k;
        int64_t at = 0;
        for (size_t d = picked.size(); d-- > 0; rest /= std::ssize(picked[d]))
          at += picked[d][static_cast<size_t>(rest % std::ssize(picked[d]))] * strides[d];
        std::memcpy(to, from + static_cast<size_t>(at) * size, size);
      }
  }

 private:
  /// The places along an axis of `n`, as Python's slices tell them.
  static std::vector<int64_t> places(const SliceAxis& axis, int64_t n) {
    std::vector<int64_t> out;
    if (!axis.list.empty()) {
      for (int64_t i : axis.list) {
        SORUS_CHECK(i >= -n && i < n, IndexError, "Slice: index is out of range: got {}, need {} to {}", i,
                    -n, n - 1);
        out.push_back(i < 0 ? i + n : i);
      }
      return out;
    }
    bool up = axis.step > 0;
    auto bound = [&](std::optional<int64_t> given, int64_t absent) {
      if (!given) return absent;
      int64_t i = *given < 0 ? *given + n : *given;
      return up ? std::clamp<int64_t>(i, 0, n) : std::clamp<int64_t>(i, -1, n - 1);
    };
    int64_t stop = bound(axis.stop, up ? n : -1);
    for (int64_t i = bound(axis.start, up ? 0 : n - 1); up ? i < stop : i > stop; i += axis.step)
      out.push_back(i);
    return out;
  }
  std::vector<SliceAxis> axes_;
};

/// Arrays of rank 1 put before and behind each row; all columns of a map become one.
class Concatenate final : public Operation {
 public:
  Concatenate(std::optional<Tensor> prepend, std::optional<Tensor> append)
      : prepend_(std::move(prepend)), append_(std::move(append)) {
    for (const auto& part : {prepend_, append_})
      SORUS_CHECK(!part || part->rank() == 1, ShapeError,
                  "Concatenate: prepend or append has the wrong rank: got {}, need 1",
                  part ? part->rank() : 0);
  }
  std::string name() const override { return "Concatenate"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr& error) const override {
    std::vector<Column> done;
    try {
      for (int64_t i = 0; i < columns.front().rows; ++i) done.push_back(join(columns, i));
    } catch (...) {
      error = std::current_exception();
    }
    return {done.empty() ? columns.front().slice(0, 0) : data::concatenate(std::span<const Column>(done))};
  }

 private:
  Column join(const std::vector<Column>& columns, int64_t i) const {
    std::vector<Column> parts;
    if (prepend_) parts.push_back(row_of(*prepend_));
    for (const Column& column : columns) parts.push_back(column.cell(i));
    if (append_) parts.push_back(row_of(*append_));
    int64_t total = 0;
    for (const Column& part : parts) {
      SORUS_CHECK(part.type.kind == ItemKind::kNumbers && part.type.dtype == parts.front().type.dtype,
                  DTypeError, "Concatenate: parts differ in type: got {} and {}, need numbers of one type",
                  parts.front().type.text(), part.type.text());
      SORUS_CHECK(part.type.shape.rank() == 1, ShapeError,
                  "Concatenate: array has the wrong shape: got {}, need rank 1", part.type.shape);
      total += part.type.items();
    }
    Column out = make_numbers({ItemKind::kNumbers, parts.front().type.dtype, Shape{total}}, 1);
    std::byte* to = out.row(0);
    for (const Column& part : parts) {
      std::memcpy(to, part.row(0), part.type.bytes());
      to += part.type.bytes();
    }
    return out;
  }
  static Column row_of(const Tensor& t) {
    Column column = make_numbers({ItemKind::kNumbers, t.dtype(), t.shape()}, 1);
    t.copy_to(column.row(0), t.dtype());
    return column;
  }
  std::optional<Tensor> prepend_;
  std::optional<Tensor> append_;
};

class Duplicate final : public Operation {
 public:
  std::string name() const override { return "Duplicate"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr&) const override {
    SORUS_CHECK(columns.size() == 1, ValueError, "Duplicate: wrong number of columns: got {}, need 1",
                columns.size());
    columns.push_back(columns.front());
    return columns;
  }
};

/// The different numbers of each row, sorted; for each element its place among them; and how often each
/// comes.
class Unique final : public Operation {
 public:
  std::string name() const override { return "Unique"; }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext&,
                            std::exception_ptr& error) const override {
    SORUS_CHECK(columns.size() == 1, ValueError, "Unique: wrong number of columns: got {}, need 1",
                columns.size());
    std::vector<Column> done[3];
    try {
      for (int64_t i = 0; i < columns.front().rows; ++i) add(columns.front().cell(i), done);
    } catch (...) {
      error = std::current_exception();
    }
    std::vector<Column> out;
    for (const auto& cells : done)
      out.push_back(cells.empty() ? columns.front().slice(0, 0)
                                  : data::concatenate(std::span<const Column>(cells)));
    return out;
  }

 private:
  static void add(const Column& row, std::vector<Column>* done) {
    SORUS_CHECK(row.type.kind == ItemKind::kNumbers, DTypeError,
                "Unique: rows have the wrong type: got {}, need numbers", row.type.text());
    int64_t count = row.type.items();
    visit_dtype(row.type.dtype, [&]<class T>(std::type_identity<T>) {
      using Compute = ComputeType<T>;
      const auto* items = reinterpret_cast<const T*>(row.row(0));
      std::map<Compute, int32_t> counts;
      for (int64_t i = 0; i < count; ++i) ++counts[static_cast<Compute>(items[i])];
      Shape shape{static_cast<int64_t>(counts.size())};
      Column values = make_numbers({ItemKind::kNumbers, row.type.dtype, shape}, 1);
      Column places = make_numbers({ItemKind::kNumbers, DType::kInt32, Shape{count}}, 1);
      Column often = make_numbers({ItemKind::kNumbers, DType::kInt32, shape}, 1);
      std::map<Compute, int32_t> place_of;
      for (const auto& [value, times] : counts) {
        auto at = static_cast<int32_t>(place_of.size());
        reinterpret_cast<T*>(values.row(0))[at] = static_cast<T>(value);
        reinterpret_cast<int32_t*>(often.row(0))[at] = times;
        place_of[value] = at;
      }
      for (int64_t i = 0; i < count; ++i)
        reinterpret_cast<int32_t*>(places.row(0))[i] = place_of[static_cast<Compute>(items[i])];
      done[0].push_back(std::move(values));
      done[1].push_back(std::move(places));
      done[2].push_back(std::move(often));
    });
  }
};

}  // namespace

TransformPtr pad_end(std::vector<int64_t> shape, double value) {
  return std::make_shared<PadEnd>(std::move(shape), value);
}
TransformPtr fill(double value) { return std::make_shared<Fill>(value); }
TransformPtr mask(Comparison comparison, double constant, DType dtype) {
  return std::make_shared<Mask>(comparison, constant, dtype);
}
TransformPtr slice(std::vector<SliceAxis> axes) { return std::make_shared<Slice>(std::move(axes)); }
OperationPtr concatenate_arrays(std::optional<Tensor> prepend, std::optional<Tensor> append) {
  return std::make_shared<Concatenate>(std::move(prepend), std::move(append));
}
OperationPtr duplicate() { return std::make_shared<Duplicate>(); }
OperationPtr unique() { return std::make_shared<Unique>(); }

}  // namespace sorus::data
