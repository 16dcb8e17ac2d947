#include "sorus/kernels/cpu/conv/winograd.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/conv/tap_conv.h"
#include "sorus/kernels/cpu/conv/winograd_tile.h"
#include "sorus/kernels/cpu/conv/winograd_weights.h"
#include "sorus/kernels/cpu/gemm/block.h"
#include "sorus/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/conv/winograd.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "sorus/kernels/cpu/conv/winograd_simd.h"

#if HWY_ONCE
namespace sorus::kernels::winograd {
namespace {

using onednn::ConvOptions;
using onednn::ConvPass;
using onednn::ConvProblem;

HWY_EXPORT(transform_result);
HWY_EXPORT(transform_source);
HWY_EXPORT(transform_weights);

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A pass, seen as one that computes rows of channels of a result from those of a source, and its tiles.
struct Plan {
  int64_t images, source_channels, result_channels;
  int64_t source_y, source_x, result_y, result_x;
  int64_t pad_y, pad_x;
  int64_t source_step, result_step;  // of the weights, in floats, from channel to channel
  bool reversed;
  int64_t panels, tiles_y, tiles_x;
  int64_t tile_rows;  // of a piece, counted through all images
  bool relu;

  Plan(const ConvProblem& p, ConvPass pass) : images(p.n) {
    const bool forward = pass == ConvPass::kForward;
    source_channels = p.in_channels, result_channels = p.out_channels;
    source_y = p.in[0], source_x = p.in[1], result_y = p.out(0), result_x = p.out(1);
    pad_y = p.pad_low[0], pad_x = p.pad_low[1];
    source_step = kTaps, result_step = p.in_channels * kTaps;
    reversed = !forward;
    if (!forward) {
      std::swap(source_channels, result_channels);
      std::swap(source_y, result_y), std::swap(source_x, result_x);
      std::swap(source_step, result_step);
      pad_y = 2 - pad_y, pad_x = 2 - pad_x;
    }
    panels = ceil_div(result_channels, gemm::panel());
    tiles_y = ceil_div(result_y, 2), tiles_x = ceil_div(result_x, 2);
    constexpr int64_t kTiles = 56;
    tile_rows =
        std::clamp<int64_t>(kTiles / std::max<int64_t>(tiles_x, 1), 1, std::max<int64_t>(all_rows(), 1));
    relu = forward && p.activation == onednn::Activation::kRelu;
  }
  /// Rows of tiles of all images.
  [[nodiscard]] int64_t all_rows() const { return images * tiles_y; }
  [[nodiscard]] int64_t pieces() const { return ceil_div(all_rows(), tile_rows); }
  /// The row of the result, counted through all images, where a row of tiles begins.
  [[nodiscard]] int64_t first_row(int64_t tile_row) const {
    return tile_row / tiles_y * result_y + tile_row % tiles_y * 2;
  }
  [[nodiscard]] ImageView image(const float* source, int64_t n) const {
    return {source + n * source_y * source_x * source_channels, source_y, source_x, source_channels,
            source_channels};
  }
  [[nodiscard]] int64_t panel_floats() const { return source_channels * gemm::panel(); }
  [[nodiscard]] int64_t packed_floats() const { return kPlaces * panels * panel_floats(); }
};

struct Operands {
  const float* source;
  const float* weights;
  const float* packed;
  const float* bias;
  float* result;  // may be null
  const ConvOptions& options;
};

/// The weights of all places: panels of each in the order of products.
void pack(const Plan& plan, const float* weights, float* to) {
  constexpr int64_t kGrain = 16;  // channels of the source
  const int64_t groups = ceil_div(plan.source_channels, kGrain);
  parallel_for(plan.panels * groups, [&](int64_t piece) {
    const int64_t j = piece / groups, begin = piece % groups * kGrain;
    const int64_t first = j * gemm::panel();
    for (int64_t c = begin; c < std::min(begin + kGrain, plan.source_channels); ++c) {
      HWY_DYNAMIC_DISPATCH(transform_weights)
      (std::min(gemm::panel(), plan.result_channels - first),
       weights + first * plan.result_step + c * plan.source_step, plan.result_step, plan.reversed,
       to + j * plan.panel_floats() + c * gemm::panel(), plan.panels * plan.panel_floats());
    }
  });
}

/// The part of a tile of the result that lies inside of the image.
struct Inside {
  int64_t height, width;
  Inside(const Plan& plan, int64_t ty, int64_t tx)
      : height(std::min<int64_t>(2, plan.result_y - 2 * ty)),
        width(std::min<int64_t>(2, plan.result_x - 2 * tx)) {}
};

/// One tile of the result, of which the part inside of the image is written to `rows`, where row 2 ty of the
/// image begins. False when a result is not finite.
bool write_tile(const Plan& plan, const Operands& data, const float* from, int64_t place, int64_t ty,
                int64_t tx, float* patch, float* rows) {
  const int64_t channels = plan.result_channels, row = plan.result_x * channels;
  const Inside inside(plan, ty, tx);
  float* to = rows + 2 * tx * channels;
  if (inside.height == 2 && inside.width == 2) {
    return HWY_DYNAMIC_DISPATCH(transform_result)(channels, from, place, data.bias, plan.relu, to, row,
                                                  channels);
  }
  const bool finite = HWY_DYNAMIC_DISPATCH(transform_result)(channels, from, place, data.bias, plan.relu,
                                                             patch, 2 * channels, channels);
  for (int64_t y = 0; y < inside.height; ++y)
    std::copy_n(patch + 2 * y * channels, inside.width * channels, to + y * row);
  return finite;
}

/// A piece whose tiles' places have been multiplied.
struct Piece {
  int64_t begin;  // row of tiles
  const float* products;
  int64_t place;  // floats from one place's products to the next's
  float* to;      // its rows of the result

