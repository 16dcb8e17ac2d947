#pragma once

#include <cstddef>

#include "sorus/base/export.h"
#include "sorus/dispatch/row_kernel.h"
#include "sorus/kernels/cpu/onednn/conv.h"

/// Float32 convolutions of each channel with a kernel of its own, forward and (without a stride) the gradient
/// of the input: a row of positions of the result at a time, with the sums of neighbouring positions and the
/// weights of a row of taps in registers. Nothing is copied but the weights, and no padding is computed.
/// Contract, memory layouts and errors are those of onednn/conv.h.
///
/// Every sum is one chain of fused multiply-adds over the taps within the source, in order (the gradient's
/// from the last to the first): its bits depend on nothing else.
namespace sorus::kernels::depthwise {

/// What these kernels can compute: float32 on a CPU with AVX2, as many groups as channels on both sides, at
/// least 16, one or two spatial dimensions, no windows that lie in the padding alone; the gradient of the
/// input where strides are 1, not that of the weights.
[[nodiscard]] SORUS_API bool supports(const onednn::ConvProblem& problem, onednn::ConvPass pass);

/// Bytes of workspace, aligned to onednn::kWorkspaceAlignment.
[[nodiscard]] SORUS_API size_t workspace(const onednn::ConvProblem& problem);

SORUS_API void forward(const onednn::ConvProblem& problem, const float* input, const float* weights,
                       const float* bias, float* out, void* workspace,
                       const onednn::ConvOptions& options = {});
SORUS_API void backward_data(const onednn::ConvProblem& problem, const float* out_grad, const float* weights,
                             float* input_grad, void* workspace, const onednn::ConvOptions& options = {});

/// Whether forward_on_rows() takes the problem: where there is work for several threads though few rows of
/// the input are computed twice.
[[nodiscard]] bool takes_rows(const onednn::ConvProblem& problem);
/// forward() for an input, a matrix of positions by channels, that is computed as it is wanted.
void forward_on_rows(const onednn::ConvProblem& problem, const RowSource& input, const float* weights,
                     const float* bias, float* out, void* workspace, const onednn::ConvOptions& options);

/// The weights of the forward pass, block of channels by block.
[[nodiscard]] size_t packed_bytes(const onednn::ConvProblem& problem);
void pack_weights(const onednn::ConvProblem& problem, const float* weights, float* to);

}  // namespace sorus::kernels::depthwise
