#include "sorus/kernels/cpu/conv/conv.h"

#include "sorus/kernels/cpu/conv/depthwise.h"
#include "sorus/kernels/cpu/conv/pointwise.h"
#include "sorus/kernels/cpu/conv/small_conv.h"
#include "sorus/kernels/cpu/conv/tap_conv.h"
#include "sorus/kernels/cpu/conv/winograd.h"

namespace sorus::kernels::conv {

using onednn::ConvOptions;
using onednn::ConvPass;
using onednn::ConvProblem;

size_t workspace(const ConvProblem& problem, ConvPass pass) {
  if (small_conv_preferred(problem, pass)) return small_conv_workspace(problem, pass);
  if (depthwise::supports(problem, pass)) return depthwise::workspace(problem);
  if (tap_conv::preferred(problem, pass)) return tap_conv::workspace(problem, pass);
  if (winograd::preferred(problem, pass)) return winograd::workspace(problem, pass);
  if (pointwise::takes(problem)) return pointwise::workspace(problem, pass);
  return onednn::conv_workspace(problem, pass);
}

void forward(const ConvProblem& problem, const void* input, const void* weights, const float* bias, void* out,
             void* workspace, const ConvOptions& options) {
  if (small_conv_preferred(problem, ConvPass::kForward)) {
    return small_conv_forward(problem, static_cast<const float*>(input), static_cast<const float*>(weights),
                              bias, static_cast<float*>(out), workspace, options);
  }
  if (depthwise::supports(problem, ConvPass::kForward)) {
    return depthwise::forward(problem, static_cast<const float*>(input), static_cast<const float*>(weights),
                              bias, static_cast<float*>(out), workspace, options);
  }
  if (tap_conv::preferred(problem, ConvPass::kForward)) {
    return tap_conv::forward(problem, static_cast<const float*>(input), static_cast<const float*>(weights),
                             bias, static_cast<float*>(out), workspace, options.weights_packed);
  }
  if (winograd::preferred(problem, ConvPass::kForward)) {
    return winograd::forward(problem, static_cast<const float*>(input), static_cast<const float*>(weights),
                             bias, static_cast<float*>(out), workspace, options);
  }
  if (pointwise::takes(problem)) {
    return pointwise::forward(problem, input, weights, problem.has_bias ? bias : nullptr, out, workspace,
                              options);
  }
  onednn::conv_forward(problem, input, weights, bias, out, workspace, options);
}

void backward_data(const ConvProblem& problem, const void* out_grad, const void* weights, void* input_grad,
                   void* workspace, const ConvOptions& options) {
  if (small_conv_preferred(problem, ConvPass::kBackwardData)) {
    return small_conv_backward_data(problem, static_cast<const float*>(out_grad),
                                    static_cast<const float*>(weights), static_cast<float*>(input_grad),
                                    workspace, options);
  }
  if (depthwise::supports(problem, ConvPass::kBackwardData)) {
    return depthwise::backward_data(problem, static_cast<const float*>(out_grad),
                                    static_cast<const float*>(weights), static_cast<float*>(input_grad),
                                    workspace, options);
  }
  if (tap_conv::preferred(problem, ConvPass::kBackwardData)) {
    return tap_conv::backward_data(problem, static_cast<const float*>(out_grad),
                                   static_cast<const float*>(weights), static_cast<float*>(input_grad),
                                   workspace);
  }
  if (winograd::preferred(problem, ConvPass::kBackwardData)) {
    return winograd::backward_data(problem, static_cast<const float*>(out_grad),
                                   static_cast<const float*>(weights), static_cast<float*>(input_grad),
                                   workspace, options);
  }
  if (pointwise::takes(problem)) {
    return pointwise::backward_data(problem, out_grad, weights, input_grad, workspace, options);
  }
  onednn::conv_backward_data(problem, out_grad, weights, input_grad, workspace, options);
}

bool has_pieces(const ConvProblem& problem, ConvPass pass) {
  if (small_conv_preferred(problem, pass) || depthwise::supports(problem, pass)) return true;
  if (tap_conv::preferred(problem, pass)) return false;
  if (winograd::preferred(problem, pass)) return true;
  if (pointwise::takes(problem)) return pointwise::has_pieces(problem, pass);
  return onednn::conv_has_pieces(problem, pass);
}

bool gives_rows(const ConvProblem& problem) {
  const ConvPass pass = ConvPass::kForward;
  if (small_conv_preferred(problem, pass) || depthwise::supports(problem, pass)) return false;
  if (tap_conv::preferred(problem, pass) || winograd::preferred(problem, pass)) return false;
  return pointwise::takes(problem) && pointwise::gives_rows(problem);
}

void forward_rows(const ConvProblem& problem, const void* input, const void* packed_weights,
                  const float* bias, int64_t begin, int64_t end, float* to) {
  pointwise::forward_rows(problem, input, packed_weights, bias, begin, end, to);
}

bool takes_rows(const ConvProblem& problem) {
  return !small_conv_preferred(problem, ConvPass::kForward) && depthwise::takes_rows(problem);
}

void forward_on_rows(const ConvProblem& problem, const RowSource& input, const void* weights,
                     const float* bias, void* out, void* workspace, const ConvOptions& options) {
  depthwise::forward_on_rows(problem, input, static_cast<const float*>(weights), bias,
                             static_cast<float*>(out), workspace, options);
}

size_t packed_weights_bytes(const ConvProblem& problem) {
  if (small_conv_preferred(problem, ConvPass::kForward)) return 0;
  if (depthwise::supports(problem, ConvPass::kForward)) return depthwise::packed_bytes(problem);
  if (tap_conv::preferred(problem, ConvPass::kForward)) return tap_conv::packed_bytes(problem);
  if (winograd::preferred(problem, ConvPass::kForward)) return winograd::packed_bytes(problem);
  if (pointwise::takes(problem)) return pointwise::packed_bytes(problem);
  return onednn::conv_packed_bytes(problem);
}

void pack_weights(const ConvProblem& problem, const void* weights, void* to) {
  if (depthwise::supports(problem, ConvPass::kForward))
    return depthwise::pack_weights(problem, static_cast<const float*>(weights), static_cast<float*>(to));
  if (tap_conv::preferred(problem, ConvPass::kForward))
    return tap_conv::pack_weights(problem, static_cast<const float*>(weights), static_cast<float*>(to));
  if (winograd::preferred(problem, ConvPass::kForward))
    return winograd::pack_weights(problem, static_cast<const float*>(weights), static_cast<float*>(to));
  if (pointwise::takes(problem)) return pointwise::pack_weights(problem, weights, to);
  onednn::conv_pack_weights(problem, weights, to);
}

void backward_weights(const ConvProblem& problem, const void* input, const void* out_grad, void* weights_grad,
                      void* workspace) {
  if (small_conv_preferred(problem, ConvPass::kBackwardWeights)) {
    return small_conv_backward_weights(problem, static_cast<const float*>(input),
                                       static_cast<const float*>(out_grad), static_cast<float*>(weights_grad),
                                       workspace);
  }
  if (winograd::preferred(problem, ConvPass::kBackwardWeights)) {
    return winograd::backward_weights(problem, static_cast<const float*>(input),
                                      static_cast<const float*>(out_grad), static_cast<float*>(weights_grad),
                                      workspace);
  }
  if (pointwise::takes(problem)) {
    return pointwise::backward_weights(problem, input, out_grad, weights_grad, workspace);
  }
  onednn::conv_backward_weights(problem, input, out_grad, weights_grad, workspace);
}

std::string implementation(const ConvProblem& problem, ConvPass pass) {
  if (small_conv_preferred(problem, pass)) return "small channels";
  if (depthwise::supports(problem, pass)) return "depthwise";
  if (tap_conv::preferred(problem, pass)) return "products of taps";
  if (winograd::preferred(problem, pass)) return "Winograd";
  if (pointwise::takes(problem)) return "matmul";
  return onednn::conv_implementation(problem, pass);
}

}  // namespace sorus::kernels::conv
