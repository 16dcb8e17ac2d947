#pragma once

// The reference interpretation of the Lane vocabulary: one number, plain C++. A function evaluated on it
// defines the bits that every other interpretation must give. Needs -ffp-contract=off and the default
// rounding mode.

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "sorus/math/lane.h"

namespace sorus::math {

struct ScalarMask {
  bool v;
  friend ScalarMask operator&(ScalarMask a, ScalarMask b) { return {a.v && b.v}; }
  friend ScalarMask operator|(ScalarMask a, ScalarMask b) { return {a.v || b.v}; }
  friend ScalarMask operator!(ScalarMask a) { return {!a.v}; }
  friend bool any(ScalarMask a) { return a.v; }
};

/// T is std::int32_t or std::int64_t; arithmetic wraps.
template <class T>
struct ScalarInt {
  using Scalar = T;
  using Word = std::make_unsigned_t<T>;
  T v;
  static ScalarInt of(std::int64_t k) { return {static_cast<T>(k)}; }
  static ScalarInt wrap(Word w) { return {static_cast<T>(w)}; }
  Word word() const { return static_cast<Word>(v); }
  friend ScalarInt operator+(ScalarInt a, ScalarInt b) { return wrap(a.word() + b.word()); }
  friend ScalarInt operator-(ScalarInt a, ScalarInt b) { return wrap(a.word() - b.word()); }
  friend ScalarInt operator&(ScalarInt a, ScalarInt b) { return wrap(a.word() & b.word()); }
  friend ScalarInt operator|(ScalarInt a, ScalarInt b) { return wrap(a.word() | b.word()); }
  friend ScalarInt operator^(ScalarInt a, ScalarInt b) { return wrap(a.word() ^ b.word()); }
  template <int kBits>
  friend ScalarInt shl(ScalarInt a) {
    return wrap(a.word() << kBits);
  }
  template <int kBits>
  friend ScalarInt shr(ScalarInt a) {
    return wrap(a.word() >> kBits);
  }
  friend ScalarMask operator==(ScalarInt a, ScalarInt b) { return {a.v == b.v}; }
  friend ScalarMask operator<(ScalarInt a, ScalarInt b) { return {a.v < b.v}; }
  friend ScalarMask operator>(ScalarInt a, ScalarInt b) { return {a.v > b.v}; }
  friend ScalarInt select(ScalarMask m, ScalarInt a, ScalarInt b) { return m.v ? a : b; }
};

/// T is float or double.
template <class T>
struct ScalarLane {
  using Scalar = T;
  using Mask = ScalarMask;
  using Int = ScalarInt<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;
  T v;
  static ScalarLane of(double k) { return {static_cast<T>(k)}; }
  static ScalarLane from_bits(Int i) { return {std::bit_cast<T>(i.v)}; }
  static ScalarLane lookup(const T* table, Int i) { return {table[i.v]}; }
  static ScalarLane lookup4(const T* table, Int i) { return {table[i.v & 3]}; }
  static ScalarLane lookup16(const T* table, Int i) { return {table[i.v & 15]}; }
  friend ScalarLane operator+(ScalarLane a, ScalarLane b) { return {a.v + b.v}; }
  friend ScalarLane operator-(ScalarLane a, ScalarLane b) { return {a.v - b.v}; }
  friend ScalarLane operator*(ScalarLane a, ScalarLane b) { return {a.v * b.v}; }
  friend ScalarLane operator/(ScalarLane a, ScalarLane b) { return {a.v / b.v}; }
  friend ScalarLane operator-(ScalarLane a) { return {-a.v}; }
  friend ScalarLane fma(ScalarLane a, ScalarLane b, ScalarLane c) { return {std::fma(a.v, b.v, c.v)}; }
  friend ScalarLane sqrt(ScalarLane a) { return {std::sqrt(a.v)}; }
  friend ScalarLane abs(ScalarLane a) { return {std::fabs(a.v)}; }
  friend ScalarLane copysign(ScalarLane a, ScalarLane b) { return {std::copysign(a.v, b.v)}; }
  friend ScalarLane min(ScalarLane a, ScalarLane b) { return {a.v < b.v ? a.v : b.v}; }
  friend ScalarLane max(ScalarLane a, ScalarLane b) { return {a.v > b.v ? a.v : b.v}; }
  friend ScalarLane floor(ScalarLane a) { return {std::floor(a.v)}; }
  friend ScalarLane ceil(ScalarLane a) { return {std::ceil(a.v)}; }
  friend ScalarLane trunc(ScalarLane a) { return {std::trunc(a.v)}; }
  friend ScalarLane round(ScalarLane a) { return {std::nearbyint(a.v)}; }
  friend Mask operator<(ScalarLane a, ScalarLane b) { return {a.v < b.v}; }
  friend Mask operator<=(ScalarLane a, ScalarLane b) { return {a.v <= b.v}; }
  friend Mask operator>(ScalarLane a, ScalarLane b) { return {a.v > b.v}; }
  friend Mask operator>=(ScalarLane a, ScalarLane b) { return {a.v >= b.v}; }
  friend Mask operator==(ScalarLane a, ScalarLane b) { return {a.v == b.v}; }
  friend Mask operator!=(ScalarLane a, ScalarLane b) { return {a.v != b.v}; }
  friend ScalarLane select(Mask m, ScalarLane a, ScalarLane b) { return m.v ? a : b; }
  friend Int bits(ScalarLane a) { return {std::bit_cast<typename Int::Scalar>(a.v)}; }
};

static_assert(Lane<ScalarLane<float>> && Lane<ScalarLane<double>>);

}  // namespace sorus::math
