#include "binding/functions.h"
#include "sorus/ops/nn/conv.h"
#include "sorus/ops/nn/linear.h"
#include "sorus/ops/nn/loss.h"
#include "sorus/ops/nn/pool.h"
#include "sorus/ops/nn/softmax.h"

namespace sorus::python {
namespace {

Tensor bound_conv(const Tensor& x, const Tensor& weight, const Tensor& bias, const Ints& stride,
                  const Ints& padding, const Ints& dilation, int64_t groups) {
  return conv(x, weight, bias,
              {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups});
}
Tensor bound_conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias, const Ints& stride,
                            const Ints& padding, const Ints& dilation, int64_t groups,
                            const Ints& output_padding) {
  return conv_transpose(x, weight, bias,
                        {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups},
                        output_padding);
}
Tensor bound_conv_backward_input(const Tensor& gradient, const Tensor& weight, const Ints& input_size,
                                 const Ints& stride, const Ints& padding, const Ints& dilation,
                                 int64_t groups) {
  return conv_backward_input(gradient, weight, input_size,
                             {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups});
}
Tensor bound_max_pool(const Tensor& x, const Ints& kernel, const Ints& stride, const Ints& padding,
                      const Ints& dilation, bool ceil_mode) {
  return max_pool(x, kernel,
                  {.stride = stride, .padding = padding, .dilation = dilation, .ceil_mode = ceil_mode});
}
std::pair<Tensor, Tensor> bound_max_pool_with_indices(const Tensor& x, const Ints& kernel, const Ints& stride,
                                                      const Ints& padding, const Ints& dilation,
                                                      bool ceil_mode) {
  return max_pool_with_indices(
      x, kernel, {.stride = stride, .padding = padding, .dilation = dilation, .ceil_mode = ceil_mode});
}
Tensor bound_avg_pool(const Tensor& x, const Ints& kernel, const Ints& stride, const Ints& padding,
                      bool ceil_mode, bool count_include_pad, int64_t divisor) {
  return avg_pool(x, kernel,
                  {.stride = stride,
                   .padding = padding,
                   .ceil_mode = ceil_mode,
                   .count_include_pad = count_include_pad,
                   .divisor = divisor});
}

constexpr const char* kConvSignature = "x, weight, bias=None, stride=(), padding=(), dilation=(), groups=1";
constexpr const char* kMaxPoolSignature = "x, kernel, stride=(), padding=(), dilation=(), ceil_mode=False";

}  // namespace

std::vector<Function> nn_functions() {
  return {
      function("linear", &linear, "x, weight, bias=None"),
      function("conv", &bound_conv, kConvSignature),
      function("conv_transpose", &bound_conv_transpose,
               "x, weight, bias=None, stride=(), padding=(), dilation=(), groups=1, output_padding=()"),
      function("conv_backward_input", &bound_conv_backward_input,
               "gradient, weight, input_size, stride=(), padding=(), dilation=(), groups=1"),
      function("same_padding", &same_padding, "input_size, kernel_size, stride=(), dilation=()"),
      function("max_pool", &bound_max_pool, kMaxPoolSignature),
      function("max_pool_with_indices", &bound_max_pool_with_indices, kMaxPoolSignature),
      function("avg_pool", &bound_avg_pool,
               "x, kernel, stride=(), padding=(), ceil_mode=False, count_include_pad=True, divisor=0"),
      function("adaptive_avg_pool", &adaptive_avg_pool, "x, output_size"),
      function("adaptive_max_pool", &adaptive_max_pool, "x, output_size"),
      function("adaptive_max_pool_with_indices", &adaptive_max_pool_with_indices, "x, output_size"),
      function("softmax", &softmax, "x, axis=-1"),
      function("log_softmax", &log_softmax, "x, axis=-1"),
      function("softmax_cross_entropy", &softmax_cross_entropy,
               "logits, labels, ignore_index=-100, label_smoothing=0"),
  };
}

}  // namespace sorus::python
