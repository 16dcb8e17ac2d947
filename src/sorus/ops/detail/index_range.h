#pragma once

#include <optional>
#include <string_view>

#include "sorus/dispatch/kernel.h"

/// Range checks of operands, for OpDef::check_values. Indices are int32 or int64; any strides.
namespace sorus::detail {

/// An index out of range, and its row-major place.
struct Outlier {
  int64_t position = 0;
  int64_t index = 0;
};

/// The first index that lies outside [low, high), and is not `ignored`.
[[nodiscard]] std::optional<Outlier> find_outside(const Array& indices, int64_t low, int64_t high,
                                                  std::optional<int64_t> ignored = std::nullopt);

/// The offset in elements of the element with a row-major number.
[[nodiscard]] int64_t offset_of(const Array& a, int64_t number);

/// Throws IndexError unless every index names one of `extent` places of an axis, counted from either end.
void check_axis_indices(std::string_view op, const Array& indices, int axis, int64_t extent);

/// The same for coordinates along the last axis of `indices`: number i belongs to axis i of `shape`.
void check_coordinates(std::string_view op, const Array& indices, const Shape& shape);

}  // namespace sorus::detail
