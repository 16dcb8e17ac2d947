#pragma once

#include <cstdint>
#include <string_view>

/// Rows of elementwise ops. A row names an op, says which dtypes it takes, and computes one element from
/// lanes (math/lane.h for floating dtypes, IntegerLane for integers and bool). The rows stand in rows/*.inc
/// without guard or namespace, because SIMD kernels include them once per target; reference kernels include
/// the same text.
namespace sorus::math {

/// The dtypes of a row. All operands have the same.
enum class Takes : uint8_t { kFloating, kNumber, kAny, kInteger, kIntegerOrBool };

/// `truth`: the result is bool. `parameters`: numbers among the op's attributes, passed as lanes after the
/// operands.
template <Takes kDtypes, int kCount, bool kTruth = false, int kNumbers = 0>
struct RowTraits {
  static constexpr Takes kTakes = kDtypes;
  static constexpr int kOperands = kCount;
  static constexpr bool kGivesTruth = kTruth;
  static constexpr int kParameters = kNumbers;
};
template <int kCount, int kNumbers = 0>
using FloatingRow = RowTraits<Takes::kFloating, kCount, false, kNumbers>;

template <class... Rows>
struct RowList {
  static constexpr int kSize = sizeof...(Rows);
};

}  // namespace sorus::math
