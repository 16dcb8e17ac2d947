#pragma once

#include "sorus/ops/shape/shape_ops.h"

/// Tensors made of a shape and a number, as programs write them; `full` of a TensorType is the op beneath.
namespace sorus {

/// A tensor of that shape filled with one number.
[[nodiscard]] inline Tensor full(const Shape& shape, double value, DType dtype = DType::kFloat32) {
  return full(TensorType{dtype, {}, shape}, value);
}
/// Zeros of that shape, with memory of their own.
[[nodiscard]] inline Tensor zeros(const Shape& shape, DType dtype = DType::kFloat32) {
  return full(shape, 0, dtype);
}
/// Ones of that shape.
[[nodiscard]] inline Tensor ones(const Shape& shape, DType dtype = DType::kFloat32) {
  return full(shape, 1, dtype);
}

}  // namespace sorus
