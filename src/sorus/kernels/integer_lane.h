#pragma once

#include <cstdint>
#include <type_traits>

/// IntegerLane<T>: one integer with the words that generic rows use. Arithmetic wraps modulo 2^bits; nothing
/// is undefined behaviour. Bool travels as uint8_t.
namespace sorus {

struct Truth {
  bool v;
  friend Truth operator&(Truth a, Truth b) { return {a.v && b.v}; }
  friend Truth operator|(Truth a, Truth b) { return {a.v || b.v}; }
};

template <class T>
struct IntegerLane {
  using Scalar = T;
  /// Wide enough that arithmetic is not promoted to int, whose overflow is undefined.
  using Word = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;
  T v;
  static IntegerLane of(int64_t k) { return {static_cast<T>(k)}; }
  static IntegerLane wrap(Word w) { return {static_cast<T>(w)}; }
  [[nodiscard]] Word word() const { return static_cast<Word>(v); }
  friend IntegerLane operator+(IntegerLane a, IntegerLane b) { return wrap(a.word() + b.word()); }
  friend IntegerLane operator-(IntegerLane a, IntegerLane b) { return wrap(a.word() - b.word()); }
  friend IntegerLane operator*(IntegerLane a, IntegerLane b) { return wrap(a.word() * b.word()); }
  friend IntegerLane operator-(IntegerLane a) { return wrap(Word{0} - a.word()); }
  friend IntegerLane operator&(IntegerLane a, IntegerLane b) { return wrap(a.word() & b.word()); }
  friend IntegerLane operator|(IntegerLane a, IntegerLane b) { return wrap(a.word() | b.word()); }
  friend IntegerLane operator^(IntegerLane a, IntegerLane b) { return wrap(a.word() ^ b.word()); }
  friend IntegerLane operator~(IntegerLane a) { return wrap(~a.word()); }
  friend Truth operator<(IntegerLane a, IntegerLane b) { return {a.v < b.v}; }
  friend Truth operator<=(IntegerLane a, IntegerLane b) { return {a.v <= b.v}; }
  friend Truth operator>(IntegerLane a, IntegerLane b) { return {a.v > b.v}; }
  friend Truth operator>=(IntegerLane a, IntegerLane b) { return {a.v >= b.v}; }
  friend Truth operator==(IntegerLane a, IntegerLane b) { return {a.v == b.v}; }
  friend Truth operator!=(IntegerLane a, IntegerLane b) { return {a.v != b.v}; }
  friend IntegerLane select(Truth m, IntegerLane a, IntegerLane b) { return m.v ? a : b; }
  friend IntegerLane abs(IntegerLane x) { return x.v < 0 ? -x : x; }
  friend IntegerLane sign(IntegerLane x) { return of((x.v > 0) - (x.v < 0)); }
  friend IntegerLane maximum(IntegerLane a, IntegerLane b) { return a.v > b.v ? a : b; }
  friend IntegerLane minimum(IntegerLane a, IntegerLane b) { return a.v < b.v ? a : b; }
  /// Shifts by less than 0 or by all bits and more give 0 to the left, the sign to the right.
  friend IntegerLane shift_left(IntegerLane a, IntegerLane b) {
    return inside(b) ? wrap(a.word() << b.word()) : of(0);
  }
  friend IntegerLane shift_right(IntegerLane a, IntegerLane b) {
    return {static_cast<T>(a.v >> (inside(b) ? b.v : static_cast<T>(kBits - 1)) >>
                           (inside(b) || a.v < 0 ? 0 : 1))};
  }

 private:
  static constexpr int kBits = 8 * static_cast<int>(sizeof(T));
  static bool inside(IntegerLane b) { return b.word() < static_cast<Word>(kBits); }
};

/// a / b rounded towards minus infinity; 0 for b = 0.
template <class T>
IntegerLane<T> floor_divide(IntegerLane<T> a, IntegerLane<T> b) {
  if (b.v == 0) return {0};
  if constexpr (std::is_signed_v<T>) {
    if (b.v == T(-1)) return -a;  // the least integer has no positive counterpart: it wraps
    const auto q = static_cast<T>(a.v / b.v);
    return {static_cast<T>(q - ((a.v % b.v != 0) && ((a.v < 0) != (b.v < 0))))};
  } else {
    return {static_cast<T>(a.v / b.v)};
  }
}
/// a - b * floor(a / b), which has the sign of b; 0 for b = 0.
template <class T>
IntegerLane<T> remainder(IntegerLane<T> a, IntegerLane<T> b) {
  if (b.v == 0) return {0};
  return a - b * floor_divide(a, b);
}
/// a - b * trunc(a / b), which has the sign of a; 0 for b = 0.
template <class T>
IntegerLane<T> truncated_remainder(IntegerLane<T> a, IntegerLane<T> b) {
  if (b.v == 0) return {0};
  if constexpr (std::is_signed_v<T>)
    if (b.v == T(-1)) return {0};
  return {static_cast<T>(a.v % b.v)};
}
/// a to the power b by repeated squaring, wrapping. A negative exponent rounds 1 / a^-b towards zero, and 0
/// to it gives 0.
template <class T>
IntegerLane<T> power(IntegerLane<T> a, IntegerLane<T> b) {
  if (b.v < 0) {
    if (a.v == 1) return a;
    if (std::is_signed_v<T> && a.v == T(-1)) return (b.word() & 1U) != 0 ? a : -a;
    return {0};
  }
  IntegerLane<T> result{1};
  for (auto e = b.word(); e != 0; e >>= 1, a = a * a)
    if ((e & 1U) != 0) result = result * a;
  return result;
}

}  // namespace sorus