  [[nodiscard]] int64_t tile_row(const Plan& plan, int64_t tile) const { return begin + tile / plan.tiles_x; }
  /// Where the first row of a tile's results begins.
  [[nodiscard]] float* rows(const Plan& plan, int64_t tile) const {
    return to + (plan.first_row(tile_row(plan, tile)) - plan.first_row(begin)) * plan.result_x *
                    plan.result_channels;
  }
};

/// The plain sums of all four results of some tiles of a piece, for the channels of a panel from `first` on:
/// chains of fused multiply-adds over the taps that lie inside of the image, then channels, as those of
/// tap_conv.h.
void add_plainly(const Plan& plan, const Operands& data, const Piece& piece,
                 const std::vector<int64_t>& tiles, int64_t first, float* sums) {
  thread_local Scratch taps_scratch;
  thread_local std::vector<const float*> a;
  thread_local std::vector<float*> c;
  const int64_t k = plan.source_channels, width = gemm::panel();
  float* taps = taps_scratch.reserve(kTaps * plan.panel_floats());
  tap_conv::pack_panel(std::min(width, plan.result_channels - first), k, kTaps,
                       data.weights + first * plan.result_step, plan.source_step, plan.result_step, taps);
  std::fill_n(sums, static_cast<int64_t>(tiles.size()) * 4 * width, 0.0F);
  for (int64_t tap = 0; tap < kTaps; ++tap) {
    const int64_t at = plan.reversed ? kTaps - 1 - tap : tap;
    a.clear(), c.clear();
    for (size_t i = 0; i < tiles.size() * 4; ++i) {
      const int64_t tile_row = piece.tile_row(plan, tiles[i / 4]), corner = static_cast<int64_t>(i % 4);
      const int64_t y = tile_row % plan.tiles_y * 2 + corner / 2 - plan.pad_y + at / 3;
      const int64_t x = tiles[i / 4] % plan.tiles_x * 2 + corner % 2 - plan.pad_x + at % 3;
      const ImageView image = plan.image(data.source, tile_row / plan.tiles_y);
      if (!image.has(y, x)) continue;
      a.push_back(image.at(y, x));
      c.push_back(sums + static_cast<int64_t>(i) * width);
    }
    tap_conv::add_rows(static_cast<int64_t>(a.size()), a.data(), c.data(), k, taps + tap * k * width);
  }
}

/// Computes the results that are not finite in some tiles of a piece again, by plain sums: such a number may
/// come from a transform that overflowed, and transforms turn infinities into NaN. Results that are finite
/// stay, since each depends on what its own taps read alone.
void mend(const Plan& plan, const Operands& data, const Piece& piece, const std::vector<int64_t>& tiles) {
  thread_local Scratch sum_scratch, patch_scratch;
  thread_local std::vector<int64_t> found;
  const int64_t width = gemm::panel(), channels = plan.result_channels;
  float* patch = patch_scratch.reserve(4 * width);
  for (int64_t first = 0; first < channels; first += width) {
    const int64_t columns = std::min(width, channels - first);
    const auto compute = [&](int64_t tile) {
      return HWY_DYNAMIC_DISPATCH(transform_result)(columns, piece.products + tile * channels + first,
                                                    piece.place, nullptr, false, patch, 2 * width, width);
    };
    found.clear();
    std::copy_if(tiles.begin(), tiles.end(), std::back_inserter(found),
                 [&](int64_t tile) { return !compute(tile); });
    if (found.empty()) continue;
    float* sums = sum_scratch.reserve(static_cast<int64_t>(found.size()) * 4 * width);
    add_plainly(plan, data, piece, found, first, sums);
    for (const int64_t tile : found) {
      (void)compute(tile);
      const int64_t tx = tile % plan.tiles_x;
      const Inside inside(plan, piece.tile_row(plan, tile) % plan.tiles_y, tx);
      for (int64_t i = 0; i < 4; ++i, sums += width) {
        if (i / 2 >= inside.height || i % 2 >= inside.width) continue;
        float* to = piece.rows(plan, tile) + (i / 2 * plan.result_x + 2 * tx + i % 2) * channels + first;
        for (int64_t j = 0; j < columns; ++j) {
          const float own = patch[i * width + j];
          float sum = std::isfinite(own) ? own : sums[j];
          if (data.bias) sum += data.bias[first + j];
          to[j] = plan.relu && sum < 0 ? 0 : sum;
        }
      }
    }
  }
}

/// The results of a piece from its products.
void write_piece(const Plan& plan, const Operands& data, const Piece& piece, int64_t tiles, float* patch) {
  thread_local std::vector<int64_t> not_finite;
  not_finite.clear();
  for (int64_t i = 0; i < tiles; ++i) {
    const bool finite =
        write_tile(plan, data, piece.products + i * plan.result_channels, piece.place,
                   piece.tile_row(plan, i) % plan.tiles_y, i % plan.tiles_x, patch, piece.rows(plan, i));
    if (!finite) not_finite.push_back(i);
  }
  if (!not_finite.empty()) mend(plan, data, piece, not_finite);
}

void run_piece(const Plan& plan, const Operands& data, int64_t index) {
  thread_local Scratch source_scratch, product_scratch, patch_scratch, result_scratch;
  const int64_t begin = index * plan.tile_rows, end = std::min(plan.all_rows(), begin + plan.tile_rows);
  const int64_t tiles = (end - begin) * plan.tiles_x;
  // A line more for each place, so that those of a tile do not fall on the same sets of a cache.
  const int64_t source_place = tiles * plan.source_channels + kLine;
  const int64_t product_place = tiles * plan.result_channels + kLine;
  float* sources = source_scratch.reserve(kPlaces * source_place);
  float* products = product_scratch.reserve(kPlaces * product_place);
  float* patch = patch_scratch.reserve(kPlaces * std::max(plan.source_channels, plan.result_channels));
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t tile_row = begin + i / plan.tiles_x;
    read_tile(plan.image(data.source, tile_row / plan.tiles_y), tile_row % plan.tiles_y * 2 - plan.pad_y,
              i % plan.tiles_x * 2 - plan.pad_x, patch, sources + i * plan.source_channels, source_place);
  }
  for (int64_t i = 0; i < kPlaces * plan.panels; ++i) {
    const int64_t place = i / plan.panels, first = i % plan.panels * gemm::panel();
    gemm::Block block{};
    block.rows = tiles, block.k = plan.source_channels;
    block.width = std::min(gemm::panel(), plan.result_channels - first);
    block.a = sources + place * source_place, block.a_row = plan.source_channels;
    block.b = data.packed + i * plan.panel_floats(), block.b_row = gemm::panel();
    block.c = products + place * product_place + first, block.c_row = plan.result_channels;
    block.first = true;
    gemm::multiply_block(block);
  }
  const int64_t row = plan.result_x * plan.result_channels;
  const int64_t first = plan.first_row(begin), rows = plan.first_row(end) - first;
  float* to = data.result ? data.result + first * row : result_scratch.reserve(rows * row);
  write_piece(plan, data, {begin, products, product_place, to}, tiles, patch);
  if (data.options.taker) {
    data.options.taker->take(
        {to, plan.result_channels, first * plan.result_x, rows * plan.result_x, 0, plan.result_channels});
  }
}

/// `data.weights` is what the caller gave.
void run(const Plan& plan, Operands data, void* workspace) {
  if (data.options.weights_packed) {
    data.packed = data.weights;
    data.weights = data.packed + plan.packed_floats();
  } else {
    pack(plan, data.weights, static_cast<float*>(workspace));
    data.packed = static_cast<const float*>(workspace);
  }
  parallel_for(plan.pieces(), [&](int64_t piece) { run_piece(plan, data, piece); });
}

}  // namespace

