#pragma once

#include <cstddef>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/onednn/conv.h"

/// Convolutions of few channels (the first layers of small networks), where oneDNN pads channels to 16 and
/// wastes most of the work. Contract, memory layouts and errors are those of onednn/conv.h.
///
/// Forward and the gradient of the weights work on planes, one per channel, with vectors along positions; the
/// gradient of the input is a product with all taps at once, whose columns are then added into place. Every
/// sum runs in an order that depends on the shape and on the vector length of the CPU alone.
namespace sorus::kernels {

/// What these kernels can compute: float32, one group, one or two spatial dimensions; any sizes, strides,
/// dilations and padding.
[[nodiscard]] SORUS_API bool small_conv_supports(const onednn::ConvProblem& problem);

/// True when they are the faster choice; decided by the shape alone. Implies small_conv_supports.
[[nodiscard]] SORUS_API bool small_conv_preferred(const onednn::ConvProblem& problem, onednn::ConvPass pass);

/// Bytes of workspace, aligned to onednn::kWorkspaceAlignment.
[[nodiscard]] SORUS_API size_t small_conv_workspace(const onednn::ConvProblem& problem,
                                                    onednn::ConvPass pass);

SORUS_API void small_conv_forward(const onednn::ConvProblem& problem, const float* input,
                                  const float* weights, const float* bias, float* out, void* workspace,
                                  const onednn::ConvOptions& options = {});
SORUS_API void small_conv_backward_data(const onednn::ConvProblem& problem, const float* out_grad,
                                        const float* weights, float* input_grad, void* workspace,
                                        const onednn::ConvOptions& options = {});
SORUS_API void small_conv_backward_weights(const onednn::ConvProblem& problem, const float* input,
                                           const float* out_grad, float* weights_grad, void* workspace);

}  // namespace sorus::kernels
