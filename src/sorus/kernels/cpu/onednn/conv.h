#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "sorus/base/export.h"
#include "sorus/dispatch/result_piece.h"
#include "sorus/kernels/cpu/onednn/types.h"

namespace sorus::kernels::onednn {

inline constexpr int kMaxSpatialRank = 3;

/// A convolution (correlation) of `rank` spatial dimensions, with its two gradients.
///
/// Memory: activations are dense and channels-last, (n, spatial..., channels); weights are dense in the usual
/// order, (out_channels, in_channels / groups, spatial...). Output channel o belongs to group o /
/// (out_channels / groups). Of the arrays the first `rank` entries count. Dilation 1 means neighbouring taps.
/// Padding is with zeros. Everything is accumulated in float32 and rounded once.
struct ConvProblem {
  int64_t n = 0;
  int64_t groups = 1;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int rank = 2;
  std::array<int64_t, kMaxSpatialRank> in{1, 1, 1};
  std::array<int64_t, kMaxSpatialRank> kernel{1, 1, 1};
  std::array<int64_t, kMaxSpatialRank> stride{1, 1, 1};
  std::array<int64_t, kMaxSpatialRank> dilation{1, 1, 1};
  std::array<int64_t, kMaxSpatialRank> pad_low{0, 0, 0};
  std::array<int64_t, kMaxSpatialRank> pad_high{0, 0, 0};
  ElementType type = ElementType::kFloat32;
  /// Element type of the gradient with respect to the weights: float32 or `type`.
  ElementType weights_grad_type = ElementType::kFloat32;
  /// Forward only: a float32 bias of out_channels elements is added, then the activation applied.
  bool has_bias = false;
  Activation activation = Activation::kNone;

  bool operator==(const ConvProblem&) const = default;
  /// Length of the output along a spatial dimension, 0 when the kernel does not fit.
  [[nodiscard]] int64_t out(int i) const {
    int64_t room = in[i] + pad_low[i] + pad_high[i] - ((kernel[i] - 1) * dilation[i] + 1);
    return room < 0 ? 0 : room / stride[i] + 1;
  }
  [[nodiscard]] int64_t in_positions() const {
    return product([this](int i) { return in[i]; });
  }
  [[nodiscard]] int64_t out_positions() const {
    return product([this](int i) { return out(i); });
  }
  [[nodiscard]] int64_t taps() const {
    return product([this](int i) { return kernel[i]; });
  }
  /// Elements of the weights.
  [[nodiscard]] int64_t weights() const { return out_channels * (in_channels / groups) * taps(); }
  /// Floating-point operations of one pass, padding counted.
  [[nodiscard]] double flops() const {
    return 2.0 * static_cast<double>(n * out_positions()) * static_cast<double>(weights());
  }

 private:
  template <class F>
  [[nodiscard]] int64_t product(F&& length) const {
    int64_t result = 1;
    for (int i = 0; i < rank; ++i) result *= length(i);
    return result;
  }
};

enum class ConvPass : uint8_t { kForward, kBackwardData, kBackwardWeights };

/// What a caller may ask for beside the result of forward or backward data.
struct ConvOptions {
  /// Gets the result piece by piece, as a matrix of positions by channels; the result itself may then be
  /// null.
  const PieceTaker* taker = nullptr;
  /// Forward only: `weights` is what pack_weights made of them.
  bool weights_packed = false;
};

/// Bytes of workspace, aligned to kWorkspaceAlignment, that the pass needs; depends on the problem alone.
/// All functions below throw ShapeError for sizes that do not fit, ValueError for a stride, dilation or group
/// count below 1 or a negative padding, NotSupportedError for bfloat16 on a CPU for which oneDNN has no
/// kernel.
[[nodiscard]] SORUS_API size_t conv_workspace(const ConvProblem& problem, ConvPass pass);

/// out = activation(input * weights + bias). `bias` may be null unless the problem has one.
SORUS_API void conv_forward(const ConvProblem& problem, const void* input, const void* weights,
                            const float* bias, void* out, void* workspace, const ConvOptions& options = {});

/// Gradient with respect to the input from the one of the output.
SORUS_API void conv_backward_data(const ConvProblem& problem, const void* out_grad, const void* weights,
                                  void* input_grad, void* workspace, const ConvOptions& options = {});

/// Whether a taker may be given to the pass, forward or backward data: not where it is cut by channels.
[[nodiscard]] bool conv_has_pieces(const ConvProblem& problem, ConvPass pass);

/// Bytes that pack_weights writes, aligned to kWorkspaceAlignment.
[[nodiscard]] SORUS_API size_t conv_packed_bytes(const ConvProblem& problem);
/// Brings weights into the order in which conv_forward reads them, once for many calls. It belongs to this
/// process and CPU.
SORUS_API void conv_pack_weights(const ConvProblem& problem, const void* weights, void* to);

/// Gradient with respect to the weights. The sum over the batch is cut into parts by the shape alone, which
/// are added in order.
SORUS_API void conv_backward_weights(const ConvProblem& problem, const void* input, const void* out_grad,
                                     void* weights_grad, void* workspace);

/// Name of the kernel behind a pass, for verbose output and tests ("brgconv:avx512_core", "matmul", ...).
[[nodiscard]] SORUS_API std::string conv_implementation(const ConvProblem& problem, ConvPass pass);

}  // namespace sorus::kernels::onednn
