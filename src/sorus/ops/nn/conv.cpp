#include "sorus/ops/nn/conv.h"

#include <algorithm>

#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

using detail::need_floating;
using detail::need_same_dtype;

constexpr int kMaxSpatial = 3;

ConvAttrs complete(std::string_view op, const ConvOptions& o, int n, const Ints& size = {}) {
  SORUS_CHECK(n >= 1 && n <= kMaxSpatial, ShapeError,
              "{}: wrong number of spatial axes: got {}, need 1, 2 or 3", op, n);
  SORUS_CHECK(o.groups >= 1, ValueError, "{}: 'groups' is too small: got {}, need at least 1", op, o.groups);
  return {.stride = detail::per_axis(op, "stride", o.stride, n, 1, 1),
          .padding = detail::low_high(op, o.padding, n),
          .dilation = detail::per_axis(op, "dilation", o.dilation, n, 1, 1),
          .groups = o.groups,
          .size = size};
}

ConvOptions options_of(const ConvAttrs& a) { return {a.stride, a.padding, a.dilation, a.groups}; }

/// Extents of the kernel or of the spatial axes of a tensor.
Ints spatial(const Shape& shape) {
  Ints out;
  for (int i = 2; i < shape.rank(); ++i) out.push_back(shape.size(i));
  return out;
}

/// Also of graphs that are read from files, whose attributes no public function has seen.
void need_ranks(std::string_view op, const Shape& x, const Shape& w, const ConvAttrs& a) {
  detail::need_window_attributes(op, a.stride, a.dilation, a.padding, a.stride.size());
  SORUS_CHECK(a.groups >= 1, ValueError, "{}: 'groups' is too small: got {}, need at least 1", op, a.groups);
  int rank = a.stride.size() + 2;
  SORUS_CHECK(x.rank() == rank && w.rank() == rank, ShapeError,
              "{}: ranks do not fit: got shapes {} and {}, need rank {} of both", op, x, w, rank);
}

void need_channels(std::string_view op, Dim channels, const Shape& weight, int64_t groups) {
  SORUS_CHECK(channels == weight[1] * Dim(groups), ShapeError,
              "{}: channels do not fit: got {} channels for weight {} in {} groups, need {}", op,
              channels.text(), weight, groups, (weight[1] * Dim(groups)).text());
}

void need_output_channels(std::string_view op, Dim o, int64_t groups) {
  if (o.is_symbol()) return;
  SORUS_CHECK(o.value() % groups == 0, ShapeError,
              "{}: output channels do not divide into groups: got {} channels, need a multiple of {}", op,
              o.value(), groups);
}

double conv_flops(const Shape& outer, const Shape& weight) {
  double flops = 2 * static_cast<double>(outer.numel());
  for (int i = 1; i < weight.rank(); ++i) flops *= static_cast<double>(weight.size(i));
  return flops;
}

double bytes_of(const TensorType& t) {
  return static_cast<double>(t.shape.numel()) * static_cast<double>(dtype_size(t.dtype));
}

// ---- conv -------------------------------------------------------------------------------------------------

TypeList infer_conv(const InferContext& c) {
  const auto& a = c.attrs<ConvAttrs>();
  const Shape& x = c.shape(0);
  const Shape& w = c.shape(1);
  need_floating(c.name(), "x", c.dtype(0));
  need_same_dtype(c.name(), "weight", c.dtype(1), c.dtype(0));
  need_ranks(c.name(), x, w, a);
  need_channels(c.name(), x[1], w, a.groups);
  need_output_channels(c.name(), w[0], a.groups);
  if (c.has(2)) {
    need_same_dtype(c.name(), "bias", c.dtype(2), c.dtype(0));
    SORUS_CHECK(c.shape(2) == Shape{w[0]}, ShapeError, "{}: bias does not fit: got shape {}, need ({},)",
                c.name(), c.shape(2), w[0].text());
  }
  Shape out{x[0], w[0]};
  for (int i = 0; i + 2 < x.rank(); ++i)
    out.push_back(detail::window_count(c.name(), x[i + 2], a.padding[2 * i], a.padding[2 * i + 1],
                                       w.size(i + 2), a.stride[i], a.dilation[i], i));
  return {{c.dtype(0), c.in(0).device, out}};
}

