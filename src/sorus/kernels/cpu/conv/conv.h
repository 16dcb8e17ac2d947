#pragma once

#include <cstddef>
#include <string>

#include "sorus/base/export.h"
#include "sorus/dispatch/row_kernel.h"
#include "sorus/kernels/cpu/onednn/conv.h"

/// The convolution of the CPU: for each pass the own kernels for few channels, for many, for channels with
/// kernels of their own, Winograd's, or oneDNN's, chosen by the shape alone. Contract, memory layouts,
/// workspace and errors are those of onednn/conv.h.
///
/// A result is a sum over the taps that lie inside of the image, whatever the numbers are: an infinity or NaN
/// reaches the results whose taps read it and no others, and no weight meets the padding. Kernels that
/// multiply more than that have their results mended (mend.h). Sums in float32 may overflow on the way.
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
/// Whether forward_rows() takes the problem: convolutions of one tap in float32, without strides.
[[nodiscard]] SORUS_API bool gives_rows(const onednn::ConvProblem& problem);
/// Positions [begin, end) of the result of the forward pass, counted through all images, on the calling
/// thread, from packed weights; the bits are those of forward().
SORUS_API void forward_rows(const onednn::ConvProblem& problem, const void* input, const void* packed_weights,
                            const float* bias, int64_t begin, int64_t end, float* to);
/// Whether forward_on_rows() takes the problem: depthwise convolutions.
[[nodiscard]] SORUS_API bool takes_rows(const onednn::ConvProblem& problem);
/// forward() for an input, a matrix of positions by channels, that is computed as it is wanted.
SORUS_API void forward_on_rows(const onednn::ConvProblem& problem, const RowSource& input,
                               const void* weights, const float* bias, void* out, void* workspace,
                               const onednn::ConvOptions& options);
/// Bytes that pack_weights writes; 0 where the forward pass reads weights as they are. Where results may have
/// to be mended, plain weights are among them.
[[nodiscard]] SORUS_API size_t packed_weights_bytes(const onednn::ConvProblem& problem);
SORUS_API void pack_weights(const onednn::ConvProblem& problem, const void* weights, void* to);
SORUS_API void backward_weights(const onednn::ConvProblem& problem, const void* input, const void* out_grad,
                                void* weights_grad, void* workspace);
/// "small channels", "depthwise", "products of taps" or "Winograd" for the own kernels, otherwise the name of
/// oneDNN's.
[[nodiscard]] SORUS_API std::string implementation(const onednn::ConvProblem& problem, onednn::ConvPass pass);

}  // namespace sorus::kernels::conv
