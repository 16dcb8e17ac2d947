#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "sorus/core/dtype.h"

/// Conversion of single numbers between element types: the definition that every cast follows.
namespace sorus {

/// Nearest double to `v` that, rounded further to a 16-bit float, gives what `v` itself rounds to: what is
/// lost leaves its trace in the last bit (rounding to odd).
inline double double_to_odd(uint64_t v) {
  const int excess = 64 - std::countl_zero(v) - 53;
  if (excess <= 0) return static_cast<double>(v);
  const uint64_t kept = v >> excess | static_cast<uint64_t>((v & ((uint64_t{1} << excess) - 1)) != 0);
  return std::ldexp(static_cast<double>(kept), excess);
}
inline double double_to_odd(int64_t v) {
  return v < 0 ? -double_to_odd(uint64_t{0} - static_cast<uint64_t>(v))
               : double_to_odd(static_cast<uint64_t>(v));
}
/// As above from double to float.
inline float float_to_odd(double v) {
  auto f = static_cast<float>(v);
  auto back = static_cast<double>(f);
  if (back == v || v != v || std::isinf(f)) return f;
  auto b = std::bit_cast<uint32_t>(f);
  if ((b & 1U) != 0) return f;
  return std::bit_cast<float>(std::fabs(back) > std::fabs(v) ? b - 1 : b + 1);
}

/// Floating to integer: towards zero; NaN and what does not fit 64 bits give the least int64.
inline int64_t truncate_to_int64(double v) {
  return v >= -0x1p63 && v < 0x1p63 ? static_cast<int64_t>(v) : INT64_MIN;
}

/// From one element type to another; see the doc of `cast`.
template <class To, class From>
To convert_element(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>) {
    return convert_element<To>(static_cast<float>(from));
  } else if constexpr (std::is_same_v<To, bool>) {
    return from != From{0};
  } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
    if constexpr (std::is_same_v<From, float>)
      return To(from);
    else if constexpr (std::is_same_v<From, double>)
      return To(float_to_odd(from));
    else if constexpr (std::is_unsigned_v<From>)
      return To(float_to_odd(double_to_odd(static_cast<uint64_t>(from))));
    else
      return To(float_to_odd(double_to_odd(static_cast<int64_t>(from))));
  } else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, uint64_t>) {
    return from >= From(0x1p63) && from < From(0x1p64) ? static_cast<uint64_t>(from)
                                                       : static_cast<uint64_t>(truncate_to_int64(from));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return static_cast<To>(truncate_to_int64(static_cast<double>(from)));
  } else {
    return static_cast<To>(from);
  }
}

}  // namespace sorus