void conv_vjp(VjpContext& c) {
  const auto& a = c.attrs<ConvAttrs>();
  const Tensor& g = c.grad();
  if (!g.defined()) return;
  if (c.needs(0)) c.set(0, conv_backward_input(g, c.in(1), spatial(c.in_type(0).shape), options_of(a)));
  if (c.needs(1)) c.set(1, conv_backward_weight(c.in(0), g, spatial(c.in_type(1).shape), options_of(a)));
  if (c.has(2) && c.needs(2)) {
    Ints axes{0};
    for (int i = 2; i < g.rank(); ++i) axes.push_back(i);
    c.set(2, sum(g, axes));
  }
}

Cost conv_cost(const InferContext& c) {
  TypeList out = infer_conv(c);
  return {conv_flops(out[0].shape, c.shape(1)), bytes_of(c.in(0)) + bytes_of(c.in(1)) + bytes_of(out[0])};
}

const OpDef conv_op{
    .name = "conv",
    .doc =
        "Convolution (cross-correlation) over 1 to 3 spatial axes: x (N, C, spatial...), weight (O, "
        "C/groups, kernel...), bias (O,) or none, all of one floating dtype; result (N, O, windows...). "
        "ShapeError when channels, bias or windows do not fit, DTypeError for other dtypes.",
    .inputs = {{"x"}, {"weight"}, {"bias", InputKind::kOptional}},
    .attrs = attrs_def<ConvAttrs>(),
    .infer = infer_conv,
    .vjp = conv_vjp,
    .saves_in = saves({0, 1}),
    .cost = conv_cost};
const OpRegistrar conv_registered{conv_op};

// ---- gradient for the input
// ---------------------------------------------------------------------------------

/// Checks that windows over axes of extent `size` give the spatial extents of `g`.
void need_windows(std::string_view op, const Shape& g, const Ints& size, const Ints& kernel,
                  const ConvAttrs& a) {
  for (int i = 0; i < size.size(); ++i) {
    Dim need = detail::window_count(op, size[i], a.padding[2 * i], a.padding[2 * i + 1], kernel[i],
                                    a.stride[i], a.dilation[i], i);
    SORUS_CHECK(g[i + 2] == need, ShapeError,
                "{}: the gradient does not fit: got {} on spatial axis {}, need {} for size {}", op,
                g[i + 2].text(), i, need.text(), size);
  }
}

TypeList infer_backward_input(const InferContext& c) {
  const auto& a = c.attrs<ConvAttrs>();
  const Shape& g = c.shape(0);
  const Shape& w = c.shape(1);
  need_floating(c.name(), "gradient", c.dtype(0));
  need_same_dtype(c.name(), "weight", c.dtype(1), c.dtype(0));
  need_ranks(c.name(), g, w, a);
  SORUS_CHECK(g[1] == w[0], ShapeError, "{}: channels do not fit: got {} channels for weight {}, need {}",
              c.name(), g[1].text(), w, w[0].text());
  need_output_channels(c.name(), w[0], a.groups);
  SORUS_CHECK(a.size.size() == a.stride.size(), ValueError,
              "{}: the input's extents have the wrong length: got {}, need {} numbers", c.name(), a.size,
              a.stride.size());
  need_windows(c.name(), g, a.size, spatial(w), a);
  Shape out{g[0], w[1] * Dim(a.groups)};
  for (int64_t s : a.size) out.push_back(s);
  return {{c.dtype(0), c.in(0).device, out}};
}

void backward_input_vjp(VjpContext& c) {
  const auto& a = c.attrs<ConvAttrs>();
  const Tensor& u = c.grad();
  if (!u.defined()) return;
  if (c.needs(0)) c.set(0, conv(u, c.in(1), {}, options_of(a)));
  if (c.needs(1)) c.set(1, conv_backward_weight(u, c.in(0), spatial(c.in_type(1).shape), options_of(a)));
}

Cost backward_input_cost(const InferContext& c) {
  TypeList out = infer_backward_input(c);
  return {conv_flops(c.shape(0), c.shape(1)), bytes_of(c.in(0)) + bytes_of(c.in(1)) + bytes_of(out[0])};
}

