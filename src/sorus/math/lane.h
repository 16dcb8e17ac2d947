#pragma once

// The Lane vocabulary: what a scalar function may be written in. A lane holds one or several numbers of one
// type (float or double); an operation acts on each of them alone. Every word below is exactly one IEEE 754
// operation in round-to-nearest-even, or an exact operation on bits, so that every interpretation of a
// function gives equal bits.
//
//   V::Scalar, V::Int, V::Mask          element type; integer lane of the same width; truth per element
//   V::of(double), Int::of(int64_t)     constant, rounded to the element type (wrapped for integers)
//   + - * / unary-, fma, sqrt           IEEE operations; fma(a, b, c) = a * b + c with one rounding
//   abs, copysign(magnitude, sign)      operations on the sign bit, NaN included; unary minus flips it
//   min(a, b), max(a, b)                a < b ? a : b and a > b ? a : b: b when either is NaN, b when both
//   are zeros floor, ceil, trunc, round           to an integral value; round is to nearest even; the sign of
//   zero is kept < <= > >= == !=                     Mask; with a NaN all are false but != select(mask, a,
//   b), & | !, any      a where the mask holds, else b; for V and for Int bits(V), V::from_bits(Int) the
//   representation, unchanged Int: + - & | ^, shl<k>, shr<k>      wrapping arithmetic, logical shifts Int: ==
//   < >                         signed comparison; the Mask of V V::lookup(table, Int) table[index] per
//   element; every index must be inside the table V::lookup16(table, Int) the same in a table of 16, aligned
//   to 64 bytes, by the low four bits of the index V::lookup4(table, Int) the same in a table of 4, aligned
//   to 16 bytes, by the low two bits of the index
//
// Rules of a function over lanes: fixed order of operations; no branch on data but select. The one exception
// is `if (any(mask))` or `while (any(mask))` around work whose results are merged by select with the same
// mask: it saves time and cannot change a bit. Conversions between V and Int are made of these words
// (functions/basic.inc). NaN: an operation with one NaN operand gives that NaN, quiet; which of two NaNs
// comes out is not defined, so a function of several arguments selects it.

#include <concepts>
#include <cstdint>

namespace sorus::math {

template <class I, class M>
concept IntLane = requires(I a, I b, M m) {
  { I::of(std::int64_t{1}) } -> std::same_as<I>;
  { a + b } -> std::same_as<I>;
  { a - b } -> std::same_as<I>;
  { a& b } -> std::same_as<I>;
  { a | b } -> std::same_as<I>;
  { a ^ b } -> std::same_as<I>;
  { shl<1>(a) } -> std::same_as<I>;
  { shr<1>(a) } -> std::same_as<I>;
  { a == b } -> std::same_as<M>;
  { a < b } -> std::same_as<M>;
  { a > b } -> std::same_as<M>;
  { select(m, a, b) } -> std::same_as<I>;
};

template <class M>
concept MaskLane = requires(M a, M b) {
  { a& b } -> std::same_as<M>;
  { a | b } -> std::same_as<M>;
  { !a } -> std::same_as<M>;
  { any(a) } -> std::same_as<bool>;
};

template <class V>
concept Lane =
    (std::same_as<typename V::Scalar, float> || std::same_as<typename V::Scalar, double>)&&MaskLane<
        typename V::Mask>&& IntLane<typename V::Int,
                                    typename V::Mask>&& requires(V a, V b, V c, typename V::Mask m,
                                                                 typename V::Int i,
                                                                 const typename V::Scalar* table) {
  { V::of(1.0) } -> std::same_as<V>;
  { a + b } -> std::same_as<V>;
  { a - b } -> std::same_as<V>;
  { a* b } -> std::same_as<V>;
  { a / b } -> std::same_as<V>;
  { -a } -> std::same_as<V>;
  { fma(a, b, c) } -> std::same_as<V>;
  { sqrt(a) } -> std::same_as<V>;
  { abs(a) } -> std::same_as<V>;
  { copysign(a, b) } -> std::same_as<V>;
  { min(a, b) } -> std::same_as<V>;
  { max(a, b) } -> std::same_as<V>;
  { floor(a) } -> std::same_as<V>;
  { ceil(a) } -> std::same_as<V>;
  { trunc(a) } -> std::same_as<V>;
  { round(a) } -> std::same_as<V>;
  { a < b } -> std::same_as<typename V::Mask>;
  { a <= b } -> std::same_as<typename V::Mask>;
  { a > b } -> std::same_as<typename V::Mask>;
  { a >= b } -> std::same_as<typename V::Mask>;
  { a == b } -> std::same_as<typename V::Mask>;
  { a != b } -> std::same_as<typename V::Mask>;
  { select(m, a, b) } -> std::same_as<V>;
  { bits(a) } -> std::same_as<typename V::Int>;
  { V::from_bits(i) } -> std::same_as<V>;
  { V::lookup(table, i) } -> std::same_as<V>;
  { V::lookup4(table, i) } -> std::same_as<V>;
  { V::lookup16(table, i) } -> std::same_as<V>;
};

/// Lanes with words beyond the vocabulary, each one instruction of the processor: scale(a, n) is a 2^n for an
/// integral n, rounded once, 0 or infinite (a not NaN) where n is out of all range, NaN where n is; lesser(a,
/// b) is the operand of lesser magnitude, b where a is NaN. A function may use them where it gives the bits
/// that it gives without them.
template <class V>
concept ScalingLane = Lane<V> && requires(V a) {
  { scale(a, a) } -> std::same_as<V>;
  { lesser(a, a) } -> std::same_as<V>;
};

/// True for lanes of float, false for lanes of double: functions pick their polynomials with it.
template <class V>
inline constexpr bool kSingle = std::same_as<typename V::Scalar, float>;

}  // namespace sorus::math
