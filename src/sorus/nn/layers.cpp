#include "sorus/nn/layers.h"

#include <algorithm>
#include <cmath>

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/conv.h"
#include "sorus/ops/nn/linear.h"
#include "sorus/ops/nn/pool.h"
#include "sorus/ops/random/random.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::nn {
namespace {

Tensor first_weight(const Initializer& given, const Shape& shape, DType dtype) {
  return initialize(given ? given : he_uniform(std::sqrt(5.0)), shape, dtype);
}

Tensor first_bias(const Initializer& given, const Shape& weight, DType dtype) {
  double fan_in = static_cast<double>(std::max<int64_t>(fans_of(weight).in, 1));
  return initialize(given ? given : uniform(1 / std::sqrt(fan_in)), {weight[0]}, dtype);
}

/// One number for each of `n` axes.
Ints spread(std::string_view op, std::string_view what, const Ints& items, int n) {
  if (items.size() == 1) return Ints::filled(n, items[0]);
  SORUS_CHECK(items.size() == n, ValueError, "{}: {} has {} numbers: got {}, need 1 or {}", op, what,
              items.size(), items, n);
  return items;
}

/// Zeros around two spatial axes as (low, high) pairs.
Ints border(std::string_view op, PadMode mode, const Ints& padding, const Tensor& x, const Ints& kernel,
            const Ints& stride, const Ints& dilation) {
  SORUS_CHECK(x.rank() == 4, ShapeError, "{}: input has another rank: got {}, need (N, C, H, W)", op,
              x.shape());
  if (mode == PadMode::kSame) return same_padding({x.size(2), x.size(3)}, kernel, stride, dilation);
  if (mode == PadMode::kValid || padding.empty()) return Ints::filled(4, 0);
  return spread(op, "padding", padding, 4);
}

PoolOptions pool_options(std::string_view op, const Pool2dOptions& given, const Tensor& x,
                         const Ints& kernel) {
  PoolOptions pool;
  pool.stride = spread(op, "stride", given.stride, 2);
  pool.padding = border(op, given.pad_mode, given.padding, x, kernel, pool.stride, {1, 1});
  pool.count_include_pad = false;
  return pool;
}

}  // namespace

Dense::Dense(Place place, int64_t in, int64_t out, const DenseOptions& options) : Cell(place) {
  SORUS_CHECK(in > 0 && out > 0, ValueError,
              "Dense: channels are not positive: got {} and {}, need 1 or more", in, out);
  weight = add_parameter("weight", first_weight(options.weight_init, {out, in}, options.dtype));
  if (options.has_bias) bias = add_parameter("bias", first_bias(options.bias_init, {out, in}, options.dtype));
}

Tensor Dense::construct(const Tensor& x) {
  return linear(x, weight, bias.defined() ? bias.value() : Tensor());
}

Conv2d::Conv2d(Place place, int64_t in, int64_t out, const Ints& kernel_size, const Conv2dOptions& options)
    : Cell(place), kernel_(spread("Conv2d", "kernel_size", kernel_size, 2)), options_(options) {
  SORUS_CHECK(in > 0 && out > 0 && options.group > 0 && in % options.group == 0 && out % options.group == 0,
              ValueError,
              "Conv2d: channels do not fit the groups: got {} in, {} out, {} groups, need positive multiples "
              "of the groups",
              in, out, options.group);
  SORUS_CHECK(options.padding.empty() || options.pad_mode == PadMode::kPad, ValueError,
              "Conv2d: padding is given with another pad_mode: got {}, need PadMode::kPad", options.padding);
  options_.stride = spread("Conv2d", "stride", options.stride, 2);
  options_.dilation = spread("Conv2d", "dilation", options.dilation, 2);
  Shape shape{out, in / options.group, kernel_[0], kernel_[1]};
  weight = add_parameter("weight", first_weight(options.weight_init, shape, options.dtype));
  if (options.has_bias) bias = add_parameter("bias", first_bias(options.bias_init, shape, options.dtype));
}

Tensor Conv2d::construct(const Tensor& x) {
  ConvOptions conv;
  conv.stride = options_.stride;
  conv.padding =
      border("Conv2d", options_.pad_mode, options_.padding, x, kernel_, options_.stride, options_.dilation);
  conv.dilation = options_.dilation;
  conv.groups = options_.group;
  return conv2d(x, weight, bias.defined() ? bias.value() : Tensor(), conv);
}

Tensor MaxPool2d::construct(const Tensor& x) {
  Ints kernel = spread("MaxPool2d", "kernel_size", kernel_, 2);
  return max_pool2d(x, kernel, pool_options("MaxPool2d", options_, x, kernel));
}

Tensor AvgPool2d::construct(const Tensor& x) {
  Ints kernel = spread("AvgPool2d", "kernel_size", kernel_, 2);
  return avg_pool2d(x, kernel, pool_options("AvgPool2d", options_, x, kernel));
}

Tensor Flatten::construct(const Tensor& x) {
  SORUS_CHECK(x.rank() >= 1, ShapeError, "Flatten: input is a scalar: got {}, need at least one dimension",
              x.shape());
  int64_t rest = 1;
  for (int i = 1; i < x.rank(); ++i) rest *= x.size(i);
  return reshape(x, {x.size(0), rest});
}

Tensor ReLU::construct(const Tensor& x) { return relu(x); }

Dropout::Dropout(Place place, double p) : Cell(place), p_(p) {
  SORUS_CHECK(p >= 0 && p < 1, ValueError, "Dropout: probability is out of range: got {}, need 0 <= p < 1",
              p);
}

Tensor Dropout::construct(const Tensor& x) { return training() && p_ > 0 ? dropout(x, p_) : x; }

TensorList SoftmaxCrossEntropyWithLogits::construct(const TensorList& in) {
  SORUS_CHECK(in.size() == 2, ValueError,
              "SoftmaxCrossEntropyWithLogits: number of operands differs: got {}, need logits and labels",
              in.size());
  Tensor losses = softmax_cross_entropy(in[0], in[1]);
  if (reduction_ == Reduction::kMean) return {mean(losses)};
  if (reduction_ == Reduction::kSum) return {sum(losses)};
  return {losses};
}

}  // namespace sorus::nn
