#include <algorithm>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/onednn/detail/conv_plan.h"

// With stride 1 the gradient of the input is itself a convolution: of the output's gradient with the taps in
// reverse and the channels exchanged. oneDNN's kernels for channels-last activations take the forward pass
// faster than the backward one, by more than the exchange costs.
namespace sorus::kernels::onednn::detail {
namespace {

size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

ConvProblem flipped(const ConvProblem& p) {
  ConvProblem r = p;
  r.has_bias = false, r.activation = Activation::kNone;
  std::swap(r.in_channels, r.out_channels);
  for (int i = 0; i < p.rank; ++i) {
    int64_t reach = (p.kernel[i] - 1) * p.dilation[i];
    r.in[i] = p.out(i);
    r.pad_low[i] = reach - p.pad_low[i], r.pad_high[i] = reach - p.pad_high[i];
  }
  return r;
}

}  // namespace

void turn_weights(const ConvProblem& turned, const float* from, int64_t first, int64_t count, float* to) {
  // Tiles of both channels, so that both sides stay in the nearest cache.
  constexpr int64_t kTile = 16, kRun = 64;
  int64_t out = turned.in_channels, in = turned.out_channels, taps = turned.taps();
  for (int64_t run = 0; run < count; run += kRun) {
    for (int64_t begin = 0; begin < out; begin += kTile) {
      int64_t end = std::min(out, begin + kTile);
      for (int64_t i = run; i < std::min(count, run + kRun); ++i) {
        for (int64_t o = begin; o < end; ++o) {
          const float* source = from + (o * in + first + i) * taps;
          float* target = to + (i * out + o) * taps + taps - 1;
          for (int64_t t = 0; t < taps; ++t) target[-t] = source[t];
        }
      }
    }
  }
}

bool prefers_flipping(const ConvProblem& p) {
  constexpr int64_t kVector = 16;
  if (p.type != ElementType::kFloat32 || p.groups != 1 || p.taps() == 1 ||
      std::min(p.in_channels, p.out_channels) < kVector) {
    return false;
  }
  for (int i = 0; i < p.rank; ++i) {
    int64_t reach = (p.kernel[i] - 1) * p.dilation[i];
    if (p.stride[i] != 1 || p.pad_low[i] > reach || p.pad_high[i] > reach) return false;
  }
  return true;
}

size_t flipped_workspace(const ConvProblem& problem) {
  ConvProblem turned = flipped(problem);
  if (prefers_slices(turned, ConvPass::kForward)) return sliced_workspace(turned, ConvPass::kForward, true);
  return rounded(static_cast<size_t>(problem.weights()) * sizeof(float)) +
         conv_workspace(turned, ConvPass::kForward);
}

bool flipped_is_sliced(const ConvProblem& problem) {
  return prefers_slices(flipped(problem), ConvPass::kForward);
}

std::string flipped_implementation(const ConvProblem& problem) {
  return conv_implementation(flipped(problem), ConvPass::kForward);
}

void flipped_backward_data(const ConvProblem& problem, const void* out_grad, const void* weights,
                           void* input_grad, void* workspace, const ConvOptions& options) {
  ConvProblem turned = flipped(problem);
  if (prefers_slices(turned, ConvPass::kForward)) {
    return sliced_pass(turned, ConvPass::kForward, out_grad, weights, nullptr, input_grad, workspace, false,
                       true);
  }
  const auto* from = static_cast<const float*>(weights);
  auto* to = static_cast<float*>(workspace);
  int64_t per_channel = problem.out_channels * problem.taps();
  parallel_ranges(problem.in_channels, std::max<int64_t>(16, 16384 / per_channel),
                  [&](int64_t begin, int64_t end) {
                    turn_weights(turned, from, begin, end - begin, to + begin * per_channel);
                  });
  void* rest =
      static_cast<char*>(workspace) + rounded(static_cast<size_t>(problem.weights()) * sizeof(float));
  conv_forward(turned, out_grad, to, nullptr, input_grad, rest, options);
}

}  // namespace sorus::kernels::onednn::detail
