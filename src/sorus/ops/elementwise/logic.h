#pragma once

#include "sorus/core/tensor.h"

/// Tests, logic and operations on bits, elementwise. None has a gradient.
namespace sorus {

/// Tests of floating numbers; of integers and bools the answer is the same everywhere.
[[nodiscard]] SORUS_API Tensor isnan(const Tensor& x);
[[nodiscard]] SORUS_API Tensor isinf(const Tensor& x);
[[nodiscard]] SORUS_API Tensor isfinite(const Tensor& x);

/// Logic on whether elements differ from 0; gives bool.
[[nodiscard]] SORUS_API Tensor logical_not(const Tensor& x);
[[nodiscard]] SORUS_API Tensor logical_and(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor logical_or(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor logical_xor(const Tensor& a, const Tensor& b);

/// Integers and bools; the not of a bool is logical.
[[nodiscard]] SORUS_API Tensor bitwise_not(const Tensor& x);
[[nodiscard]] SORUS_API Tensor bitwise_and(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor bitwise_or(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor bitwise_xor(const Tensor& a, const Tensor& b);
/// Integers. Shifts by less than 0 or by all bits and more give 0 to the left, the sign to the right.
[[nodiscard]] SORUS_API Tensor shift_left(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor shift_right(const Tensor& a, const Tensor& b);

}  // namespace sorus
