#include "sorus/kernels/cpu/conv/tap_conv.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sorus/base/error.h"
#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/conv/geometry.h"
#include "sorus/kernels/cpu/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sorus/kernels/cpu/conv/tap_conv.cpp"
#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "sorus/kernels/cpu/conv/tap_conv_simd.h"

#if HWY_ONCE
namespace sorus::kernels::tap_conv {
namespace {

using onednn::ConvPass;
using onednn::ConvProblem;
using small_conv::Geometry;

HWY_EXPORT(add_tap);
HWY_EXPORT(finish);
HWY_EXPORT(pack);
HWY_EXPORT(panel_width);

constexpr int64_t kWholePanel = 64;  // channels: the wider of the processors' panels

int64_t panel() {
  static const int64_t width = HWY_DYNAMIC_DISPATCH(panel_width)();
  return width;
}

/// A pass, seen as one that reads rows of channels of a source and adds to rows of a result.
struct Sides {
  int64_t source_channels, result_channels, source_positions, result_positions;
  int64_t source_step, result_step;  // of the weights, in floats, from channel to channel

  Sides(const ConvProblem& p, ConvPass pass) {
    bool forward = pass == ConvPass::kForward;
    source_channels = forward ? p.in_channels : p.out_channels;
    result_channels = forward ? p.out_channels : p.in_channels;
    source_positions = forward ? p.in_positions() : p.out_positions();
    result_positions = forward ? p.out_positions() : p.in_positions();
    source_step = forward ? p.taps() : p.in_channels * p.taps();
    result_step = forward ? p.in_channels * p.taps() : p.taps();
  }
};

/// The positions of an image that meet in one tap.
struct Pair {
  int32_t source, result;
};

/// Writes the pairs of all taps, those of each tap in order; `ends` gets the end of each tap's.
void find_pairs(const Geometry& g, ConvPass pass, Pair* pairs, int64_t* ends) {
  int64_t count = 0;
  for (int64_t ky = 0; ky < g.kernel_y; ++ky) {
    for (int64_t kx = 0; kx < g.kernel_x; ++kx) {
      for (int64_t y = 0; y < g.out_y; ++y) {
        int64_t in_y = y * g.stride_y + ky * g.dilation_y - g.pad_y;
        if (in_y < 0 || in_y >= g.in_y) continue;
        for (int64_t x = 0; x < g.out_x; ++x) {
          int64_t in_x = x * g.stride_x + kx * g.dilation_x - g.pad_x;
          if (in_x < 0 || in_x >= g.in_x) continue;
          auto in = static_cast<int32_t>(in_y * g.in_x + in_x), out = static_cast<int32_t>(y * g.out_x + x);
          pairs[count++] = pass == ConvPass::kForward ? Pair{in, out} : Pair{out, in};
        }
      }
      ends[ky * g.kernel_x + kx] = count;
    }
  }
}

/// Groups of images that make pieces enough, each with work enough for packing a panel of weights.
int64_t images_per_group(const ConvProblem& p, const Sides& sides) {
  constexpr int64_t kFewPieces = 8, kPairs = 384;
  int64_t panels = sides.result_channels / kWholePanel;
  int64_t groups = std::max<int64_t>(1, (kFewPieces + panels - 1) / panels);
  int64_t least = std::max<int64_t>(1, kPairs / p.out_positions());
  return std::clamp<int64_t>((p.n + groups - 1) / groups, std::min(least, p.n), p.n);
}

size_t pairs_bytes(const ConvProblem& p) {
  return static_cast<size_t>(p.taps() * p.out_positions()) * sizeof(Pair);
}

/// What the pieces of a call share.
struct Work {
  const Sides& sides;
  const Pair* pairs;
  const int64_t* ends;
  int64_t taps;
};

/// Adds all taps to one panel of the result of a few images, which fit in the second-level cache with what
/// they read.
void add_taps(const Work& work, int64_t images, const float* source, const float* packed, float* result) {
  thread_local std::vector<const float*> a;
  thread_local std::vector<float*> c;
  const int64_t k = work.sides.source_channels;
  for (int64_t tap = 0; tap < work.taps; ++tap) {
    a.clear(), c.clear();
    for (int64_t image = 0; image < images; ++image) {
      const float* from = source + image * work.sides.source_positions * k;
      float* to = result + image * work.sides.result_positions * work.sides.result_channels;
      for (int64_t i = tap == 0 ? 0 : work.ends[tap - 1]; i < work.ends[tap]; ++i) {
        a.push_back(from + work.pairs[i].source * k);
        c.push_back(to + work.pairs[i].result * work.sides.result_channels);
      }
    }
    HWY_DYNAMIC_DISPATCH(add_tap)
    (static_cast<int64_t>(a.size()), a.data(), c.data(), k, packed + tap * k * panel());
  }
}

void run(const ConvProblem& p, ConvPass pass, const float* source, const float* weights, const float* bias,
         float* result, void* workspace, bool weights_packed) {
  SORUS_INTERNAL(supports(p, pass), "conv: kernel of taps called for what it does not support");
  const Sides sides(p, pass);
  const bool relu = pass == ConvPass::kForward && p.activation == onednn::Activation::kRelu;
  Pair* pairs = static_cast<Pair*>(workspace);
  auto* ends = reinterpret_cast<int64_t*>(static_cast<char*>(workspace) + pairs_bytes(p));
  find_pairs(Geometry(p), pass, pairs, ends);
  const Work work{sides, pairs, ends, p.taps()};
  constexpr int64_t kNearPositions = 200;
  const int64_t near = std::max<int64_t>(1, kNearPositions / p.out_positions());
  const int64_t k = sides.source_channels, width = panel();
  const int64_t group = images_per_group(p, sides), groups = (p.n + group - 1) / group;
  parallel_for(sides.result_channels / width * groups, [&](int64_t piece) {
    thread_local Scratch scratch;
    const int64_t channel = piece / groups * width, first = piece % groups * group;
    const int64_t end = std::min(p.n, first + group);
    const float* packed = weights + channel * work.taps * k;
    if (!weights_packed) {
      float* own = scratch.reserve(work.taps * k * width);
      HWY_DYNAMIC_DISPATCH(pack)
      (width, k, work.taps, weights + channel * sides.result_step, sides.source_step, sides.result_step, own);
      packed = own;
    }
    for (int64_t image = first; image < end; image += near) {
      const int64_t images = std::min(near, end - image), rows = images * sides.result_positions;
      float* to = result + image * sides.result_positions * sides.result_channels + channel;
      for (int64_t i = 0; i < rows; ++i)
        std::memset(to + i * sides.result_channels, 0, static_cast<size_t>(width) * sizeof(float));
      add_taps(work, images, source + image * sides.source_positions * k, packed, to);
      if (!bias && !relu) continue;
      HWY_DYNAMIC_DISPATCH(finish)
      (rows, to, sides.result_channels, bias ? bias + channel : nullptr, relu);
    }
  });
}

}  // namespace

bool supports(const ConvProblem& p, ConvPass pass) {
  static const bool vectors = panel() >= 16;
  return vectors && p.type == onednn::ElementType::kFloat32 && p.groups == 1 && p.rank <= 2 &&
         pass != ConvPass::kBackwardWeights && Sides(p, pass).result_channels % kWholePanel == 0;
}

bool preferred(const ConvProblem& p, ConvPass pass) {
  if (!supports(p, pass) || p.taps() == 1 || p.n == 0 || p.weights() == 0 || p.out_positions() == 0)
    return false;
  constexpr int64_t kFewPositions = 400;  // padding is then much of what other kernels compute
  constexpr int64_t kManyChannels = 512, kManyOfStrided = 128;
  int64_t channels = Sides(p, pass).source_channels;
  bool strided = std::any_of(p.stride.begin(), p.stride.begin() + p.rank, [](int64_t s) { return s > 1; });
  if (pass == ConvPass::kBackwardData && strided) return channels >= kManyOfStrided;
  return channels >= kManyChannels && p.out_positions() < kFewPositions;
}

size_t workspace(const ConvProblem& problem, ConvPass) {
  return pairs_bytes(problem) + static_cast<size_t>(problem.taps()) * sizeof(int64_t);
}

void forward(const ConvProblem& p, const float* input, const float* weights, const float* bias, float* out,
             void* workspace, bool weights_packed) {
  run(p, ConvPass::kForward, input, weights, p.has_bias ? bias : nullptr, out, workspace, weights_packed);
}

void backward_data(const ConvProblem& p, const float* out_grad, const float* weights, float* input_grad,
                   void* workspace) {
  run(p, ConvPass::kBackwardData, out_grad, weights, nullptr, input_grad, workspace, false);
}

size_t packed_bytes(const ConvProblem& problem) {
  return static_cast<size_t>(problem.weights()) * sizeof(float);
}

void pack_weights(const ConvProblem& p, const float* weights, float* to) {
  const Sides sides(p, ConvPass::kForward);
  const int64_t width = panel(), panel_floats = p.taps() * sides.source_channels * width;
  parallel_for(sides.result_channels / width, [&](int64_t i) {
    HWY_DYNAMIC_DISPATCH(pack)
    (width, sides.source_channels, p.taps(), weights + i * width * sides.result_step, sides.source_step,
     sides.result_step, to + i * panel_floats);
  });
}

void add_rows(int64_t count, const float* const* a, float* const* c, int64_t k, const float* b) {
  HWY_DYNAMIC_DISPATCH(add_tap)(count, a, c, k, b);
}

void pack_panel(int64_t width, int64_t k, int64_t taps, const float* from, int64_t source_step,
                int64_t result_step, float* to) {
  if (width < panel()) std::fill_n(to, taps * k * panel(), 0.0F);
  HWY_DYNAMIC_DISPATCH(pack)(width, k, taps, from, source_step, result_step, to);
}

}  // namespace sorus::kernels::tap_conv
#endif
