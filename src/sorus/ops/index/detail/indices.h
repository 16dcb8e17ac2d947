#pragma once

#include "sorus/ops/elementwise/elementwise.h"

namespace sorus::detail {

/// Index tensors as kernels take them: int32 and int64 as they are, other integers as int64. Throws
/// DTypeError for anything else.
[[nodiscard]] inline Tensor as_indices(std::string_view op, const Tensor& indices) {
  DType t = indices.dtype();
  if (t == DType::kInt64 || t == DType::kInt32) return indices;
  SORUS_CHECK(is_integer(t), DTypeError, "{}: indices are not integers: got {}, need int32 or int64", op, t);
  return cast(indices, DType::kInt64);
}

/// Throws DTypeError unless operand i is int32 or int64.
inline void check_index_dtype(std::string_view op, DType t) {
  SORUS_CHECK(t == DType::kInt64 || t == DType::kInt32, DTypeError,
              "{}: indices are not integers: got {}, need int32 or int64", op, t);
}

}  // namespace sorus::detail