const OpDef backward_input_op{
    .name = "conv_backward_input",
    .doc =
        "Gradient of conv for its input, and transposed convolution: gradient (N, O, windows...), weight "
        "(O, C/groups, kernel...); result (N, C, size...).",
    .inputs = {{"gradient"}, {"weight"}},
    .attrs = attrs_def<ConvAttrs>(),
    .infer = infer_backward_input,
    .vjp = backward_input_vjp,
    .saves_in = saves({0, 1}),
    .cost = backward_input_cost,
    .traits = {.backward = true}};
const OpRegistrar backward_input_registered{backward_input_op};

// ---- gradient for the weight
// --------------------------------------------------------------------------------

TypeList infer_backward_weight(const InferContext& c) {
  const auto& a = c.attrs<ConvAttrs>();
  const Shape& x = c.shape(0);
  const Shape& g = c.shape(1);
  need_floating(c.name(), "x", c.dtype(0));
  need_same_dtype(c.name(), "gradient", c.dtype(1), c.dtype(0));
  need_ranks(c.name(), x, g, a);
  SORUS_CHECK(x[0] == g[0], ShapeError, "{}: batches differ: got {} and {}, need the same", c.name(),
              x[0].text(), g[0].text());
  SORUS_CHECK(x.size(1) % a.groups == 0, ShapeError,
              "{}: channels do not divide into groups: got {} channels, need a multiple of {}", c.name(),
              x.size(1), a.groups);
  need_output_channels(c.name(), g[1], a.groups);
  SORUS_CHECK(a.size.size() == a.stride.size(), ValueError,
              "{}: the kernel's extents have the wrong length: got {}, need {} numbers", c.name(), a.size,
              a.stride.size());
  if (x.is_concrete()) need_windows(c.name(), g, spatial(x), a.size, a);
  Shape out{g[1], Dim(x.size(1) / a.groups)};
  for (int64_t s : a.size) out.push_back(s);
  return {{c.dtype(0), c.in(0).device, out}};
}

void backward_weight_vjp(VjpContext& c) {
  const auto& a = c.attrs<ConvAttrs>();
  const Tensor& u = c.grad();
  if (!u.defined()) return;
  if (c.needs(0)) c.set(0, conv_backward_input(c.in(1), u, spatial(c.in_type(0).shape), options_of(a)));
  if (c.needs(1)) c.set(1, conv(c.in(0), u, {}, options_of(a)));
}

Cost backward_weight_cost(const InferContext& c) {
  TypeList out = infer_backward_weight(c);
  return {conv_flops(c.shape(1), out[0].shape), bytes_of(c.in(0)) + bytes_of(c.in(1)) + bytes_of(out[0])};
}

const OpDef backward_weight_op{
    .name = "conv_backward_weight",
    .doc =
        "Gradient of conv for its weight: x (N, C, spatial...), gradient (N, O, windows...); result (O, "
        "C/groups, size...).",
    .inputs = {{"x"}, {"gradient"}},
    .attrs = attrs_def<ConvAttrs>(),
    .infer = infer_backward_weight,
    .vjp = backward_weight_vjp,
    .saves_in = saves({0, 1}),
    .cost = backward_weight_cost,
    .traits = {.backward = true}};
const OpRegistrar backward_weight_registered{backward_weight_op};

Tensor conv_of_rank(std::string_view name, int n, const Tensor& x, const Tensor& weight, const Tensor& bias,
                    const ConvOptions& options) {
  SORUS_CHECK(weight.rank() == n + 2 && (x.rank() == n + 2 || x.rank() == n + 1), ShapeError,
              "{}: ranks do not fit: got shapes {} and {}, need x of rank {} or {} and weight of rank {}",
              name, x.shape(), weight.shape(), n + 1, n + 2, n + 2);
  return conv(x, weight, bias, options);
}

}  // namespace

Tensor conv(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  ConvAttrs attrs = complete("conv", options, weight.rank() - 2);
  if (x.rank() + 1 == weight.rank()) {
    Tensor batch = expand_dims(x, 0);
    return squeeze(apply(conv_op, {&batch, &weight, bias.defined() ? &bias : nullptr}, attrs), {0});
  }
  return apply(conv_op, {&x, &weight, bias.defined() ? &bias : nullptr}, attrs);
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv_of_rank("conv1d", 1, x, weight, bias, options);
}
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv_of_rank("conv2d", 2, x, weight, bias, options);
}
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  return conv_of_rank("conv3d", 3, x, weight, bias, options);
}

