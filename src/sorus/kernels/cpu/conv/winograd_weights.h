#pragma once

#include <cstddef>

#include "sorus/kernels/cpu/onednn/conv.h"

/// The gradient of the weights by tiles, F(3x3, 2x2), for winograd.h, whose contract it has: a tile of 4x4 of
/// the input and one of 2x2 of the output's gradient are transformed, the products of their 16 places are
/// summed over all tiles, and nine taps come from the 16 sums.
///
/// The sum is cut by the shape alone into parts, and these into even chunks of at most 48 tiles; in a chunk
/// each place is one chain of fused multiply-adds over tiles, and chunks and parts are added in order. A tap
/// that comes out not finite is computed again as one chain over images and positions.
namespace sorus::kernels::winograd::weights {

[[nodiscard]] bool preferred(const onednn::ConvProblem& problem);
[[nodiscard]] size_t workspace(const onednn::ConvProblem& problem);
void backward(const onednn::ConvProblem& problem, const float* input, const float* out_grad,
              float* weights_grad, void* workspace);

}  // namespace sorus::kernels::winograd::weights
