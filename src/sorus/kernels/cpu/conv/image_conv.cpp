#include "sorus/kernels/cpu/conv/image_conv.h"

#include <algorithm>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/conv/geometry.h"
#include "sorus/kernels/cpu/conv/image_line.h"
#include "sorus/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/conv/image_conv.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "sorus/kernels/cpu/conv/image_conv_simd.h"

#if HWY_ONCE
namespace sorus::kernels::image_conv {
namespace {

using onednn::ConvOptions;
using onednn::ConvProblem;
using small_conv::Geometry;
using small_conv::Taps;

HWY_EXPORT(compute_line);
HWY_EXPORT(lanes);

constexpr int64_t kMostPlanes = 4;
constexpr int64_t kChannelStep = 16;  // of the widest vector

/// Rows [begin, end) of all images' rows of the result, written to `to`.
void compute_rows(const ConvProblem& p, const Geometry& g, int64_t begin, int64_t end, const float* input,
                  const float* packed, const float* bias, float* to) {
  Line line{};
  line.bias = bias;
  line.planes = g.in_channels;
  line.channels = g.out_channels;
  line.taps_x = g.kernel_x;
  line.source_plane = g.in_y * g.in_x;
  line.row_step = g.dilation_y * g.in_x;
  line.weights_plane = g.taps() * g.out_channels;
  line.tap_step = g.dilation_x;
  line.step = g.stride_x;
  line.pad = g.pad_x;
  line.width = g.in_x;
  line.relu = p.activation == onednn::Activation::kRelu;
  const small_conv::Inner inner(g);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t image = row / g.out_y, y = row % g.out_y * g.stride_y - g.pad_y;
    const Taps taps(y, g.kernel_y, g.dilation_y, g.in_y);
    line.taps_y = taps.end - taps.first;
    const int64_t source_row = line.taps_y == 0 ? 0 : y + taps.first * g.dilation_y;
    line.source = input + image * g.in_channels * line.source_plane + source_row * g.in_x;
    line.weights = packed + taps.first * g.kernel_x * g.out_channels;
    line.to = to + (row - begin) * g.out_x * g.out_channels;
    HWY_DYNAMIC_DISPATCH(compute_line)(line, g.out_x, inner.begin, inner.end);
  }
}

}  // namespace

bool takes(const ConvProblem& p) {
  static const bool vectors = HWY_DYNAMIC_DISPATCH(lanes)() >= 8;
  if (!vectors || p.type != onednn::ElementType::kFloat32 || p.rank != 2 || p.groups != 1) return false;
  if (p.in_channels < 1 || p.in_channels > kMostPlanes || p.out_channels < kChannelStep ||
      p.out_channels % kChannelStep != 0 || p.n == 0 || p.taps() == 1)
    return false;
  for (int i = 0; i < p.rank; ++i) {
    if (p.in[i] <= 0 || p.out(i) <= 0 || p.kernel[i] < 1 || p.stride[i] < 1 || p.dilation[i] < 1)
      return false;
    const int64_t reach = (p.kernel[i] - 1) * p.dilation[i];
    if (p.pad_low[i] < 0 || p.pad_high[i] < 0 || std::max(p.pad_low[i], p.pad_high[i]) > reach) return false;
  }
  return true;
}

size_t packed_bytes(const ConvProblem& p) { return static_cast<size_t>(p.weights()) * sizeof(float); }
size_t workspace(const ConvProblem& p) { return packed_bytes(p); }

/// to[plane][tap][channel] from (channels, planes, taps).
void pack_weights(const ConvProblem& p, const float* weights, float* to) {
  const int64_t inner = p.in_channels * p.taps();
  for (int64_t i = 0; i < inner; ++i)
    for (int64_t channel = 0; channel < p.out_channels; ++channel)
      to[i * p.out_channels + channel] = weights[channel * inner + i];
}

void forward(const ConvProblem& p, const float* input, const float* weights, const float* bias, float* out,
             void* workspace, const ConvOptions& options) {
  SORUS_INTERNAL(takes(p), "conv: kernel of images called for what it does not take");
  const float* packed = weights;
  if (!options.weights_packed) {
    pack_weights(p, weights, static_cast<float*>(workspace));
    packed = static_cast<const float*>(workspace);
  }
  const Geometry g(p);
  const int64_t rows = p.n * g.out_y, row_floats = g.out_x * g.out_channels;
  const int64_t pieces = small_conv::pieces_of_rows(rows, row_floats);
  parallel_for(pieces, [&](int64_t piece) {
    thread_local Scratch scratch;
    const int64_t begin = rows * piece / pieces, end = rows * (piece + 1) / pieces;
    float* to = out ? out + begin * row_floats : scratch.reserve((end - begin) * row_floats);
    compute_rows(p, g, begin, end, input, packed, p.has_bias ? bias : nullptr, to);
    if (options.taker)
      options.taker->take({to, g.out_channels, begin * g.out_x, (end - begin) * g.out_x, 0, g.out_channels});
  });
}

}  // namespace sorus::kernels::image_conv
#endif