void read_tile(const ImageView& image, int64_t y, int64_t x, float* patch, float* to, int64_t place) {
  const int64_t channels = image.channels;
  if (image.has(y, x) && image.has(y + 3, x + 3)) {
    HWY_DYNAMIC_DISPATCH(transform_source)
    (channels, image.at(y, x), image.size_x * image.pitch, image.pitch, to, place);
    return;
  }
  for (int64_t i = 0; i < kPlaces; ++i) {
    const int64_t py = y + i / 4, px = x + i % 4;
    float* at = patch + i * channels;
    if (image.has(py, px)) {
      std::copy_n(image.at(py, px), channels, at);
    } else {
      std::fill_n(at, channels, 0.0F);
    }
  }
  HWY_DYNAMIC_DISPATCH(transform_source)(channels, patch, 4 * channels, channels, to, place);
}

bool supports(const ConvProblem& p, ConvPass pass) {
  if (gemm::panel() < kLine) return false;
  if (pass == ConvPass::kBackwardWeights && (p.weights_grad_type != p.type || p.n <= 0)) return false;
  if (p.type != onednn::ElementType::kFloat32 || p.groups != 1 || p.rank != 2) return false;
  if (p.in_channels <= 0 || p.out_channels <= 0) return false;
  for (int i = 0; i < 2; ++i) {
    if (p.kernel[i] != 3 || p.stride[i] != 1 || p.dilation[i] != 1) return false;
    if (p.pad_low[i] > 2 || p.pad_high[i] > 2 || p.in[i] <= 0 || p.out(i) <= 0) return false;
  }
  return p.in_channels % kLine == 0 && p.out_channels % kLine == 0;
}

