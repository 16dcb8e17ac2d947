#include "sorus/kernels/cpu/conv/conv.h"

#include <algorithm>
#include <cstring>

#include "sorus/kernels/cpu/conv/depthwise.h"
#include "sorus/kernels/cpu/conv/finite.h"
#include "sorus/kernels/cpu/conv/mend.h"
#include "sorus/kernels/cpu/conv/pointwise.h"
#include "sorus/kernels/cpu/conv/small_conv.h"
#include "sorus/kernels/cpu/conv/tap_conv.h"
#include "sorus/kernels/cpu/conv/winograd.h"

namespace sorus::kernels::conv {
namespace {

using onednn::ConvOptions;
using onednn::ConvPass;
using onednn::ConvProblem;

enum class Kind : uint8_t { kSmall, kDepthwise, kTaps, kWinograd, kMatmul, kLibrary };

Kind choose(const ConvProblem& problem, ConvPass pass) {
  if (small_conv_preferred(problem, pass)) return Kind::kSmall;
  if (depthwise::supports(problem, pass)) return Kind::kDepthwise;
  if (tap_conv::preferred(problem, pass)) return Kind::kTaps;
  if (winograd::preferred(problem, pass)) return Kind::kWinograd;
  return pointwise::takes(problem) ? Kind::kMatmul : Kind::kLibrary;
}

bool is_padded(const ConvProblem& p) {
  for (int i = 0; i < p.rank; ++i)
    if (p.pad_low[i] > 0 || p.pad_high[i] > 0) return true;
  return false;
}

/// Whether each result of a pass is right, or depends at least on what its own taps read alone, whatever the
/// kind computes. The operands are those of the pass, in the order of its arguments; weights are plain.
bool needs_no_mending(const ConvProblem& p, ConvPass pass, Kind kind, const void* first, const void* second) {
  if (kind == Kind::kLibrary) return is_known_finite(p, pass, first, second);
  if (kind != Kind::kSmall || pass == ConvPass::kBackwardData || !is_padded(p)) return true;
  // These multiply the zeros around the image too: by weights, which are few, or by the output's gradient.
  return pass == ConvPass::kForward && all_finite(p.type, second, p.weights());
}

/// Bytes of the plain weights, which come first where the library's are packed.
size_t plain_bytes(const ConvProblem& p) {
  const size_t bytes = static_cast<size_t>(p.weights()) * onednn::element_size(p.type);
  return (bytes + onednn::kWorkspaceAlignment - 1) / onednn::kWorkspaceAlignment *
         onednn::kWorkspaceAlignment;
}

void run_forward(Kind kind, const ConvProblem& p, const void* input, const void* weights, const float* bias,
                 void* out, void* workspace, const ConvOptions& options) {
  const auto* in = static_cast<const float*>(input);
  const auto* w = static_cast<const float*>(weights);
  auto* to = static_cast<float*>(out);
  switch (kind) {
    case Kind::kSmall:
      return small_conv_forward(p, in, w, bias, to, workspace, options);
    case Kind::kDepthwise:
      return depthwise::forward(p, in, w, bias, to, workspace, options);
    case Kind::kTaps:
      return tap_conv::forward(p, in, w, bias, to, workspace, options.weights_packed);
    case Kind::kWinograd:
      return winograd::forward(p, in, w, bias, to, workspace, options);
    case Kind::kMatmul:
      return pointwise::forward(p, input, weights, p.has_bias ? bias : nullptr, out, workspace, options);
    case Kind::kLibrary:
      if (options.weights_packed) weights = static_cast<const char*>(weights) + plain_bytes(p);
      return onednn::conv_forward(p, input, weights, bias, out, workspace, options);
  }
}

void run_backward_data(Kind kind, const ConvProblem& p, const void* out_grad, const void* weights,
                       void* input_grad, void* workspace, const ConvOptions& options) {
  const auto* grad = static_cast<const float*>(out_grad);
  const auto* w = static_cast<const float*>(weights);
  auto* to = static_cast<float*>(input_grad);
  switch (kind) {
    case Kind::kSmall:
      return small_conv_backward_data(p, grad, w, to, workspace, options);
    case Kind::kDepthwise:
      return depthwise::backward_data(p, grad, w, to, workspace, options);
    case Kind::kTaps:
      return tap_conv::backward_data(p, grad, w, to, workspace);
    case Kind::kWinograd:
      return winograd::backward_data(p, grad, w, to, workspace, options);
    case Kind::kMatmul:
      return pointwise::backward_data(p, out_grad, weights, input_grad, workspace, options);
    case Kind::kLibrary:
      return onednn::conv_backward_data(p, out_grad, weights, input_grad, workspace, options);
  }
}

/// Runs a pass whose results are to be mended: piece by piece where it has pieces, so that they are looked at
/// while they are near. `run` takes the options.
template <class Run>
void run_mended(const ResultMender& mender, bool pieces, ConvOptions options, void* result, Run&& run) {
  if (pieces) options.taker = &mender;
  run(options);
  if (!pieces) mender.mend_all(result);
}

}  // namespace

size_t workspace(const ConvProblem& problem, ConvPass pass) {
  switch (choose(problem, pass)) {
    case Kind::kSmall:
      return small_conv_workspace(problem, pass);
    case Kind::kDepthwise:
      return depthwise::workspace(problem);
    case Kind::kTaps:
      return tap_conv::workspace(problem, pass);
    case Kind::kWinograd:
      return winograd::workspace(problem, pass);
    case Kind::kMatmul:
      return pointwise::workspace(problem, pass);
    case Kind::kLibrary:
      break;
  }
  return onednn::conv_workspace(problem, pass);
}

void forward(const ConvProblem& problem, const void* input, const void* weights, const float* bias, void* out,
             void* workspace, const ConvOptions& options) {
  const ConvPass pass = ConvPass::kForward;
  const Kind kind = choose(problem, pass);
  const auto run = [&](const ConvOptions& o) {
    run_forward(kind, problem, input, weights, bias, out, workspace, o);
  };
  if (needs_no_mending(problem, pass, kind, input, weights)) return run(options);
  const ResultMender mender(problem, pass, input, weights, problem.has_bias ? bias : nullptr, options.taker);
  run_mended(mender, has_pieces(problem, pass), options, out, run);
}

void backward_data(const ConvProblem& problem, const void* out_grad, const void* weights, void* input_grad,
                   void* workspace, const ConvOptions& options) {
  const ConvPass pass = ConvPass::kBackwardData;
  const Kind kind = choose(problem, pass);
  const auto run = [&](const ConvOptions& o) {
    run_backward_data(kind, problem, out_grad, weights, input_grad, workspace, o);
  };
  if (needs_no_mending(problem, pass, kind, out_grad, weights)) return run(options);
  const ResultMender mender(problem, pass, out_grad, weights, nullptr, options.taker);
  run_mended(mender, has_pieces(problem, pass), options, input_grad, run);
}

bool has_pieces(const ConvProblem& problem, ConvPass pass) {
  switch (choose(problem, pass)) {
    case Kind::kSmall:
    case Kind::kDepthwise:
    case Kind::kWinograd:
      return true;
    case Kind::kTaps:
      return false;
    case Kind::kMatmul:
      return pointwise::has_pieces(problem, pass);
    case Kind::kLibrary:
      break;
  }
  return onednn::conv_has_pieces(problem, pass);
}

bool gives_rows(const ConvProblem& problem) {
  return choose(problem, ConvPass::kForward) == Kind::kMatmul && pointwise::gives_rows(problem);
}

void forward_rows(const ConvProblem& problem, const void* input, const void* packed_weights,
                  const float* bias, int64_t begin, int64_t end, float* to) {
  pointwise::forward_rows(problem, input, packed_weights, bias, begin, end, to);
}

bool takes_rows(const ConvProblem& problem) {
  return choose(problem, ConvPass::kForward) == Kind::kDepthwise && depthwise::takes_rows(problem);
}

void forward_on_rows(const ConvProblem& problem, const RowSource& input, const void* weights,
                     const float* bias, void* out, void* workspace, const ConvOptions& options) {
  depthwise::forward_on_rows(problem, input, static_cast<const float*>(weights), bias,
                             static_cast<float*>(out), workspace, options);
}

size_t packed_weights_bytes(const ConvProblem& problem) {
  switch (choose(problem, ConvPass::kForward)) {
    case Kind::kSmall:
      return 0;
    case Kind::kDepthwise:
      return depthwise::packed_bytes(problem);
    case Kind::kTaps:
      return tap_conv::packed_bytes(problem);
    case Kind::kWinograd:
      return winograd::packed_bytes(problem);
    case Kind::kMatmul:
      return pointwise::packed_bytes(problem);
    case Kind::kLibrary:
      break;
  }
  const size_t packed = onednn::conv_packed_bytes(problem);
  return packed == 0 ? 0 : plain_bytes(problem) + packed;
}

void pack_weights(const ConvProblem& problem, const void* weights, void* to) {
  const auto* from = static_cast<const float*>(weights);
  switch (choose(problem, ConvPass::kForward)) {
    case Kind::kSmall:
      return;
    case Kind::kDepthwise:
      return depthwise::pack_weights(problem, from, static_cast<float*>(to));
    case Kind::kTaps:
      return tap_conv::pack_weights(problem, from, static_cast<float*>(to));
    case Kind::kWinograd:
      return winograd::pack_weights(problem, from, static_cast<float*>(to));
    case Kind::kMatmul:
      return pointwise::pack_weights(problem, weights, to);
    case Kind::kLibrary:
      std::memcpy(to, weights, static_cast<size_t>(problem.weights()) * onednn::element_size(problem.type));
      return onednn::conv_pack_weights(problem, weights, static_cast<char*>(to) + plain_bytes(problem));
  }
}

void backward_weights(const ConvProblem& problem, const void* input, const void* out_grad, void* weights_grad,
                      void* workspace) {
  const ConvPass pass = ConvPass::kBackwardWeights;
  const auto* in = static_cast<const float*>(input);
  const auto* grad = static_cast<const float*>(out_grad);
  auto* to = static_cast<float*>(weights_grad);
  const Kind kind = choose(problem, pass);
  switch (kind) {
    case Kind::kSmall:
      small_conv_backward_weights(problem, in, grad, to, workspace);
      break;
    case Kind::kWinograd:
      winograd::backward_weights(problem, in, grad, to, workspace);
      break;
    case Kind::kMatmul:
      pointwise::backward_weights(problem, input, out_grad, weights_grad, workspace);
      break;
    default:
      onednn::conv_backward_weights(problem, input, out_grad, weights_grad, workspace);
  }
  if (!needs_no_mending(problem, pass, kind, input, out_grad))
    mend_weights(problem, input, out_grad, weights_grad);
}

std::string implementation(const ConvProblem& problem, ConvPass pass) {
  switch (choose(problem, pass)) {
    case Kind::kSmall:
      return "small channels";
    case Kind::kDepthwise:
      return "depthwise";
    case Kind::kTaps:
      return "products of taps";
    case Kind::kWinograd:
      return "Winograd";
    case Kind::kMatmul:
      return "matmul";
    case Kind::kLibrary:
      break;
  }
  return onednn::conv_implementation(problem, pass);
}

}  // namespace sorus::kernels::conv
