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

/// `kTruth`: the result is bool. `kNumbers`: how many numbers among the op's attributes are passed as lanes
/// after the operands. `kTails`: those lanes are followed by as many with what their rounding to the lane's
/// type has cut off, for rows that would lose an ulp there.
template <Takes kDtypes, int kCount, bool kTruth = false, int kNumbers = 0, bool kTails = false>
struct RowTraits {
  static constexpr Takes kTakes = kDtypes;
  static constexpr int kOperands = kCount;
  static constexpr bool kGivesTruth = kTruth;
  static constexpr int kParameters = kTails ? 2 * kNumbers : kNumbers;

  /// Parameter lane k for elements of T, computed from the attributes.
  template <class T>
  static double parameter(const double* attributes, int k) {
    if (k < kNumbers) return attributes[k];
    const double number = attributes[k - kNumbers];
    const double tail = number - static_cast<double>(static_cast<T>(number));
    return tail - tail == 0 ? tail : 0;  // infinities have no tail
  }
};
template <int kCount, int kNumbers = 0>
using FloatingRow = RowTraits<Takes::kFloating, kCount, false, kNumbers>;
template <int kCount, int kNumbers>
using ExactRow = RowTraits<Takes::kFloating, kCount, false, kNumbers, true>;

template <class... Rows>
struct RowList {
  static constexpr int kSize = sizeof...(Rows);
};

}  // namespace sorus::math
