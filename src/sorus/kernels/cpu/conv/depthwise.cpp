#include "sorus/kernels/cpu/conv/depthwise.h"

#include <algorithm>
#include <cstring>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/conv/depthwise_line.h"
#include "sorus/kernels/cpu/conv/geometry.h"
#include "sorus/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/conv/depthwise.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "sorus/kernels/cpu/conv/depthwise_simd.h"

#if HWY_ONCE
namespace sorus::kernels::depthwise {
namespace {

using onednn::ConvOptions;
using onednn::ConvPass;
using onednn::ConvProblem;
using small_conv::Geometry;
using small_conv::Taps;

HWY_EXPORT(compute_line);
HWY_EXPORT(pack);
HWY_EXPORT(lanes);

constexpr int64_t kLeastChannels = 16;  // of the widest vector: a block of channels is full

int64_t vector_lanes() {
  static const int64_t count = HWY_DYNAMIC_DISPATCH(lanes)();
  return count;
}
int64_t blocks_of(const ConvProblem& p) { return (p.in_channels + vector_lanes() - 1) / vector_lanes(); }
int64_t packed_floats(const ConvProblem& p) { return blocks_of(p) * p.taps() * vector_lanes(); }

/// The gradient of the input, without strides, is the convolution of the gradient of the result with the
/// kernel turned round.
ConvProblem turned(ConvProblem p) {
  ConvProblem t = p;
  for (int i = 0; i < p.rank; ++i) {
    t.in[i] = p.out(i);
    t.pad_low[i] = (p.kernel[i] - 1) * p.dilation[i] - p.pad_low[i];
    t.pad_high[i] = (p.kernel[i] - 1) * p.dilation[i] - p.pad_high[i];
  }
  t.has_bias = false;
  t.activation = onednn::Activation::kNone;
  return t;
}

/// Rows of the source, counted through all images: those from `first` on.
struct Source {
  const float* data;
  int64_t first;
};

/// Rows [begin, end) of all images' rows of the result, written to `to`.
void compute_rows(const ConvProblem& p, const Geometry& g, int64_t begin, int64_t end, const Source& source,
                  const float* packed, const float* bias, float* to) {
  const int64_t channels = p.in_channels, lanes = vector_lanes();
  Line line{};
  line.source_floats = g.in_x * channels;
  line.channels = channels;
  line.taps_x = g.kernel_x;
  line.row_step = g.dilation_y * line.source_floats;
  line.tap_step = g.dilation_x * channels;
  line.step = g.stride_x * channels;
  line.pad = g.pad_x * channels;
  line.block_weights = g.taps() * lanes;
  line.bias = bias;
  line.relu = p.activation == onednn::Activation::kRelu;
  const small_conv::Inner inner(g);
  // A few blocks of channels at a time: their rows stay in the first-level cache for the next row of taps.
  constexpr int64_t kBlocksAtOnce = 4;
  const int64_t blocks = blocks_of(p);
  for (int64_t block = 0; block < blocks; block += kBlocksAtOnce)
    for (int64_t row = begin; row < end; ++row) {
      const int64_t image = row / g.out_y, y = row % g.out_y * g.stride_y - g.pad_y;
      const Taps taps(y, g.kernel_y, g.dilation_y, g.in_y);
      line.taps_y = taps.end - taps.first;
      const int64_t source_row =
          line.taps_y == 0 ? source.first : image * g.in_y + y + taps.first * g.dilation_y;
      line.source = source.data + (source_row - source.first) * line.source_floats;
      line.weights = packed + taps.first * g.kernel_x * lanes;
      line.to = to + (row - begin) * g.out_x * channels;
      HWY_DYNAMIC_DISPATCH(compute_line)
      (line, g.out_x, inner.begin, inner.end, block, std::min(blocks, block + kBlocksAtOnce));
    }
}

void run(const ConvProblem& p, const float* source, const float* packed, const float* bias, float* result,
         const ConvOptions& options) {
  const Geometry g(p);
  const int64_t rows = p.n * g.out_y, row_floats = g.out_x * p.in_channels;
  const int64_t pieces = small_conv::pieces_of_rows(rows, row_floats);
  parallel_for(pieces, [&](int64_t piece) {
    thread_local Scratch scratch;
    const int64_t begin = rows * piece / pieces, end = rows * (piece + 1) / pieces;
    float* to = result ? result + begin * row_floats : scratch.reserve((end - begin) * row_floats);
    compute_rows(p, g, begin, end, {source, 0}, packed, bias, to);
    if (options.taker)
      options.taker->take({to, p.in_channels, begin * g.out_x, (end - begin) * g.out_x, 0, p.in_channels});
  });
}

/// Rows of the source from which one row of the result comes, those between its taps included.
int64_t reach_of(const Geometry& g) { return (g.kernel_y - 1) * g.dilation_y + 1; }

/// Pieces of an image where the source is computed as it is wanted: what two of them need is computed twice,
/// a ninth of the source at most for the sake of some pieces for every thread, a 25th for that of many.
int64_t pieces_of_image(const ConvProblem& p, const Geometry& g) {
  constexpr int64_t kSome = 8, kMany = 32;
  const int64_t twice = reach_of(g) - g.stride_y;
  auto at_most = [&](int64_t part) {
    return twice <= 0 ? g.out_y : std::min(g.out_y, g.in_y / (part * twice) + 1);
  };
  const int64_t count =
      std::max(std::min((kSome + p.n - 1) / p.n, at_most(9)), std::min((kMany + p.n - 1) / p.n, at_most(25)));
  return p.n % 2 != 0 && count > 1 ? count / 2 * 2 : count;  // as many for each of two threads
}

/// Rows of the source, computed when the result needs them, in memory of the thread. What the next rows of
/// the result need again stays there.
class Window {
 public:
  Window(const RowSource& rows, const Geometry& g, int64_t most_rows)
      : rows_(rows), positions_(g.in_x), floats_(g.in_x * g.in_channels) {
    thread_local Scratch scratch;
    memory_ = scratch.reserve(most_rows * floats_);
  }
  /// Of all images' rows; neither end is before that of the last call.
  Source reach(int64_t begin, int64_t end) {
    const int64_t kept = std::max<int64_t>(end_ - begin, 0);
    if (kept > 0 && begin > begin_)
      std::memmove(memory_, memory_ + (begin - begin_) * floats_, static_cast<size_t>(kept * floats_) * 4);
    const int64_t known = begin + kept;
    if (known < end) rows_.fill(known * positions_, end * positions_, memory_ + kept * floats_);
    begin_ = begin, end_ = end;
    return {memory_, begin};
  }

