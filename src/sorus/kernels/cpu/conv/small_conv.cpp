#include "sorus/kernels/cpu/conv/small_conv.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/base/tunable.h"
#include "sorus/kernels/cpu/conv/geometry.h"
#include "sorus/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/conv/small_conv.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "sorus/kernels/cpu/conv/small_conv_simd.h"

#if HWY_ONCE
namespace sorus::kernels {
namespace {

using onednn::ConvOptions;
using onednn::ConvPass;
using onednn::ConvProblem;
using small_conv::Geometry;

HWY_EXPORT(forward_image);
HWY_EXPORT(backward_data_image);
HWY_EXPORT(backward_weights_images);

constexpr int64_t kLine = 16;  // floats per cache line

const Tunable piece_work({.name = "conv.small_piece_work",
                          .initial = 1'000'000,
                          .least = 125'000,
                          .most = 16'000'000,
                          .doc = "floating-point operations that are worth a piece, by whole images"});
// Its pieces have a sum each.
const Tunable weights_piece_work({.name = "conv.small_weights_piece_work",
                                  .initial = 1'000'000,
                                  .least = 125'000,
                                  .most = 16'000'000,
                                  .effect = BitEffect::kMovesBits,
                                  .doc = "the same where gradients of weights are summed"});

int64_t rounded(int64_t floats) { return (floats + kLine - 1) / kLine * kLine; }

/// How images are dealt to pieces, and the floats of workspace: what is shared, then a part per piece.
struct Layout {
  int64_t images_per_piece, pieces;
  int64_t shared, per_piece;

