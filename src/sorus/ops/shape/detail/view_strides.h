#pragma once

#include <optional>

#include "sorus/core/shape.h"

namespace sorus::detail {

/// Strides with which the elements of a view (shape, strides), read row-major, form `wanted`; nothing when no
/// strides do and the elements must be copied. Both shapes have the same number of elements. Adding and
/// removing axes of extent 1 never needs a copy.
[[nodiscard]] std::optional<Strides> reshape_strides(const Shape& shape, const Strides& strides,
                                                     const Shape& wanted);

}  // namespace sorus::detail