bool preferred(const ConvProblem& p, ConvPass pass) {
  constexpr int64_t kFewestChannels = 32, kMostWeights = 3 << 20;
  constexpr int64_t kFewestTiles = 160, kFewestRows = 10'000;  // that are worth transforming weights for
  const int64_t channels = std::min(p.in_channels, p.out_channels);
  if (pass == ConvPass::kBackwardWeights) return supports(p, pass) && weights::preferred(p);
  if (!supports(p, pass) || channels < kFewestChannels || p.weights() > kMostWeights) return false;
  const Plan plan(p, pass);
  const int64_t tiles = plan.tiles_y * plan.tiles_x;
  // Tiles that reach beyond the image are computed in vain.
  if (4 * 4 * tiles > 5 * plan.result_y * plan.result_x) return false;
  return p.n * tiles >= kFewestTiles && p.n * tiles * channels >= kFewestRows;
}

size_t workspace(const ConvProblem& problem, ConvPass pass) {
  if (pass == ConvPass::kBackwardWeights) return weights::workspace(problem);
  return static_cast<size_t>(Plan(problem, pass).packed_floats()) * sizeof(float);
}

void forward(const ConvProblem& p, const float* input, const float* weights, const float* bias, float* out,
             void* workspace, const ConvOptions& options) {
  SORUS_INTERNAL(supports(p, ConvPass::kForward),
                 "conv: Winograd's kernel called for what it does not support");
  run(Plan(p, ConvPass::kForward), {input, weights, nullptr, p.has_bias ? bias : nullptr, out, options},
      workspace);
}

void backward_data(const ConvProblem& p, const float* out_grad, const float* weights, float* input_grad,
                   void* workspace, const ConvOptions& options) {
  SORUS_INTERNAL(supports(p, ConvPass::kBackwardData),
                 "conv: Winograd's kernel called for what it does not support");
  run(Plan(p, ConvPass::kBackwardData), {out_grad, weights, nullptr, nullptr, input_grad, options},
      workspace);
}

void backward_weights(const ConvProblem& p, const float* input, const float* out_grad, float* weights_grad,
                      void* workspace) {
  SORUS_INTERNAL(supports(p, ConvPass::kBackwardWeights),
                 "conv: Winograd's kernel called for what it does not support");
  weights::backward(p, input, out_grad, weights_grad, workspace);
}

size_t packed_bytes(const ConvProblem& problem) {
  return workspace(problem, ConvPass::kForward) + static_cast<size_t>(problem.weights()) * sizeof(float);
}

void pack_weights(const ConvProblem& problem, const float* weights, float* to) {
  const Plan plan(problem, ConvPass::kForward);
  pack(plan, weights, to);
  std::copy_n(weights, problem.weights(), to + plan.packed_floats());
}

}  // namespace sorus::kernels::winograd
#endif
