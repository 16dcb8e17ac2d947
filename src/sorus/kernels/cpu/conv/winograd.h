#pragma once

#include <cstddef>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/onednn/conv.h"

/// Float32 convolutions of 3x3 taps with stride 1 by Winograd's F(2x2, 3x3): four results from 16 products
/// instead of 36. Tiles of 4x4 of the source, half over each other, and the weights are transformed; each of
/// the 16 places of a tile is then a matrix product over channels, and tiles of 2x2 results come from what
/// these give. Forward and gradient of the input alike, the latter with its taps in reverse. The gradient of
/// the weights is F(3x3, 2x2): nine taps from 16 products instead of 36 (winograd_weights.h).
///
/// Results are rounded about as finely as those of a plain sum, but differ from it. A result that comes out
/// not finite is computed again as the plain sum of tap_conv.h, over what its taps read inside of the image,
/// and so is a tap that does, as one chain over images and positions: special values are those of plain sums,
/// and transforms that overflow do no harm. Bits depend neither on threads nor on vector length. Contract,
/// memory layouts and workspace are those of onednn/conv.h.
namespace sorus::kernels::winograd {

/// True for float32 in two dimensions without groups, stride or dilation, with 3x3 taps, a padding of at most
/// 2 and whole cache lines of channels, on a CPU with AVX2.
[[nodiscard]] SORUS_API bool supports(const onednn::ConvProblem& problem, onednn::ConvPass pass);
/// True where these kernels are faster than oneDNN's; depends on the shape and the processor alone.
[[nodiscard]] bool preferred(const onednn::ConvProblem& problem, onednn::ConvPass pass);

[[nodiscard]] SORUS_API size_t workspace(const onednn::ConvProblem& problem, onednn::ConvPass pass);
SORUS_API void forward(const onednn::ConvProblem& problem, const float* input, const float* weights,
                       const float* bias, float* out, void* workspace,
                       const onednn::ConvOptions& options = {});
SORUS_API void backward_data(const onednn::ConvProblem& problem, const float* out_grad, const float* weights,
                             float* input_grad, void* workspace, const onednn::ConvOptions& options = {});
SORUS_API void backward_weights(const onednn::ConvProblem& problem, const float* input, const float* out_grad,
                                float* weights_grad, void* workspace);
/// The transformed weights of a forward pass, and the plain ones.
[[nodiscard]] SORUS_API size_t packed_bytes(const onednn::ConvProblem& problem);
SORUS_API void pack_weights(const onednn::ConvProblem& problem, const float* weights, float* to);

}  // namespace sorus::kernels::winograd