Tensor conv_backward_input(const Tensor& gradient, const Tensor& weight, const Ints& input_size,
                           const ConvOptions& options) {
  return apply(backward_input_op, {&gradient, &weight},
               complete("conv_backward_input", options, weight.rank() - 2, input_size));
}

Tensor conv_backward_weight(const Tensor& x, const Tensor& gradient, const Ints& kernel_size,
                            const ConvOptions& options) {
  return apply(backward_weight_op, {&x, &gradient},
               complete("conv_backward_weight", options, x.rank() - 2, kernel_size));
}

Tensor conv_transpose(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options,
                      const Ints& output_padding) {
  const ToldAs told("conv_transpose");
  constexpr std::string_view kName = "conv_transpose";
  int n = weight.rank() - 2;
  ConvAttrs attrs = complete(kName, options, n);
  if (x.rank() + 1 == weight.rank())
    return squeeze(conv_transpose(expand_dims(x, 0), weight, bias, options, output_padding), {0});
  need_ranks(kName, x.shape(), weight.shape(), attrs);
  Ints extra = detail::per_axis(kName, "output_padding", output_padding, n, 0, 0);
  for (int i = 0; i < n; ++i) {
    SORUS_CHECK(extra[i] < attrs.stride[i], ValueError,
                "{}: 'output_padding' is too large: got {}, need less than stride {}", kName, extra,
                attrs.stride);
    int64_t span = detail::window_span(kName, weight.size(i + 2), attrs.dilation[i]);
    int64_t steps = detail::checked_product(kName, x.size(i + 2) - 1, attrs.stride[i]);
    int64_t full = detail::checked_sum(kName, detail::checked_sum(kName, steps, span), extra[i]);
    attrs.size.push_back(full - detail::checked_sum(kName, attrs.padding[2 * i], attrs.padding[2 * i + 1]));
    SORUS_CHECK(attrs.size[i] >= 1, ShapeError,
                "{}: the result is empty: got extent {} on spatial axis {}, need at least 1", kName,
                attrs.size[i], i);
  }
  if (!bias.defined()) return apply(backward_input_op, {&x, &weight}, attrs);
  // 16-bit sums are rounded once, after the bias.
  const DType dtype = x.dtype();
  const bool widens = is_half(dtype) && weight.dtype() == dtype && bias.dtype() == dtype;
  const auto wide = [widens](const Tensor& t) { return widens ? cast(t, DType::kFloat32) : t; };
  const Tensor from = wide(x), by = wide(weight);
  Tensor y = apply(backward_input_op, {&from, &by}, attrs);
  SORUS_CHECK(bias.shape() == Shape{y.shape()[1]}, ShapeError,
              "{}: bias does not fit: got shape {}, need ({},)", kName, bias.shape(), y.size(1));
  Ints column = Ints::filled(y.rank(), 1);
  column[1] = y.size(1);
  y = add(y, reshape(wide(bias), column));
  return widens ? cast(y, dtype) : y;
}

Ints same_padding(const Ints& input_size, const Ints& kernel_size, const Ints& stride, const Ints& dilation) {
  int n = input_size.size();
  Ints kernel = detail::per_axis("same_padding", "kernel_size", kernel_size, n, 1, 1);
  Ints step = detail::per_axis("same_padding", "stride", stride, n, 1, 1);
  Ints spread = detail::per_axis("same_padding", "dilation", dilation, n, 1, 1);
  Ints out;
  for (int i = 0; i < n; ++i) {
    int64_t last = input_size[i] > 0 ? (input_size[i] - 1) / step[i] * step[i] : -step[i];  // window's begin
    int64_t span = detail::window_span("same_padding", kernel[i], spread[i]);
    int64_t total = std::max<int64_t>(0, last - input_size[i] + span);
    out.push_back(total / 2);
    out.push_back(total - total / 2);
  }
  return out;
}

}  // namespace sorus
