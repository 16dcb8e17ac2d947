#include "sorus/core/dtype.h"

#include <array>

namespace sorus {
namespace {
constexpr std::array<std::string_view, kDTypeCount> kNames = {
    "bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
    "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};
}  // namespace

std::string_view dtype_name(DType t) { return kNames[static_cast<size_t>(t)]; }

DType dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<DType>(i);
  raise<ValueError>(
      "dtype: name is unknown: got '{}', need one of bool, int8 to int64, uint8 to uint64, float16, "
      "bfloat16, "
      "float32, float64",
      name);
}

namespace detail {

float half_to_float(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  uint32_t exponent = (bits >> 10) & 0x1fU;
  uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  float magnitude = static_cast<float>(mantissa) * 0x1p-24F;  // subnormal: exact in float
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

uint16_t float_to_half(float value) {
  uint32_t b = std::bit_cast<uint32_t>(value);
  uint32_t sign = (b >> 16) & 0x8000U;
  uint32_t magnitude = b & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<uint16_t>(sign | 0x7e00U | ((magnitude >> 13) & 0x3ffU));
  if (magnitude >= 0x477ff000U) return static_cast<uint16_t>(sign | 0x7c00U);  // rounds beyond 65504
  if (magnitude < 0x38800000U) {
    // Subnormal result: adding 2^-1 * 2^... lets the hardware round to a multiple of 2^-24.
    float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000U));
  }
  uint32_t rounded = magnitude - 0x38000000U + 0xfffU + ((magnitude >> 13) & 1U);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

}  // namespace detail
}  // namespace sorus
