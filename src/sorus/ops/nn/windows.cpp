#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/conv.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/nn/pool.h"
#include "sorus/ops/shape/shape_ops.h"

/// Compositions over convolution and pooling.
namespace sorus {
namespace {

int64_t product(const Ints& list) {
  int64_t n = 1;
  for (int64_t v : list) n *= v;
  return n;
}

/// Depthwise weights that copy each element of a window to a channel of its own: (C * k, 1, kernel...).
Tensor copying_weight(const Ints& kernel, int64_t channels, DType dtype) {
  int64_t k = product(kernel);
  Ints shape{k, 1};
  for (int64_t v : kernel) shape.push_back(v);
  Ints times = Ints::filled(shape.size(), 1);
  times[0] = channels;
  return tile(reshape(eye(k, k, dtype), shape), times);
}

}  // namespace

Tensor unfold_windows(const Tensor& x, const Ints& kernel, const ConvOptions& options) {
  constexpr std::string_view kName = "unfold_windows";
  SORUS_CHECK(x.rank() >= 3, ShapeError, "{}: the rank does not fit: got shape {}, need (N, C, spatial...)",
              kName, x.shape());
  detail::need_floating(kName, "x", x.dtype());
  ConvOptions o = options;
  o.groups = x.size(1);
  Ints extents = detail::per_axis(kName, "kernel", kernel, x.rank() - 2, 1, 1);
  Tensor y = conv(x, copying_weight(extents, x.size(1), x.dtype()), {}, o);
  return reshape(y, {x.size(0), x.size(1) * product(extents), -1});
}

Tensor fold_windows(const Tensor& columns, const Ints& output_size, const Ints& kernel,
                    const ConvOptions& options) {
  constexpr std::string_view kName = "fold_windows";
  int n = output_size.size();
  SORUS_CHECK(columns.rank() == 3, ShapeError,
              "{}: the rank does not fit: got shape {}, need (N, C * kernel elements, windows)", kName,
              columns.shape());
  detail::need_floating(kName, "columns", columns.dtype());
  Ints extents = detail::per_axis(kName, "kernel", kernel, n, 1, 1);
  Ints stride = detail::per_axis(kName, "stride", options.stride, n, 1, 1);
  Ints dilation = detail::per_axis(kName, "dilation", options.dilation, n, 1, 1);
  Ints padding = detail::low_high(kName, options.padding, n);
  int64_t k = product(extents);
  SORUS_CHECK(columns.size(1) % k == 0, ShapeError,
              "{}: columns do not fit: got {} rows for a window of {} elements, need a multiple", kName,
              columns.size(1), k);
  int64_t windows = 1;
  Ints shape{columns.size(0), columns.size(1)};
  for (int i = 0; i < n; ++i) {
    shape.push_back(detail::window_count(kName, output_size[i], padding[2 * i], padding[2 * i + 1],
                                         extents[i], stride[i], dilation[i], i)
                        .value());
    windows *= shape[i + 2];
  }
  SORUS_CHECK(windows == columns.size(2), ShapeError,
              "{}: columns do not fit: got {} windows, need {} for size {}", kName, columns.size(2), windows,
              output_size);
  ConvOptions o{stride, padding, dilation, columns.size(1) / k};
  return conv_backward_input(reshape(columns, shape), copying_weight(extents, o.groups, columns.dtype()),
                             output_size, o);
}

Tensor lp_pool(const Tensor& x, double p, const Ints& kernel, const PoolOptions& options) {
  const ToldAs told("lp_pool");
  SORUS_CHECK(p > 0, ValueError, "lp_pool: 'p' is too small: got {}, need more than 0", p);
  PoolOptions o = options;
  o.divisor = 1;
  Tensor sums = avg_pool(pow(x, scalar_beside(p, x.dtype())), kernel, o);
  return pow(sums, scalar_beside(1 / p, x.dtype()));
}

Tensor local_response_norm(const Tensor& x, int64_t radius, double bias, double alpha, double beta) {
  constexpr std::string_view kName = "local_response_norm";
  SORUS_CHECK(x.rank() >= 2, ShapeError, "{}: the rank does not fit: got shape {}, need (N, C, ...)", kName,
              x.shape());
  SORUS_CHECK(radius >= 0, ValueError, "{}: 'radius' is negative: got {}, need at least 0", kName, radius);
  Tensor squares = reshape(square(x), {x.size(0), 1, x.size(1), -1});
  Tensor sums = avg_pool2d(squares, {2 * radius + 1, 1},
                           {.stride = {1}, .padding = {radius, radius, 0, 0}, .divisor = 1});
  Tensor base = reshape(sums, x.shape().sizes()) * alpha + bias;
  return x / pow(base, scalar_beside(beta, x.dtype()));
}

}  // namespace sorus
