#pragma once

#include <cstddef>
#include <string>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/onednn/conv.h"

/// The convolution of the CPU: for each pass the own kernels for few channels, for many, for channels with
/// kernels of their own, Winograd's, or oneDNN's, chosen by the shape alone. Contract, memory layouts,
/// workspace and errors are those of onednn/conv.h.
namespace sorus::kernels::conv {

[[nodiscard]] SORUS_API size_t workspace(const onednn::ConvProblem& problem, onednn::ConvPass pass);
SORUS_API void forward(const onednn::ConvProblem& problem, const void* input, const void* weights,
                       const float* bias, void* out, void* workspace,
                       const onednn::ConvOptions& options = {});
SORUS_API void backward_data(const onednn::ConvProblem& problem, const void* out_grad, const void* weights,
                             void* input_grad, void* workspace, const onednn::ConvOptions& options = {});
/// True when the pass, forward or backward data, can hand over its result piece by piece, that is in whole
/// rows of channels; it is not empty.
[[nodiscard]] SORUS_API bool has_pieces(const onednn::ConvProblem& problem, onednn::ConvPass pass);
/// Bytes that pack_weights writes; 0 where the forward pass reads weights as they are.
[[nodiscard]] SORUS_API size_t packed_weights_bytes(const onednn::ConvProblem& problem);
SORUS_API void pack_weights(const onednn::ConvProblem& problem, const void* weights, void* to);
SORUS_API void backward_weights(const onednn::ConvProblem& problem, const void* input, const void* out_grad,
                                void* weights_grad, void* workspace);
/// "small channels", "depthwise", "products of taps" or "Winograd" for the own kernels, otherwise the name of
/// oneDNN's.
[[nodiscard]] SORUS_API std::string implementation(const onednn::ConvProblem& problem, onednn::ConvPass pass);

}  // namespace sorus::kernels::conv