 private:
  const RowSource& rows_;
  int64_t positions_, floats_;
  float* memory_;
  int64_t begin_ = 0, end_ = 0;
};

/// Rows of the result for which the window stays well within the second-level cache.
int64_t rows_at_once(const Geometry& g) {
  constexpr int64_t kWindowFloats = 96 * 1024;
  const int64_t rows = kWindowFloats / (g.in_x * g.in_channels);
  return std::clamp((rows - reach_of(g)) / g.stride_y + 1, int64_t{1}, g.out_y);
}

/// The same as run() where the source is computed when it is wanted.
void run_on_rows(const ConvProblem& p, const RowSource& source, const float* packed, const float* bias,
                 float* result, const ConvOptions& options) {
  const Geometry g(p);
  const int64_t channels = p.in_channels, row_floats = g.out_x * channels;
  const int64_t pieces = pieces_of_image(p, g), at_once = rows_at_once(g);
  parallel_for(p.n * pieces, [&](int64_t piece) {
    thread_local Scratch scratch;
    const int64_t image = piece / pieces, part = piece % pieces;
    const int64_t end = g.out_y * (part + 1) / pieces;
    Window window(source, g, (at_once - 1) * g.stride_y + reach_of(g));
    for (int64_t y = g.out_y * part / pieces; y < end; y += at_once) {
      const int64_t rows = std::min(at_once, end - y), row = image * g.out_y + y;
      const int64_t first = std::clamp<int64_t>(y * g.stride_y - g.pad_y, 0, g.in_y);
      const int64_t last = (y + rows - 1) * g.stride_y - g.pad_y + reach_of(g);
      const Source near =
          window.reach(image * g.in_y + first, image * g.in_y + std::clamp(last, first, g.in_y));
      float* to = result ? result + row * row_floats : scratch.reserve(rows * row_floats);
      compute_rows(p, g, row, row + rows, near, packed, bias, to);
      if (options.taker) options.taker->take({to, channels, row * g.out_x, rows * g.out_x, 0, channels});
    }
  });
}

}  // namespace

bool supports(const ConvProblem& p, ConvPass pass) {
  static const bool vectors = vector_lanes() >= 8;
  if (!vectors || p.type != onednn::ElementType::kFloat32 || p.rank < 1 || p.rank > 2) return false;
  if (p.groups != p.in_channels || p.groups != p.out_channels || p.groups < kLeastChannels) return false;
  if (pass == ConvPass::kBackwardWeights || p.n == 0) return false;
  for (int i = 0; i < p.rank; ++i) {
    if (p.in[i] <= 0 || p.out(i) <= 0 || p.kernel[i] < 1) return false;
    if (p.stride[i] < 1 || p.dilation[i] < 1 || (p.stride[i] > 1 && pass == ConvPass::kBackwardData))
      return false;
    const int64_t reach = (p.kernel[i] - 1) * p.dilation[i];
    if (p.pad_low[i] < 0 || p.pad_high[i] < 0 || std::max(p.pad_low[i], p.pad_high[i]) > reach) return false;
  }
  return true;
}

bool takes_rows(const ConvProblem& p) {
  if (!supports(p, ConvPass::kForward)) return false;
  constexpr int64_t kFewestPieces = 4, kMostFloats = 256 * 1024;
  const Geometry g(p);
  const bool is_near = reach_of(g) * g.in_x * g.in_channels <= kMostFloats;
  return is_near && reach_of(g) >= g.stride_y && p.n * pieces_of_image(p, g) >= kFewestPieces;
}

size_t packed_bytes(const ConvProblem& p) { return static_cast<size_t>(packed_floats(p)) * sizeof(float); }
size_t workspace(const ConvProblem& p) { return packed_bytes(p); }

void pack_weights(const ConvProblem& p, const float* weights, float* to) {
  HWY_DYNAMIC_DISPATCH(pack)(p.in_channels, p.taps(), false, weights, to);
}

namespace {

/// The weights as they are packed, in the workspace where they do not come so.
const float* packed_weights(const ConvProblem& p, const float* weights, void* workspace,
                            const ConvOptions& options) {
  SORUS_INTERNAL(supports(p, ConvPass::kForward),
                 "conv: depthwise kernel called for what it does not support");
  if (options.weights_packed) return weights;
  pack_weights(p, weights, static_cast<float*>(workspace));
  return static_cast<const float*>(workspace);
}

}  // namespace

void forward(const ConvProblem& p, const float* input, const float* weights, const float* bias, float* out,
             void* workspace, const ConvOptions& options) {
  run(p, input, packed_weights(p, weights, workspace, options), p.has_bias ? bias : nullptr, out, options);
}

void forward_on_rows(const ConvProblem& p, const RowSource& input, const float* weights, const float* bias,
                     float* out, void* workspace, const ConvOptions& options) {
  run_on_rows(p, input, packed_weights(p, weights, workspace, options), p.has_bias ? bias : nullptr, out,
              options);
}

void backward_data(const ConvProblem& p, const float* out_grad, const float* weights, float* input_grad,
                   void* workspace, const ConvOptions& options) {
  SORUS_INTERNAL(supports(p, ConvPass::kBackwardData),
                 "conv: depthwise kernel called for what it does not support");
  auto* packed = static_cast<float*>(workspace);
  HWY_DYNAMIC_DISPATCH(pack)(p.in_channels, p.taps(), true, weights, packed);
  run(turned(p), out_grad, packed, nullptr, input_grad, options);
}

}  // namespace sorus::kernels::depthwise
#endif
