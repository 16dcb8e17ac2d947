#pragma once

#include <string_view>
#include <vector>

#include "sorus/core/tensor.h"

/// Tensors with the same elements and other strides.
namespace sorus::samples {

struct StrideKind {
  std::string_view name;
  /// The same logical tensor laid out in that way; undefined when the kind makes no sense for its shape.
  Tensor (*lay_out)(const Tensor& dense);
};

/// Axes in reverse order in memory, reversed (negative strides), channels last, with gaps.
const std::vector<StrideKind>& stride_kinds();

/// The first slice along the last axis longer than 1, repeated by a stride of 0; undefined when there is
/// none.
Tensor repeat_first(const Tensor& dense);

/// A dense row-major copy.
Tensor dense_copy(const Tensor& t);

}  // namespace sorus::samples
