#include "sorus/kernels/cpu/conv/winograd_weights.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/conv/winograd_tile.h"
#include "sorus/kernels/cpu/gemm/block.h"
#include "sorus/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/conv/winograd_weights.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "sorus/kernels/cpu/conv/winograd_weights_simd.h"

#if HWY_ONCE
namespace sorus::kernels::winograd::weights {
namespace {

using onednn::ConvProblem;

HWY_EXPORT(add_rows);
HWY_EXPORT(finish);
HWY_EXPORT(transform_gradient);

constexpr int64_t kOutBlock = 64, kInBlock = 128;  // channels whose sums stay in the second-level cache
constexpr int64_t kTiles = 48;                     // transformed at once

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Channels [first, first + count) of one side.
struct Channels {
  int64_t first, count;
  Channels(int64_t index, int64_t block, int64_t all)
      : first(index * block), count(std::min(block, all - first)) {}
};

/// How a gradient is cut: by blocks of channels on both sides, and by tiles into parts.
struct Plan {
  const ConvProblem& p;
  int64_t tiles_y, tiles_x, tiles;
  int64_t out_blocks, in_blocks, parts, part_tiles;

  explicit Plan(const ConvProblem& problem) : p(problem) {
    constexpr int64_t kPieces = 8, kFewestTiles = 48;  // of a part, unless there are no more
    tiles_y = ceil_div(p.out(0), 2), tiles_x = ceil_div(p.out(1), 2);
    tiles = p.n * tiles_y * tiles_x;
    out_blocks = ceil_div(p.out_channels, kOutBlock), in_blocks = ceil_div(p.in_channels, kInBlock);
    const int64_t wanted = ceil_div(kPieces, out_blocks * in_blocks);
    part_tiles = ceil_div(tiles, std::clamp<int64_t>(tiles / kFewestTiles, 1, wanted));
    parts = ceil_div(tiles, part_tiles);
  }
  [[nodiscard]] int64_t pieces() const { return parts * out_blocks * in_blocks; }
  [[nodiscard]] Channels out_block(int64_t i) const { return {i, kOutBlock, p.out_channels}; }
  [[nodiscard]] Channels in_block(int64_t i) const { return {i, kInBlock, p.in_channels}; }
  /// The sums of a part: block by block, in each place by place, rows of input channels.
  [[nodiscard]] int64_t part_floats() const { return kPlaces * p.out_channels * p.in_channels; }
  [[nodiscard]] int64_t block_at(const Channels& out, const Channels& in) const {
    return kPlaces * (out.first * p.in_channels + out.count * in.first);
  }
};

struct Operands {
  const float* input;
  const float* out_grad;
  float* weights_grad;
};

ImageView image_of(const ConvProblem& p, const float* input, int64_t n, const Channels& in) {
  return {input + n * p.in_positions() * p.in_channels + in.first, p.in[0], p.in[1], p.in_channels, in.count};
}
ImageView gradient_of(const ConvProblem& p, const float* out_grad, int64_t n, const Channels& out) {
  return {out_grad + n * p.out_positions() * p.out_channels + out.first, p.out(0), p.out(1), p.out_channels,
          out.count};
}

/// Transforms the tile of 2x2 positions from (y, x) on; what lies outside of the image is zero.
void read_gradient(const ImageView& image, int64_t y, int64_t x, float* patch, float* to, int64_t place) {
  const int64_t channels = image.channels;
  if (image.has(y + 1, x + 1)) {
    HWY_DYNAMIC_DISPATCH(transform_gradient)
    (channels, image.at(y, x), image.size_x * image.pitch, image.pitch, to, place);
    return;
  }
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t py = y + i / 2, px = x + i % 2;
    float* at = patch + i * channels;
    image.has(py, px) ? (void)std::copy_n(image.at(py, px), channels, at)
                      : (void)std::fill_n(at, channels, 0.0F);
  }
  HWY_DYNAMIC_DISPATCH(transform_gradient)(channels, patch, 2 * channels, channels, to, place);
}

/// Adds the products of tiles [begin, end), each of their sums a chain from zero, to the sums of a block, or
/// begins them.
void add_tiles(const Plan& plan, const Operands& data, const Channels& out, const Channels& in, int64_t begin,
               int64_t end, bool first, float* sums) {
  thread_local Scratch input_scratch, gradient_scratch, patch_scratch, chunk_scratch;
  const ConvProblem& p = plan.p;
  // A line more for each place, so that those of a tile do not fall on the same sets of a cache.
  const int64_t input_place = (end - begin) * in.count + kLine;
  const int64_t gradient_place = (end - begin) * out.count + kLine;
  // Inner loops read whole panels, of the last row too.
  float* inputs = input_scratch.reserve(kPlaces * input_place + gemm::panel());
  float* gradients = gradient_scratch.reserve(kPlaces * gradient_place + gemm::panel());
  float* patch = patch_scratch.reserve(kPlaces * std::max(kInBlock, kOutBlock));
  float* chunk = chunk_scratch.reserve(kOutBlock * gemm::panel());
  for (int64_t i = begin; i < end; ++i) {
    const int64_t tx = i % plan.tiles_x, row = i / plan.tiles_x;
    const int64_t ty = row % plan.tiles_y, n = row / plan.tiles_y;
    read_tile(image_of(p, data.input, n, in), 2 * ty - p.pad_low[0], 2 * tx - p.pad_low[1], patch,
              inputs + (i - begin) * in.count, input_place);
    read_gradient(gradient_of(p, data.out_grad, n, out), 2 * ty, 2 * tx, patch,
                  gradients + (i - begin) * out.count, gradient_place);
  }
  for (int64_t place = 0; place < kPlaces; ++place) {
    for (int64_t column = 0; column < in.count; column += gemm::panel()) {
      gemm::Block block{};
      block.rows = out.count, block.k = end - begin, block.width = std::min(gemm::panel(), in.count - column);
      block.a = gradients + place * gradient_place;
      block.a_panel = gemm::kBlockRows, block.a_column = out.count;
      block.b = inputs + place * input_place + column, block.b_row = in.count;
      float* to = sums + place * out.count * in.count + column;
      block.c = first ? to : chunk, block.c_row = first ? in.count : gemm::panel();
      block.first = true;
      gemm::multiply_block(block);
      if (!first) HWY_DYNAMIC_DISPATCH(add_rows)(out.count, block.width, chunk, gemm::panel(), to, in.count);
    }
  }
}

void run_piece(const Plan& plan, const Operands& data, int64_t index, float* sums) {
  const Channels in = plan.in_block(index % plan.in_blocks);
  const Channels out = plan.out_block(index / plan.in_blocks % plan.out_blocks);
  const int64_t part = index / plan.in_blocks / plan.out_blocks;
  const int64_t begin = part * plan.part_tiles, end = std::min(plan.tiles, begin + plan.part_tiles);
  const int64_t chunks = ceil_div(end - begin, kTiles), chunk = ceil_div(end - begin, chunks);
  float* to = sums + part * plan.part_floats() + plan.block_at(out, in);
  for (int64_t at = begin; at < end; at += chunk)
    add_tiles(plan, data, out, in, at, std::min(end, at + chunk), at == begin, to);
}

/// The taps of output channel o; false when one is not finite.
bool finish_channel(const Plan& plan, const Operands& data, int64_t o, const float* sums) {
  thread_local Scratch scratch;
  float* taps = scratch.reserve(kTaps * kInBlock);
  const Channels out = plan.out_block(o / kOutBlock);
  bool finite = true;
  for (int64_t i = 0; i < plan.in_blocks; ++i) {
    const Channels in = plan.in_block(i);
    finite &= HWY_DYNAMIC_DISPATCH(finish)(
        in.count, plan.parts, sums + plan.block_at(out, in) + (o - out.first) * in.count, plan.part_floats(),
        out.count * in.count, taps, data.weights_grad + (o * plan.p.in_channels + in.first) * kTaps);
  }
  return finite;
}

/// One tap of some channels as plain sums: chains over images and positions inside of both images.
void add_plainly(const ConvProblem& p, const Operands& data, const Channels& out, const Channels& in,
                 int64_t tap, float* sums) {
  const int64_t shift_y = tap / 3 - p.pad_low[0], shift_x = tap % 3 - p.pad_low[1];
  const int64_t begin = std::max<int64_t>(0, -shift_x), end = std::min(p.out(1), p.in[1] - shift_x);
  std::fill_n(sums, out.count * in.count, 0.0F);
  for (int64_t row = 0; begin < end && row < p.n * p.out(0); ++row) {
    const int64_t n = row / p.out(0), y = row % p.out(0);
    if (y + shift_y < 0 || y + shift_y >= p.in[0]) continue;
    gemm::Block block{};
    block.rows = out.count, block.k = end - begin, block.width = in.count;
    block.a = gradient_of(p, data.out_grad, n, out).at(y, begin);
    block.a_panel = gemm::kBlockRows, block.a_column = p.out_channels;
    block.b = image_of(p, data.input, n, in).at(y + shift_y, begin + shift_x), block.b_row = p.in_channels;
    block.c = sums, block.c_row = in.count;
    gemm::multiply_block(block);
  }
}

/// Computes what is not finite in one tap of a block of output channels and some input channels again.
void mend(const ConvProblem& p, const Operands& data, Channels out, const Channels& in, int64_t tap) {
  thread_local Scratch scratch;
  const auto at = [&](int64_t o, int64_t c) -> float& {
    return data.weights_grad[(o * p.in_channels + in.first + c) * kTaps + tap];
  };
  const auto finite = [&](int64_t o) {
    for (int64_t c = 0; c < in.count; ++c)
      if (!std::isfinite(at(o, c))) return false;
    return true;
  };
  while (out.count > 0 && finite(out.first)) ++out.first, --out.count;
  while (out.count > 0 && finite(out.first + out.count - 1)) --out.count;
  if (out.count == 0) return;
  float* sums = scratch.reserve(kOutBlock * gemm::panel());
  add_plainly(p, data, out, in, tap, sums);
  for (int64_t o = 0; o < out.count; ++o) {
    for (int64_t c = 0; c < in.count; ++c) {
      float& own = at(out.first + o, c);
      if (!std::isfinite(own)) own = sums[o * in.count + c];
    }
  }
}

void mend_all(const Plan& plan, const Operands& data) {
  const ConvProblem& p = plan.p;
  // Inner loops may read no further than the input reaches: whole panels, then single lines.
  const int64_t panels = p.in_channels / gemm::panel(), rest = p.in_channels % gemm::panel();
  const int64_t groups = panels + ceil_div(rest, kLine);
  parallel_for(kTaps * groups * plan.out_blocks, [&](int64_t piece) {
    const int64_t group = piece / kTaps % groups;
    Channels in(group, gemm::panel(), p.in_channels);
    if (group >= panels) in.first = panels * gemm::panel() + (group - panels) * kLine, in.count = kLine;
    mend(p, data, plan.out_block(piece / kTaps / groups), in, piece % kTaps);
  });
}

}  // namespace