  Layout(const ConvProblem& p, ConvPass pass) {
    const bool sums = pass == ConvPass::kBackwardWeights;
    const int64_t most = sums ? 8 : 64;  // each piece of that pass has a sum of its own
    const auto work = static_cast<double>((sums ? weights_piece_work : piece_work).get());
    // A power of two, so that equal pieces keep 2, 4 or 8 threads equally busy.
    auto worth = static_cast<uint64_t>(std::clamp(p.flops() / work, 1.0, static_cast<double>(most)));
    int64_t wanted = std::min(static_cast<int64_t>(std::bit_ceil(worth)), p.n);
    images_per_piece = (p.n + wanted - 1) / wanted;
    pieces = (p.n + images_per_piece - 1) / images_per_piece;
    Geometry g(p);
    int64_t planes = rounded(g.planes() * g.plane_size);
    switch (pass) {
      case ConvPass::kForward:
        shared = rounded(p.weights());
        per_piece = planes + g.out_channels * rounded(g.flat_positions() + Geometry::kSlack);
        break;
      case ConvPass::kBackwardData:
        shared = g.kernel_y * g.out_channels * rounded(g.kernel_x * g.in_channels);
        per_piece = g.out_x * rounded(g.kernel_x * g.in_channels) + rounded(4 * g.kernel_y);
        break;
      case ConvPass::kBackwardWeights:
        shared = 0;
        per_piece = planes + g.out_channels * rounded(g.out_y * g.pitch + Geometry::kSlack) +
                    rounded(p.weights() * kLine) + rounded(p.weights());
        break;
    }
  }
  int64_t floats() const { return shared + pieces * per_piece; }
};

bool is_empty(const ConvProblem& p) {
  return p.n == 0 || p.weights() == 0 || p.in_positions() == 0 || p.out_positions() == 0;
}

void check_supported(const ConvProblem& p) {
  SORUS_INTERNAL(small_conv_supports(p), "conv: small-channel kernel called for what it does not support");
}

/// Where an image of the result goes: into the result, or into memory of the thread for a taker.
float* image_memory(float* result, int64_t image, int64_t floats) {
  thread_local Scratch scratch;
  return result ? result + image * floats : scratch.reserve(floats);
}
void hand_over(const ConvOptions& options, const float* data, int64_t image, int64_t positions,
               int64_t channels) {
  if (options.taker) options.taker->take({data, channels, image * positions, positions, 0, channels});
}

/// With long strides the planes, one for each remainder, are mostly slack.
bool planes_outweigh_image(const ConvProblem& p) {
  const Geometry g(p);
  constexpr int64_t kFewPlanes = 16, kGrowth = 4;
  const int64_t planes = g.stride_y * g.stride_x;
  return planes > kFewPlanes && planes * g.plane_size > kGrowth * g.in_y * g.in_x;
}

}  // namespace

bool small_conv_supports(const ConvProblem& p) {
  return p.type == onednn::ElementType::kFloat32 && p.weights_grad_type == onednn::ElementType::kFloat32 &&
         p.groups == 1 && p.rank <= 2;
}

bool small_conv_preferred(const ConvProblem& p, ConvPass pass) {
  if (!small_conv_supports(p) || is_empty(p) || p.taps() < 4) return false;
  if (planes_outweigh_image(p)) return false;
  switch (pass) {
    case ConvPass::kForward:
      return p.out_channels <= 8 && p.in_channels <= 8;
    case ConvPass::kBackwardData:
      return p.in_channels <= 8 && p.out_channels <= 64;
    case ConvPass::kBackwardWeights:
      return p.out_channels <= 8 && p.in_channels <= 8;
  }
  return false;
}

size_t small_conv_workspace(const ConvProblem& problem, ConvPass pass) {
  check_supported(problem);
  if (is_empty(problem)) return 0;
  return static_cast<size_t>(Layout(problem, pass).floats()) * sizeof(float);
}

void small_conv_forward(const ConvProblem& p, const float* input, const float* weights, const float* bias,
                        float* out, void* workspace, const ConvOptions& options) {
  check_supported(p);
  SORUS_INTERNAL(!is_empty(p), "conv: small-channel kernel called without work");
  Geometry g(p);
  Layout layout(p, ConvPass::kForward);
  float* space = static_cast<float*>(workspace);
  // Weights in the order of use: channel, tap, output channel.
  int64_t inner = g.in_channels * g.taps();
  for (int64_t i = 0; i < inner; ++i) {
    for (int64_t o = 0; o < g.out_channels; ++o) space[i * g.out_channels + o] = weights[o * inner + i];
  }
  bool relu = p.activation == onednn::Activation::kRelu;
  parallel_for(layout.pieces, [&](int64_t piece) {
    float* own = space + layout.shared + piece * layout.per_piece;
    int64_t end = std::min(p.n, (piece + 1) * layout.images_per_piece);
    for (int64_t i = piece * layout.images_per_piece; i < end; ++i) {
      float* to = image_memory(out, i, g.out_y * g.out_x * g.out_channels);
      HWY_DYNAMIC_DISPATCH(forward_image)
      (g, input + i * g.in_y * g.in_x * g.in_channels, space, p.has_bias ? bias : nullptr, relu, to, own,
       i == piece * layout.images_per_piece);
      hand_over(options, to, i, g.out_y * g.out_x, g.out_channels);
    }
  });
}

void small_conv_backward_data(const ConvProblem& p, const float* out_grad, const float* weights,
                              float* input_grad, void* workspace, const ConvOptions& options) {
  check_supported(p);
  SORUS_INTERNAL(!is_empty(p), "conv: small-channel kernel called without work");
  Geometry g(p);
  Layout layout(p, ConvPass::kBackwardData);
  float* space = static_cast<float*>(workspace);
  // A matrix per kernel row: a row for each output channel, a column for each tap and input channel.
  int64_t row = rounded(g.kernel_x * g.in_channels);
  std::fill(space, space + layout.shared, 0.0F);
  for (int64_t o = 0; o < g.out_channels; ++o) {
    for (int64_t c = 0; c < g.in_channels; ++c) {
      const float* from = weights + (o * g.in_channels + c) * g.taps();
      for (int64_t ky = 0; ky < g.kernel_y; ++ky) {
        float* to = space + (ky * g.out_channels + o) * row + c;
        for (int64_t kx = 0; kx < g.kernel_x; ++kx) to[kx * g.in_channels] = from[ky * g.kernel_x + kx];
      }
    }
  }
  parallel_for(layout.pieces, [&](int64_t piece) {
    float* own = space + layout.shared + piece * layout.per_piece;
    int64_t end = std::min(p.n, (piece + 1) * layout.images_per_piece);
    for (int64_t i = piece * layout.images_per_piece; i < end; ++i) {
      auto pointers = reinterpret_cast<const float**>(own + layout.per_piece - rounded(4 * g.kernel_y));
      float* to = image_memory(input_grad, i, g.in_y * g.in_x * g.in_channels);
      HWY_DYNAMIC_DISPATCH(backward_data_image)
      (g, out_grad + i * g.out_y * g.out_x * g.out_channels, space, to, own, pointers);
      hand_over(options, to, i, g.in_y * g.in_x, g.in_channels);
    }
  });
}

void small_conv_backward_weights(const ConvProblem& p, const float* input, const float* out_grad,
                                 float* weights_grad, void* workspace) {
  check_supported(p);
  SORUS_INTERNAL(!is_empty(p), "conv: small-channel kernel called without work");
  Geometry g(p);
  Layout layout(p, ConvPass::kBackwardWeights);
  float* space = static_cast<float*>(workspace);
  auto sums = [&](int64_t piece) { return space + (piece + 1) * layout.per_piece - rounded(p.weights()); };
  parallel_for(layout.pieces, [&](int64_t piece) {
    int64_t first = piece * layout.images_per_piece, count = std::min(layout.images_per_piece, p.n - first);
    HWY_DYNAMIC_DISPATCH(backward_weights_images)
    (g, count, input + first * g.in_y * g.in_x * g.in_channels,
     out_grad + first * g.out_y * g.out_x * g.out_channels, sums(piece), space + piece * layout.per_piece);
  });
  std::memcpy(weights_grad, sums(0), static_cast<size_t>(p.weights()) * sizeof(float));
  for (int64_t piece = 1; piece < layout.pieces; ++piece) {
    for (int64_t i = 0; i < p.weights(); ++i) weights_grad[i] += sums(piece)[i];
  }
}

}  // namespace sorus::kernels
#endif
