#include "sorus/core/shape.h"

#include <algorithm>

#include "sorus/base/hash.h"

namespace sorus {
namespace {

template <class Items, class Text>
std::string tuple_text(const Items& items, Text text) {
  std::string out = "(";
  size_t n = 0;
  for (const auto& item : items) {
    if (n++ > 0) out += ", ";
    out += text(item);
  }
  return out + (n == 1 ? ",)" : ")");
}

}  // namespace

std::string Ints::text() const {
  return tuple_text(span(), [](int64_t i) { return std::to_string(i); });
}

Shape::Shape(std::span<const Dim> dims) {
  for (Dim d : dims) push_back(d);
}

Shape::Shape(std::span<const int64_t> dims) {
  for (int64_t d : dims) push_back(d);
}

void Shape::push_back(Dim d) {
  SORUS_CHECK(rank_ < kMaxRank, ShapeError, "shape: too many dimensions: got more than {}, need at most {}",
              kMaxRank, kMaxRank);
  SORUS_CHECK(d.is_symbol() || d.raw() >= 0, ShapeError,
              "shape: dimension {} is negative: got {}, need 0 or more", rank_, d.raw());
  dims_[rank_++] = d;
}

Ints Shape::sizes() const {
  Ints r;
  for (Dim d : dims()) r.push_back(d.value());
  return r;
}

bool Shape::is_concrete() const {
  return std::none_of(dims_, dims_ + rank_, [](Dim d) { return d.is_symbol(); });
}

std::string Shape::text() const {
  return tuple_text(dims(), [](Dim d) { return d.text(); });
}

uint64_t Shape::hash() const {
  uint64_t h = static_cast<uint64_t>(rank_);
  for (Dim d : dims()) h = hash_combine(h, static_cast<uint64_t>(d.raw()));
  return h;
}

void Shape::refuse_overflow() const {
  raise<ShapeError>("shape: too many elements: got {}, need fewer than 2^63", text());
}

Strides Strides::contiguous(const Shape& shape) {
  Strides s;
  int64_t step = 1;
  for (int i = shape.rank(); i-- > 0;) {
    s[i] = step;
    step *= std::max<int64_t>(shape.size(i), 1);
  }
  return s;
}

Strides Strides::dense(const Shape& shape, const Ints& order) {
  Strides s;
  int64_t step = 1;
  for (int i = order.size(); i-- > 0;) {
    int axis = static_cast<int>(order[i]);
    s[axis] = step;
    step *= std::max<int64_t>(shape.size(axis), 1);
  }
  return s;
}

Strides Strides::channels_last(const Shape& shape) {
  if (shape.rank() < 3) return contiguous(shape);
  Ints order{0};
  for (int i = 2; i < shape.rank(); ++i) order.push_back(i);
  order.push_back(1);
  return dense(shape, order);
}

bool is_contiguous(const Shape& shape, const Strides& strides) {
  int64_t step = 1;
  for (int i = shape.rank(); i-- > 0;) {
    int64_t n = shape.size(i);
    if (n == 0) return true;
    if (n != 1 && strides[i] != step) return false;
    step *= n;
  }
  return true;
}

bool is_dense(const Shape& shape, const Strides& strides) {
  return same_strides(shape, strides, Strides::dense(shape, memory_order(shape, strides)));
}

Ints memory_order(const Shape& shape, const Strides& strides) {
  Ints order;
  for (int i = 0; i < shape.rank(); ++i) order.push_back(i);
  // Insertion sort over at most eight axes; axes of extent 1 and repeated axes say nothing and stay where
  // they are.
  auto counts = [&](int64_t axis) {
    return shape.size(static_cast<int>(axis)) > 1 && strides[static_cast<int>(axis)] != 0;
  };
  for (int i = 1; i < order.size(); ++i) {
    if (!counts(order[i])) continue;
    int at = i;
    for (int j = i; j-- > 0;) {
      if (!counts(order[j])) continue;
      if (std::abs(strides[static_cast<int>(order[j])]) >= std::abs(strides[static_cast<int>(order[at])]))
        break;
      std::swap(order[j], order[at]);
      at = j;
    }
  }
  return order;
}

bool same_strides(const Shape& shape, const Strides& a, const Strides& b) {
  for (int i = 0; i < shape.rank(); ++i)
    if (shape.size(i) > 1 && a[i] != b[i]) return shape.numel() == 0;
  return true;
}

int normalize_axis(std::string_view op, int64_t axis, int rank) {
  SORUS_CHECK(axis >= -rank && axis < rank, ValueError,
              "{}: axis is out of range: got {}, need {} <= axis < {}", op, axis, -rank, rank);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Ints normalize_axes(std::string_view op, const Ints& axes, int rank) {
  Ints r;
  if (axes.empty())
    for (int i = 0; i < rank; ++i) r.push_back(i);
  for (int64_t axis : axes) r.push_back(normalize_axis(op, axis, rank));
  std::sort(r.begin(), r.end());
  SORUS_CHECK(std::adjacent_find(r.begin(), r.end()) == r.end(), ValueError,
              "{}: an axis is given twice: got {}, need each axis once", op, axes);
  return r;
}

Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  Shape out = a.rank() >= b.rank() ? a : b;
  const Shape& other = a.rank() >= b.rank() ? b : a;
  int shift = out.rank() - other.rank();
  for (int i = 0; i < other.rank(); ++i) {
    Dim& mine = out[i + shift];
    Dim theirs = other[i];
    if (mine == theirs || theirs == Dim(1)) continue;
    SORUS_CHECK(
        mine == Dim(1), ShapeError,
        "{}: shapes do not broadcast: got {} and {}, need equal extents, or 1, on each axis from the last",
        op, a, b);
    mine = theirs;
  }
  return out;
}

}  // namespace sorus
