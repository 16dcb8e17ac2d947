#pragma once

#include <cstddef>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/onednn/conv.h"

/// Float32 convolutions of images: a few planes, as colours are, into many channels. The input lies plane by
/// plane (N, C, H, W), as images come, the result channels-last, so that nothing is brought into another
/// order first. Contract, weights, bias and errors are those of onednn/conv.h.
///
/// Every sum is one chain of fused multiply-adds over planes, then the taps that lie within the image, row by
/// row: its bits depend on nothing else.
namespace sorus::kernels::image_conv {

/// What this kernel is for, by the shape alone: float32 on a CPU with AVX2, one group, two spatial
/// dimensions, at most 4 planes, whole vectors of 16 channels of the result and more than one tap.
[[nodiscard]] SORUS_API bool takes(const onednn::ConvProblem& problem);

/// Bytes of workspace, aligned to onednn::kWorkspaceAlignment.
[[nodiscard]] SORUS_API size_t workspace(const onednn::ConvProblem& problem);

/// With options.weights_packed, `weights` is what pack_weights made of them. Pieces are whole rows.
SORUS_API void forward(const onednn::ConvProblem& problem, const float* input, const float* weights,
                       const float* bias, float* out, void* workspace,
                       const onednn::ConvOptions& options = {});

[[nodiscard]] SORUS_API size_t packed_bytes(const onednn::ConvProblem& problem);
SORUS_API void pack_weights(const onednn::ConvProblem& problem, const float* weights, float* to);

}  // namespace sorus::kernels::image_conv
