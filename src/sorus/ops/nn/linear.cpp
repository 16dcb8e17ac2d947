#include "sorus/ops/nn/linear.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  SORUS_CHECK(weight.rank() == 2 && x.rank() >= 1 && x.size(-1) == weight.size(1), ShapeError,
              "linear: shapes do not fit: got x {} and weight {}, need (..., in) and (out, in)", x.shape(),
              weight.shape());
  Tensor y = matmul(x, swap_last(weight));
  if (!bias.defined()) return y;
  SORUS_CHECK(bias.shape() == Shape{weight.shape()[0]}, ShapeError,
              "linear: bias does not fit: got shape {}, need ({},)", bias.shape(), weight.size(0));
  return add(y, bias);
}

}  // namespace sorus
