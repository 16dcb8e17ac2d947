#pragma once

#include <cstdint>

#include "sorus/base/export.h"
#include "sorus/core/dtype.h"

/// Type promotion: the common dtype to which the operands of an operation are converted first. The rule is
/// MindSpore's; docs/reference/type_promotion.md states it, promotion_table.h holds it. Pure, any thread.
namespace sorus {

/// The kind of a Python number; only the kind takes part in promotion, never the value.
enum class ScalarKind : std::uint8_t { kBool, kInt, kFloat };

/// The common dtype of two tensors, in either order. Throws DTypeError if there is none (uint64 and a
/// signed integer).
[[nodiscard]] SORUS_API DType promote(DType a, DType b);

/// The common dtype of a tensor and a number, in either order: the tensor's own wherever it can hold that
/// kind, float32 for a float beside integers.
[[nodiscard]] SORUS_API DType promote_scalar(DType tensor, ScalarKind kind);

}  // namespace sorus
