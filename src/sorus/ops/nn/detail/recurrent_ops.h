#pragma once

#include "sorus/core/tensor.h"
#include "sorus/ops/nn/attributes.h"

/// The ops behind recurrent layers: one layer in one direction, all steps at once.
namespace sorus::detail {

struct RecurrentOperands {
  Tensor x;            ///< (T, B, I) or (B, T, I)
  Tensor h;            ///< (B, H)
  Tensor c;            ///< as h, of LSTM alone
  Tensor input;        ///< (G * H, I), or undefined when x is the product with it
  Tensor weight;       ///< (G * H, H)
  Tensor bias;         ///< (G * H,) or undefined: added to the gates' sums
  Tensor hidden_bias;  ///< (H,) or undefined, of GRU alone: added to the new gate's sum over h
  Tensor lengths;      ///< (B,) int64 or undefined
};
struct RecurrentOutput {
  Tensor y, h, c;
};
/// All but the lengths are of one dtype, float32 or float64.
[[nodiscard]] RecurrentOutput run_recurrent(const RecurrentOperands& operands, const RecurrentAttrs& attrs);

}  // namespace sorus::detail
