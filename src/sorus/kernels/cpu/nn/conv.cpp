#include "sorus/kernels/cpu/conv/conv.h"

#include <algorithm>

#include "sorus/dispatch/row_kernel.h"
#include "sorus/kernels/cpu/conv/image_conv.h"
#include "sorus/kernels/cpu/widened.h"
#include "sorus/ops/nn/attributes.h"

/// Convolutions by the CPU's own kernels and by oneDNN: float32, and bfloat16 where oneDNN has kernels for
/// it; other 16-bit floats are widened to float32 first and rounded once at the end. Activations lie
/// channels-last, weights row-major.
namespace sorus {
namespace {

using kernels::onednn::ConvPass;
using kernels::onednn::ConvProblem;
using kernels::onednn::ElementType;

ElementType element_type(DType t) {
  return t == DType::kFloat32 ? ElementType::kFloat32 : ElementType::kBFloat16;
}

/// x (N, C, ...) and y (N, O, ...) are the activations, w the weights, whatever their role in the call.
ConvProblem problem_of(const Array& x, const Array& w, const Array& y, const ConvAttrs& a) {
  ConvProblem p;
  p.n = x.size(0);
  p.groups = a.groups;
  p.in_channels = x.size(1);
  p.out_channels = y.size(1);
  p.rank = a.stride.size();
  for (int i = 0; i < p.rank; ++i) {
    auto at = static_cast<size_t>(i);
    p.in[at] = x.size(2 + i);
    p.kernel[at] = w.size(2 + i);
    p.dilation[at] = a.dilation[i];
    p.pad_low[at] = a.padding[2 * i];
    p.pad_high[at] = a.padding[2 * i + 1];
    // A longer step than to the end changes nothing: there is one window.
    int64_t room = p.in[at] + p.pad_low[at] + p.pad_high[at] - (p.kernel[at] - 1) * p.dilation[at] - 1;
    p.stride[at] = std::clamp<int64_t>(a.stride[i], 1, std::max<int64_t>(room, 0) + 1);
  }
  p.type = element_type(x.dtype);
  p.weights_grad_type = p.type;
  return p;
}
ConvProblem forward_problem(const KernelCall& c) {
  ConvProblem p = problem_of(c.in[0], c.in[1], c.out[0], c.attrs<ConvAttrs>());
  p.has_bias = c.in.size() > 2 && c.in[2].present();
  return p;
}
ConvProblem input_problem(const KernelCall& c) {
  return problem_of(c.out[0], c.in[1], c.in[0], c.attrs<ConvAttrs>());
}
ConvProblem weight_problem(const KernelCall& c) {
  return problem_of(c.in[0], c.out[0], c.in[1], c.attrs<ConvAttrs>());
}

/// `problem` describes the call. Whether there is a kernel for it is asked of the library, which plans it and
/// remembers the plan.
Refusal judge(const KernelCall& c, ConvProblem (*problem)(const KernelCall&), ConvPass pass) {
  DType t = c.out[0].dtype;
  if (t != DType::kFloat32 && t != DType::kBFloat16) return "it computes float32 and bfloat16";
  for (const Array& a : c.in)
    if (a.present() && a.numel() == 0) return "an operand is empty";
  if (c.out[0].numel() == 0) return "the result is empty";
  ConvProblem p = problem(c);
  for (size_t i = 0; i < static_cast<size_t>(p.rank); ++i)
    if (std::max(p.pad_low[i], p.pad_high[i]) > p.dilation[i] * (p.kernel[i] - 1))
      return "windows may lie in the padding alone";
  try {
    (void)kernels::conv::workspace(p, pass);
  } catch (const NotSupportedError&) {
    return "neither the own kernels nor oneDNN take it on this CPU";
  }
  return kAccepted;
}
Refusal supports_forward(const KernelCall& c) { return judge(c, forward_problem, ConvPass::kForward); }
Refusal supports_input(const KernelCall& c) { return judge(c, input_problem, ConvPass::kBackwardData); }
Refusal supports_weight(const KernelCall& c) { return judge(c, weight_problem, ConvPass::kBackwardWeights); }

constexpr size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

/// bfloat16 biases are widened into the first bytes of the workspace.
size_t bias_bytes(const ConvProblem& p) {
  return p.has_bias && p.type == ElementType::kBFloat16 ? aligned(static_cast<size_t>(p.out_channels) * 4)
                                                        : 0;
}

size_t forward_workspace(const KernelCall& c) {
  ConvProblem p = forward_problem(c);
  return bias_bytes(p) + kernels::conv::workspace(p, ConvPass::kForward);
}
void compute_forward(const KernelCall& c, const PieceTaker* taker) {
  ConvProblem p = forward_problem(c);
  auto* workspace = static_cast<std::byte*>(c.workspace);
  const float* bias = nullptr;
  if (bias_bytes(p) != 0) {
    auto* wide = reinterpret_cast<float*>(workspace);
    for (int64_t i = 0; i < p.out_channels; ++i) wide[i] = static_cast<float>(c.in[2].as<BFloat16>()[i]);
    bias = wide;
  } else if (p.has_bias) {
    bias = c.in[2].as<float>();
  }
  kernels::conv::forward(p, c.in[0].data, c.prepacked ? c.prepacked : c.in[1].data, bias, c.out[0].data,
                         workspace + bias_bytes(p),
                         {.taker = taker, .weights_packed = c.prepacked != nullptr});
}
void forward(const KernelCall& c) { compute_forward(c, nullptr); }
bool forward_has_pieces(const KernelCall& c) {
  return kernels::conv::has_pieces(forward_problem(c), ConvPass::kForward);
}
void forward_pieces(const KernelCall& c, const PieceTaker& taker) { compute_forward(c, &taker); }

/// Images as they come, plane by plane.
Refusal supports_image(const KernelCall& c) {
  if (c.out[0].dtype != DType::kFloat32) return "it computes float32";
  for (const Array& a : c.in)
    if (a.present() && a.numel() == 0) return "an operand is empty";
  const ConvProblem p = forward_problem(c);
  if (c.out[0].numel() == 0 || !kernels::image_conv::takes(p)) return "it is for images of a few planes";
  return kAccepted;
}
size_t image_workspace(const KernelCall& c) { return kernels::image_conv::workspace(forward_problem(c)); }
void compute_image(const KernelCall& c, const PieceTaker* taker) {
  const ConvProblem p = forward_problem(c);
  kernels::image_conv::forward(p, c.in[0].as<float>(),
                               c.prepacked ? static_cast<const float*>(c.prepacked) : c.in[1].as<float>(),
                               p.has_bias ? c.in[2].as<float>() : nullptr, c.out[0].as<float>(), c.workspace,
                               {.taker = taker, .weights_packed = c.prepacked != nullptr});
}
void image(const KernelCall& c) { compute_image(c, nullptr); }
bool image_has_pieces(const KernelCall&) { return true; }
void image_pieces(const KernelCall& c, const PieceTaker& taker) { compute_image(c, &taker); }
size_t image_prepacked_bytes(const KernelCall& c) {
  return kernels::image_conv::packed_bytes(forward_problem(c));
}
void image_prepack(const KernelCall& c, void* to) {
  kernels::image_conv::pack_weights(forward_problem(c), c.in[1].as<float>(), static_cast<float*>(to));
}

bool forward_gives_rows(const KernelCall& c) { return kernels::conv::gives_rows(forward_problem(c)); }
void forward_rows(const KernelCall& c, int64_t begin, int64_t end, void* to) {
  const ConvProblem p = forward_problem(c);
  kernels::conv::forward_rows(p, c.in[0].data, c.prepacked, p.has_bias ? c.in[2].as<float>() : nullptr, begin,
                              end, static_cast<float*>(to));
}
bool forward_takes_rows(const KernelCall& c) { return kernels::conv::takes_rows(forward_problem(c)); }
void forward_on_rows(const KernelCall& c, const RowSource& rows, const PieceTaker& taker) {
  const ConvProblem p = forward_problem(c);
  kernels::conv::forward_on_rows(p, rows, c.prepacked ? c.prepacked : c.in[1].data,
                                 p.has_bias ? c.in[2].as<float>() : nullptr, c.out[0].data, c.workspace,
                                 {.taker = &taker, .weights_packed = c.prepacked != nullptr});
}

size_t prepacked_bytes(const KernelCall& c) {
  return kernels::conv::packed_weights_bytes(forward_problem(c));
}
void prepack(const KernelCall& c, void* to) {
  kernels::conv::pack_weights(forward_problem(c), c.in[1].data, to);
}

size_t input_workspace(const KernelCall& c) {
  return kernels::conv::workspace(input_problem(c), ConvPass::kBackwardData);
}
void backward_input(const KernelCall& c) {
  kernels::conv::backward_data(input_problem(c), c.in[0].data, c.in[1].data, c.out[0].data, c.workspace);
}
bool backward_input_has_pieces(const KernelCall& c) {
  return kernels::conv::has_pieces(input_problem(c), ConvPass::kBackwardData);
}
void backward_input_pieces(const KernelCall& c, const PieceTaker& taker) {
  kernels::conv::backward_data(input_problem(c), c.in[0].data, c.in[1].data, c.out[0].data, c.workspace,
                               {.taker = &taker});
}

size_t weight_workspace(const KernelCall& c) {
  return kernels::conv::workspace(weight_problem(c), ConvPass::kBackwardWeights);
}
void backward_weight(const KernelCall& c) {
  kernels::conv::backward_weights(weight_problem(c), c.in[0].data, c.in[1].data, c.out[0].data, c.workspace);
}

constexpr uint32_t kWeightAndBias = 0b110;

const Kernel forward_kernel{.name = "conv_cpu",
                            .in_layout = Layout::kChannelsLast,
                            .out_layout = Layout::kChannelsLast,
                            .supports = supports_forward,
                            .workspace = forward_workspace,
                            .run = forward,
                            .row_major_in = kWeightAndBias,
                            .has_pieces = forward_has_pieces,
                            .run_pieces = forward_pieces,
                            .prepacked_in = 1,
                            .prepacked_bytes = prepacked_bytes,
                            .prepack = prepack};
/// Asked before the one above.
const KernelRegistrar image_registered{"conv",
                                       {.name = "conv_image",
                                        .in_layout = Layout::kContiguous,
                                        .out_layout = Layout::kChannelsLast,
                                        .supports = supports_image,
                                        .workspace = image_workspace,
                                        .run = image,
                                        .has_pieces = image_has_pieces,
                                        .run_pieces = image_pieces,
                                        .prepacked_in = 1,
                                        .prepacked_bytes = image_prepacked_bytes,
                                        .prepack = image_prepack},
                                       kLibraryRank + 1};
const RowKernelRegistrar rows_registered{"conv_cpu",
                                         {.gives_rows = forward_gives_rows,
                                          .compute_rows = forward_rows,
                                          .takes_rows = forward_takes_rows,
                                          .run_on_rows = forward_on_rows}};
const Kernel backward_input_kernel{.name = "conv_backward_input_cpu",
                                   .in_layout = Layout::kChannelsLast,
                                   .out_layout = Layout::kChannelsLast,
                                   .supports = supports_input,
                                   .workspace = input_workspace,
                                   .run = backward_input,
                                   .row_major_in = kWeightAndBias,
                                   .has_pieces = backward_input_has_pieces,
                                   .run_pieces = backward_input_pieces};
const Kernel backward_weight_kernel{.name = "conv_backward_weight_cpu",
                                    .in_layout = Layout::kChannelsLast,
                                    .out_layout = Layout::kContiguous,
                                    .supports = supports_weight,
                                    .workspace = weight_workspace,
                                    .run = backward_weight};
const KernelRegistrar registered[] = {
    {"conv", forward_kernel, kLibraryRank},
    {"conv_backward_input", backward_input_kernel, kLibraryRank},
    {"conv_backward_weight", backward_weight_kernel, kLibraryRank},
    {"conv", cpu::Widened<forward_kernel>::kernel("conv_widened", Layout::kChannelsLast), kSimdRank},
    {"conv_backward_input",
     cpu::Widened<backward_input_kernel>::kernel("conv_backward_input_widened", Layout::kChannelsLast),
     kSimdRank},
    {"conv_backward_weight",
     cpu::Widened<backward_weight_kernel>::kernel("conv_backward_weight_widened", Layout::kChannelsLast),
     kSimdRank}};

}  // namespace
}  // namespace sorus
