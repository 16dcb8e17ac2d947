#pragma once

#include <cstddef>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/onednn/conv.h"

/// Convolutions of one tap without padding, which are matrix products over positions. With a stride, the
/// positions in use are gathered first, or scattered afterwards. Contract, memory layouts and errors are
/// those of onednn/conv.h.
namespace sorus::kernels::pointwise {

/// True for problems, all right and not empty, for which a product is the faster choice; decided by the shape
/// alone.
[[nodiscard]] SORUS_API bool takes(const onednn::ConvProblem& problem);

/// Bytes of workspace, aligned to onednn::kWorkspaceAlignment.
[[nodiscard]] SORUS_API size_t workspace(const onednn::ConvProblem& problem, onednn::ConvPass pass);

SORUS_API void forward(const onednn::ConvProblem& problem, const void* input, const void* weights,
                       const float* bias, void* out, void* workspace,
                       const onednn::ConvOptions& options = {});
SORUS_API void backward_data(const onednn::ConvProblem& problem, const void* out_grad, const void* weights,
                             void* input_grad, void* workspace, const onednn::ConvOptions& options = {});
/// False where the product has none, and where the result is put together afterwards.
[[nodiscard]] bool has_pieces(const onednn::ConvProblem& problem, onednn::ConvPass pass);
/// Whether forward_rows() takes the problem: float32 without strides, where no sum is cut.
[[nodiscard]] bool gives_rows(const onednn::ConvProblem& problem);
/// Positions [begin, end) of the result, counted through all images, on the calling thread; the bits are
/// those of forward().
void forward_rows(const onednn::ConvProblem& problem, const void* input, const void* packed_weights,
                  const float* bias, int64_t begin, int64_t end, float* to);
/// The weights of the forward pass as its product packs them.
[[nodiscard]] size_t packed_bytes(const onednn::ConvProblem& problem);
void pack_weights(const onednn::ConvProblem& problem, const void* weights, void* to);
SORUS_API void backward_weights(const onednn::ConvProblem& problem, const void* input, const void* out_grad,
                                void* weights_grad, void* workspace);

}  // namespace sorus::kernels::pointwise
