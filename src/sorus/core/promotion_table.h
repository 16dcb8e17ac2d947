#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sorus/core/dtype.h"

/// The one written table of type promotion, after MindSpore 2.7.2, and where that has no common dtype for
/// unsigned integers, after NumPy (docs/reference/type_promotion.md has it in prose). Rows and columns are in
/// the order of DType; tests/core/promotion_test.cpp compares it with the record.
namespace sorus::detail {

/// An entry of the tables: a DType's number, or kNoCommonType.
using PromotionEntry = std::int8_t;

inline constexpr PromotionEntry kNoCommonType = -1;
inline constexpr std::size_t kPromotionTypes = kDTypeCount;

struct PromotionTables {
  /// [left][right]: the common dtype of two tensors.
  std::array<std::array<PromotionEntry, kPromotionTypes>, kPromotionTypes> tensors;
  /// [tensor][bool, int, float]: the common dtype of a tensor and a Python number.
  std::array<std::array<PromotionEntry, 3>, kPromotionTypes> scalars;
};

/// Writes the tables down with names as short as their columns.
constexpr PromotionTables make_promotion_tables() {
  constexpr auto entry = [](DType type) { return static_cast<PromotionEntry>(type); };
  constexpr PromotionEntry bo = entry(DType::kBool);
  constexpr PromotionEntry i1 = entry(DType::kInt8), i2 = entry(DType::kInt16);
  constexpr PromotionEntry i4 = entry(DType::kInt32), i8 = entry(DType::kInt64);
  constexpr PromotionEntry u1 = entry(DType::kUInt8), u2 = entry(DType::kUInt16);
  constexpr PromotionEntry u4 = entry(DType::kUInt32), u8 = entry(DType::kUInt64);
  constexpr PromotionEntry f2 = entry(DType::kFloat16), bf = entry(DType::kBFloat16);
  constexpr PromotionEntry f4 = entry(DType::kFloat32), f8 = entry(DType::kFloat64);
  constexpr PromotionEntry no = kNoCommonType;
  return {// clang-format off
      .tensors = {{
          //        bo  i1  i2  i4  i8  u1  u2  u4  u8  f2  bf  f4  f8
          /* bo */ {bo, i1, i2, i4, i8, u1, u2, u4, u8, f2, bf, f4, f8},
          /* i1 */ {i1, i1, i2, i4, i8, i2, i4, i8, no, f2, bf, f4, f8},
          /* i2 */ {i2, i2, i2, i4, i8, i2, i4, i8, no, f2, bf, f4, f8},
          /* i4 */ {i4, i4, i4, i4, i8, i4, i4, i8, no, f2, bf, f4, f8},
          /* i8 */ {i8, i8, i8, i8, i8, i8, i8, i8, no, f2, bf, f4, f8},
          /* u1 */ {u1, i2, i2, i4, i8, u1, u2, u4, u8, f2, bf, f4, f8},
          /* u2 */ {u2, i4, i4, i4, i8, u2, u2, u4, u8, f2, bf, f4, f8},
          /* u4 */ {u4, i8, i8, i8, i8, u4, u4, u4, u8, f2, bf, f4, f8},
          /* u8 */ {u8, no, no, no, no, u8, u8, u8, u8, f2, bf, f4, f8},
          /* f2 */ {f2, f2, f2, f2, f2, f2, f2, f2, f2, f2, f4, f4, f8},
          /* bf */ {bf, bf, bf, bf, bf, bf, bf, bf, bf, f4, bf, f4, f8},
          /* f4 */ {f4, f4, f4, f4, f4, f4, f4, f4, f4, f4, f4, f4, f8},
          /* f8 */ {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8}}},
      .scalars = {{
          //       bool int float
          /* bo */ {bo, i8, f4},
          /* i1 */ {i1, i1, f4},
          /* i2 */ {i2, i2, f4},
          /* i4 */ {i4, i4, f4},
          /* i8 */ {i8, i8, f4},
          /* u1 */ {u1, u1, f4},
          /* u2 */ {u2, u2, f4},
          /* u4 */ {u4, u4, f4},
          /* u8 */ {u8, u8, f4},
          /* f2 */ {f2, f2, f2},
          /* bf */ {bf, bf, bf},
          /* f4 */ {f4, f4, f4},
          /* f8 */ {f8, f8, f8}}}};
  // clang-format on
}

inline constexpr PromotionTables kPromotionTables = make_promotion_tables();

}  // namespace sorus::detail
