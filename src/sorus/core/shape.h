#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "sorus/core/dim.h"

namespace sorus {

/// Largest number of dimensions of a tensor.
inline constexpr int kMaxRank = 8;

/// A list of at most kMaxRank int64 without allocation: axes, sizes, strides, paddings.
class Ints {
 public:
  constexpr Ints() = default;
  constexpr Ints(std::initializer_list<int64_t> items)
      : Ints(std::span<const int64_t>(items.begin(), items.size())) {}
  constexpr explicit Ints(std::span<const int64_t> items) {
    for (int64_t item : items) push_back(item);
  }
  static Ints filled(int n, int64_t value) {
    Ints r;
    for (int i = 0; i < n; ++i) r.push_back(value);
    return r;
  }
  constexpr void push_back(int64_t item) {
    SORUS_CHECK(size_ < kCapacity, ValueError, "list: too many items: got more than {}, need at most {}",
                kCapacity, kCapacity);
    items_[static_cast<size_t>(size_++)] = item;
  }
  [[nodiscard]] constexpr int size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  constexpr int64_t& operator[](int i) { return items_[static_cast<size_t>(i)]; }
  constexpr int64_t operator[](int i) const { return items_[static_cast<size_t>(i)]; }
  constexpr int64_t* begin() { return items_.data(); }
  constexpr int64_t* end() { return items_.data() + size_; }
  [[nodiscard]] constexpr const int64_t* begin() const { return items_.data(); }
  [[nodiscard]] constexpr const int64_t* end() const { return items_.data() + size_; }
  [[nodiscard]] std::span<const int64_t> span() const { return {items_.data(), static_cast<size_t>(size_)}; }
  friend constexpr bool operator==(const Ints& a, const Ints& b) {
    if (a.size_ != b.size_) return false;
    for (int i = 0; i < a.size_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }
  [[nodiscard]] SORUS_API std::string text() const;  ///< "(2, 3)", "(5,)", "()"

 private:
  static constexpr int kCapacity = 2 * kMaxRank;  // paddings have two numbers an axis
  std::array<int64_t, kCapacity> items_{};
  int32_t size_ = 0;
};

/// Extents of a tensor, outermost first.
class SORUS_API Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims) : Shape(std::span<const Dim>(dims.begin(), dims.size())) {}
  explicit Shape(std::span<const Dim> dims);
  explicit Shape(std::span<const int64_t> dims);
  explicit Shape(const Ints& dims) : Shape(dims.span()) {}

  [[nodiscard]] int rank() const { return rank_; }
  Dim& operator[](int i) { return dims_[i]; }
  Dim operator[](int i) const { return dims_[i]; }
  /// Extent of axis i as a count.
  [[nodiscard]] int64_t size(int i) const { return dims_[i].value(); }
  void push_back(Dim d);
  [[nodiscard]] std::span<const Dim> dims() const { return {dims_, static_cast<size_t>(rank_)}; }
  /// All extents as counts. Throws ValueError when one is a symbol.
  [[nodiscard]] Ints sizes() const;
  [[nodiscard]] bool is_concrete() const;
  /// Number of elements; 1 for rank 0. Throws ValueError on symbols and on overflow.
  [[nodiscard]] int64_t numel() const {
    int64_t n = 1;
    for (int i = 0; i < rank_; ++i)
      if (__builtin_mul_overflow(n, dims_[i].value(), &n)) [[unlikely]]
        refuse_overflow();
    return n;
  }
  [[nodiscard]] std::string text() const;  ///< "(2, 3)", "(5,)", "()"
  [[nodiscard]] uint64_t hash() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (!(a.dims_[i] == b.dims_[i])) return false;
    return true;
  }

 private:
  [[noreturn]] void refuse_overflow() const;
  Dim dims_[kMaxRank];
  int32_t rank_ = 0;
};

/// Distance in elements between neighbours along each axis; 0 repeats, negative runs backwards.
class Strides {
 public:
  Strides() = default;
  /// Strides of a dense row-major tensor.
  static SORUS_API Strides contiguous(const Shape& shape);
  /// Dense strides whose axes lie in memory in the order given, outermost first.
  static SORUS_API Strides dense(const Shape& shape, const Ints& order);
  /// Dense strides with axis 1 innermost (N, spatial..., C); rank >= 3, else contiguous.
  static SORUS_API Strides channels_last(const Shape& shape);

  int64_t& operator[](int i) { return s_[i]; }
  int64_t operator[](int i) const { return s_[i]; }
  [[nodiscard]] const int64_t* data() const { return s_; }

 private:
  int64_t s_[kMaxRank] = {};
};

/// True when elements lie densely in row-major order (axes of extent 1 do not matter; empty tensors are).
[[nodiscard]] SORUS_API bool is_contiguous(const Shape& shape, const Strides& strides);
/// True when elements lie densely, without gaps or repetition, in some order of axes.
[[nodiscard]] SORUS_API bool is_dense(const Shape& shape, const Strides& strides);
/// The axes from outermost to innermost in memory, by stride (ties and broadcast axes keep logical order).
[[nodiscard]] SORUS_API Ints memory_order(const Shape& shape, const Strides& strides);
[[nodiscard]] SORUS_API bool same_strides(const Shape& shape, const Strides& a, const Strides& b);

/// `axis` counted from the front. Throws ValueError naming op and axis unless -rank <= axis < rank.
[[nodiscard]] SORUS_API int normalize_axis(std::string_view op, int64_t axis, int rank);
/// Each axis counted from the front, sorted; empty means all. Throws ValueError on a repeated axis.
[[nodiscard]] SORUS_API Ints normalize_axes(std::string_view op, const Ints& axes, int rank);
/// The shape both broadcast to (NumPy's rule). Throws ShapeError naming op and both shapes.
[[nodiscard]] SORUS_API Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b);

}  // namespace sorus

template <>
struct fmt::formatter<sorus::Shape> : fmt::formatter<std::string_view> {
  auto format(const sorus::Shape& s, format_context& c) const {
    return formatter<std::string_view>::format(s.text(), c);
  }
};
template <>
struct fmt::formatter<sorus::Ints> : fmt::formatter<std::string_view> {
  auto format(const sorus::Ints& s, format_context& c) const {
    return formatter<std::string_view>::format(s.text(), c);
  }
};