bool preferred(const ConvProblem& p) {
  constexpr int64_t kFewestChannels = 32, kFewestPieces = 4;
  constexpr int64_t kManyWeights =
      1 << 20;  // whose sums, read and written again by every chunk, are far away
  if (std::min(p.in_channels, p.out_channels) < kFewestChannels) return false;
  const Plan plan(p);
  // Tiles that reach beyond the image are computed in vain.
  if (4 * 4 * plan.tiles_y * plan.tiles_x > 5 * p.out_positions()) return false;
  return plan.tiles >= (p.weights() < kManyWeights ? 48 : 160) && plan.pieces() >= kFewestPieces;
}

size_t workspace(const ConvProblem& p) {
  const Plan plan(p);
  return static_cast<size_t>(plan.parts * plan.part_floats()) * sizeof(float);
}

void backward(const ConvProblem& p, const float* input, const float* out_grad, float* weights_grad,
              void* workspace) {
  const Plan plan(p);
  const Operands data{input, out_grad, weights_grad};
  auto* sums = static_cast<float*>(workspace);
  parallel_for(plan.pieces(), [&](int64_t piece) { run_piece(plan, data, piece, sums); });
  std::atomic<bool> finite = true;
  parallel_for(p.out_channels, [&](int64_t o) {
    if (!finish_channel(plan, data, o, sums)) finite = false;
  });
  if (!finite) mend_all(plan, data);
}

}  // namespace sorus::kernels::winograd::weights
#endif
