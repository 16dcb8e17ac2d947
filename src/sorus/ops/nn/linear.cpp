#include "sorus/ops/nn/linear.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  SORUS_CHECK(weight.rank() == 2 && x.rank() >= 1 && x.size(-1) == weight.size(1), ShapeError,
              "linear: shapes do not fit: got x {} and weight {}, need (..., in) and (out, in)", x.shape(),
              weight.shape());
  if (!bias.defined()) return matmul(x, swap_last(weight));
  SORUS_CHECK(bias.shape() == Shape{weight.shape()[0]}, ShapeError,
              "linear: bias does not fit: got shape {}, need ({},)", bias.shape(), weight.size(0));
  // 16-bit floats are rounded once; in wider ones the sum is rounded as a sum of its length is anyway.
  if (is_half(x.dtype()) && weight.dtype() == x.dtype() && bias.dtype() == x.dtype())
    return matmul_bias(x, swap_last(weight), bias);
  return add(matmul(x, swap_last(weight)), bias);
}

}  // namespace sorus
