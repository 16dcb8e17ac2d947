#pragma once

#include <cstddef>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/onednn/conv.h"

/// Float32 convolutions of many channels, forward and the gradient of the input, as one matrix product for
/// each tap of the kernel: over all pairs of an input and an output position that meet in it, whose rows of
/// channels are read and added to where they lie. Nothing is copied but the weights, and no padding is
/// computed. Contract, memory layouts and errors are those of onednn/conv.h.
///
/// Every sum is one chain of fused multiply-adds, over taps, then channels: its bits depend on nothing else.
namespace sorus::kernels::tap_conv {

/// What these kernels can compute: float32 on a CPU with AVX2, one group, one or two spatial dimensions,
/// whole panels of 64 channels of the result; a pass other than the gradient of the weights.
[[nodiscard]] SORUS_API bool supports(const onednn::ConvProblem& problem, onednn::ConvPass pass);

/// True when they are the faster choice; decided by the shape alone. Implies supports.
[[nodiscard]] SORUS_API bool preferred(const onednn::ConvProblem& problem, onednn::ConvPass pass);

/// Bytes of workspace, aligned to onednn::kWorkspaceAlignment.
[[nodiscard]] SORUS_API size_t workspace(const onednn::ConvProblem& problem, onednn::ConvPass pass);

/// With `weights_packed`, `weights` is what pack_weights made of them.
SORUS_API void forward(const onednn::ConvProblem& problem, const float* input, const float* weights,
                       const float* bias, float* out, void* workspace, bool weights_packed = false);
SORUS_API void backward_data(const onednn::ConvProblem& problem, const float* out_grad, const float* weights,
                             float* input_grad, void* workspace);
/// The weights of the forward pass, panel by panel.
[[nodiscard]] size_t packed_bytes(const onednn::ConvProblem& problem);
void pack_weights(const onednn::ConvProblem& problem, const float* weights, float* to);

/// The inner loops, for kernels that compute some of their results as these do, with panels of gemm::panel()
/// columns: c[i][j] += sum over p of a[i][p] * b[p, j] for `count` rows of k numbers and the columns j of a
/// panel, each sum going on as one chain of fused multiply-adds.
void add_rows(int64_t count, const float* const* a, float* const* c, int64_t k, const float* b);
/// A panel for each tap, from weights of k channels of the source and `width` of the result, at most a
/// panel's, whose neighbours are `source_step` and `result_step` floats apart. Zeros stand behind them.
void pack_panel(int64_t width, int64_t k, int64_t taps, const float* from, int64_t source_step,
                int64_t result_step, float* to);

}  // namespace sorus::kernels::tap_conv
