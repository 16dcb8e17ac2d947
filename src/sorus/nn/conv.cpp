#include "sorus/nn/conv.h"

#include <algorithm>

#include "sorus/nn/basic.h"
#include "sorus/ops/nn/conv.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::nn {

ConvCell::ConvCell(Kind kind, Place place, int64_t in, int64_t out, const Ints& kernel_size,
                   const ConvCellOptions& options)
    : Cell(place),
      kind_(kind),
      kernel_(window_numbers(kind.name, "kernel_size", kernel_size, kind.axes)),
      options_(options) {
  SORUS_CHECK(in > 0 && out > 0 && options.group > 0 && in % options.group == 0 && out % options.group == 0,
              ValueError,
              "{}: channels do not fit the groups: got {} in, {} out, {} groups, need positive multiples of "
              "the groups",
              kind.name, in, out, options.group);
  check_padding(kind.name, options.pad_mode, options.padding);
  SORUS_CHECK(options.output_padding.empty() || (kind.transposed && options.pad_mode == PadMode::kPad),
              ValueError, "{}: output_padding is given: got {}, need a transpose and PadMode::kPad",
              kind.name, options.output_padding);
  options_.stride = window_numbers(kind.name, "stride", options.stride, kind.axes);
  options_.dilation = window_numbers(kind.name, "dilation", options.dilation, kind.axes);
  Shape shape{kind.transposed ? in : out, (kind.transposed ? out : in) / options.group};
  if (kind.axes == 1) shape.push_back(1);  // as the Python package's, and MindSpore's before it
  for (int64_t extent : kernel_) shape.push_back(extent);
  weight = add_parameter("weight", first_weight(options.weight_init, shape, options.dtype));
  if (options.has_bias)
    bias = add_parameter("bias", first_bias(options.bias_init, shape, out, options.dtype));
}

Tensor ConvCell::construct(const Tensor& x) {
  SORUS_CHECK(x.rank() == kind_.axes + 2, ShapeError, "{}: wrong number of axes: got shape {}, need {} axes",
              kind_.name, x.shape(), kind_.axes + 2);
  Tensor kernel = kind_.axes == 1 ? squeeze(weight, {2}) : weight.value();
  return kind_.transposed ? run_transposed(x, kernel) : run(x, kernel);
}

Tensor ConvCell::run(const Tensor& x, const Tensor& kernel) const {
  ConvOptions conv_options{options_.stride, options_.padding, options_.dilation, options_.group};
  if (options_.pad_mode == PadMode::kSame)
    conv_options.padding =
        same_padding(spatial_size(x, kind_.axes), kernel_, options_.stride, options_.dilation);
  return conv(x, kernel, bias.defined() ? bias.value() : Tensor(), conv_options);
}

Tensor ConvCell::run_transposed(const Tensor& x, const Tensor& kernel) const {
  ConvOptions conv_options{options_.stride, options_.padding, options_.dilation, options_.group};
  Ints extra = options_.output_padding;
  if (options_.pad_mode != PadMode::kPad) {
    // Strides wider than the window leave elements that no window touches: they belong to the result too.
    extra = {};
    Ints size = spatial_size(x, kind_.axes);
    for (int i = 0; i < kind_.axes; ++i) {
      extra.push_back(std::max<int64_t>(options_.stride[i] - options_.dilation[i] * (kernel_[i] - 1) - 1, 0));
      size[i] *= options_.stride[i];
    }
    if (options_.pad_mode == PadMode::kSame)
      conv_options.padding = same_padding(size, kernel_, options_.stride, options_.dilation);
  }
  return conv_transpose(x, kernel, bias.defined() ? bias.value() : Tensor(), conv_options, extra);
}

}  // namespace sorus::nn
