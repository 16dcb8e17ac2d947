#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sorus/base/error.h"

namespace sorus {

/// Element type of a tensor.
enum class DType : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64
};
inline constexpr int kDTypeCount = 13;

namespace detail {
SORUS_API float half_to_float(uint16_t bits);
SORUS_API uint16_t float_to_half(float value);
}  // namespace detail

/// IEEE 754 binary16; a storage type. Conversion from float rounds to nearest even, NaN stays NaN.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float value) : bits(detail::float_to_half(value)) {}
  explicit operator float() const { return detail::half_to_float(bits); }
  static Float16 from_bits(uint16_t b) { return std::bit_cast<Float16>(b); }
};

/// The upper half of a binary32; a storage type. Conversion from float rounds to nearest even, NaN stays NaN.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) {
    uint32_t b = std::bit_cast<uint32_t>(value);
    bits = (b & 0x7fffffffU) > 0x7f800000U ? static_cast<uint16_t>((b >> 16) | 0x40U)
                                           : static_cast<uint16_t>((b + 0x7fffU + ((b >> 16) & 1U)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static BFloat16 from_bits(uint16_t b) { return std::bit_cast<BFloat16>(b); }
};

/// Bytes of one element.
[[nodiscard]] constexpr size_t dtype_size(DType t) {
  constexpr uint8_t kSizes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return kSizes[static_cast<int>(t)];
}
/// The field's name: "float32", "bool", "uint8".
[[nodiscard]] SORUS_API std::string_view dtype_name(DType t);
/// The inverse of dtype_name. Throws ValueError for a name it does not know.
[[nodiscard]] SORUS_API DType dtype_from_name(std::string_view name);
/// Floating types; of these the two of 16 bits.
[[nodiscard]] constexpr bool is_floating(DType t) { return t >= DType::kFloat16; }
[[nodiscard]] constexpr bool is_half(DType t) { return t == DType::kFloat16 || t == DType::kBFloat16; }
/// Signed and unsigned integers; bool is not one.
[[nodiscard]] constexpr bool is_integer(DType t) { return t >= DType::kInt8 && t <= DType::kUInt64; }
[[nodiscard]] constexpr bool is_unsigned(DType t) { return t >= DType::kUInt8 && t <= DType::kUInt64; }

namespace detail {
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::kInt8;
};
template <>
struct DTypeOf<int16_t> {
  static constexpr DType value = DType::kInt16;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::kUInt8;
};
template <>
struct DTypeOf<uint16_t> {
  static constexpr DType value = DType::kUInt16;
};
template <>
struct DTypeOf<uint32_t> {
  static constexpr DType value = DType::kUInt32;
};
template <>
struct DTypeOf<uint64_t> {
  static constexpr DType value = DType::kUInt64;
};
template <>
struct DTypeOf<Float16> {
  static constexpr DType value = DType::kFloat16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::kBFloat16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};
}  // namespace detail

/// DType of the C++ type T.
template <class T>
inline constexpr DType dtype_of = detail::DTypeOf<T>::value;

/// The type in which arithmetic on T is done: float for the 16-bit floats, T itself otherwise.
template <class T>
using ComputeType = std::conditional_t<std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float, T>;

/// Calls f(std::type_identity<T>{}) with the C++ type of `t` and returns its result.
template <class F>
decltype(auto) visit_dtype(DType t, F&& f) {
  switch (t) {
    case DType::kBool:
      return f(std::type_identity<bool>{});
    case DType::kInt8:
      return f(std::type_identity<int8_t>{});
    case DType::kInt16:
      return f(std::type_identity<int16_t>{});
    case DType::kInt32:
      return f(std::type_identity<int32_t>{});
    case DType::kInt64:
      return f(std::type_identity<int64_t>{});
    case DType::kUInt8:
      return f(std::type_identity<uint8_t>{});
    case DType::kUInt16:
      return f(std::type_identity<uint16_t>{});
    case DType::kUInt32:
      return f(std::type_identity<uint32_t>{});
    case DType::kUInt64:
      return f(std::type_identity<uint64_t>{});
    case DType::kFloat16:
      return f(std::type_identity<Float16>{});
    case DType::kBFloat16:
      return f(std::type_identity<BFloat16>{});
    case DType::kFloat32:
      return f(std::type_identity<float>{});
    case DType::kFloat64:
      break;
  }
  return f(std::type_identity<double>{});
}

/// As visit_dtype for the floating types alone; any other type is an internal error.
template <class F>
decltype(auto) visit_floating(DType t, F&& f) {
  switch (t) {
    case DType::kFloat16:
      return f(std::type_identity<Float16>{});
    case DType::kBFloat16:
      return f(std::type_identity<BFloat16>{});
    case DType::kFloat32:
      return f(std::type_identity<float>{});
    default:
      break;
  }
  SORUS_INTERNAL(t == DType::kFloat64, "a floating dtype is needed, got {}", dtype_name(t));
  return f(std::type_identity<double>{});
}

}  // namespace sorus

template <>
struct fmt::formatter<sorus::DType> : fmt::formatter<std::string_view> {
  auto format(sorus::DType t, format_context& c) const {
    return formatter<std::string_view>::format(sorus::dtype_name(t), c);
  }
};
