#pragma once

#include <cstdint>
#include <type_traits>

/// IntegerLane<T>: one integer with the words that generic rows use. Arithmetic wraps modulo 2^bits; nothing
/// is undefined behaviour. Bool travels as uint8_t.
namespace sorus {

struct Truth {
  bool v;
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
};

}  // namespace sorus
