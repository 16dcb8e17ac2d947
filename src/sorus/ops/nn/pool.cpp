#include "sorus/ops/nn/pool.h"

#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

Ints spatial_of(const Shape& shape) {
  Ints out;
  for (int i = 2; i < shape.rank(); ++i) out.push_back(shape.size(i));
  return out;
}

/// Number of windows along spatial axis i of extent `in`.
Dim windows_of(std::string_view op, const PoolAttrs& a, int i, Dim in) {
  if (a.adaptive) return a.kernel[i];
  int64_t low = a.padding[2 * i];
  int64_t high = a.padding[2 * i + 1];
  if (!a.ceil_mode)
    return detail::window_count(op, in, low, high, a.kernel[i], a.stride[i], a.dilation[i], i);
  int64_t size = in.value();
  int64_t span = detail::window_span(op, a.kernel[i], a.dilation[i]);
  int64_t room = detail::checked_sum(op, size, detail::checked_sum(op, low, high)) - span;
  SORUS_CHECK(room > -a.stride[i], ShapeError,
              "{}: the window is longer than spatial axis {}: got {} elements with padding ({}, {}), need at "
              "least {}",
              op, i, size, low, high, span - a.stride[i] + 1);
  int64_t windows = (room > 0 ? (room - 1) / a.stride[i] + 1 : 0) + 1;
  // A window that would start beyond the data and the low padding is dropped.
  if ((windows - 1) * a.stride[i] >= size + low) --windows;
  return windows;
}

/// Also of graphs that are read from files, whose attributes no public function has seen.
void need_rank(std::string_view op, const Shape& x, const PoolAttrs& a) {
  if (!a.adaptive) detail::need_window_attributes(op, a.stride, a.dilation, a.padding, a.kernel.size());
  SORUS_CHECK(x.rank() == a.kernel.size() + 2, ShapeError,
              "{}: the rank does not fit: got shape {}, need rank {} for {} spatial axes", op, x,
              a.kernel.size() + 2, a.kernel.size());
}

Shape windows_shape(std::string_view op, const Shape& x, const PoolAttrs& a) {
  need_rank(op, x, a);
  Shape out{x[0], x[1]};
  for (int i = 0; i < a.kernel.size(); ++i) out.push_back(windows_of(op, a, i, x[i + 2]));
  return out;
}

void need_windows_shape(std::string_view op, std::string_view what, const Shape& got, const Shape& need) {
  SORUS_CHECK(got == need, ShapeError, "{}: '{}' does not fit: got shape {}, need {}", op, what, got, need);
}

Cost pool_cost(const InferContext& c) {
  double n = static_cast<double>(c.shape(0).numel());
  return {n, 2 * n * static_cast<double>(dtype_size(c.dtype(0)))};
}

PoolAttrs without_size(PoolAttrs a) {
  a.size = {};
  return a;
}

Tensor max_pool_backward(const Tensor& x, const Tensor& g, const PoolAttrs& a);
Tensor max_pool_select(const Tensor& x, const Tensor& u, const PoolAttrs& a);
Tensor avg_pool_of(const Tensor& x, const PoolAttrs& a);
Tensor avg_pool_backward(const Tensor& g, const PoolAttrs& a);

// ---- max ------------------------------------------------------------------------------------------------

TypeList infer_max(const InferContext& c) {
  detail::need_floating(c.name(), "x", c.dtype(0));
  return {{c.dtype(0), c.in(0).device, windows_shape(c.name(), c.shape(0), c.attrs<PoolAttrs>())}};
}

TypeList infer_max_with_indices(const InferContext& c) {
  TypeList out = infer_max(c);
  out.push_back({DType::kInt64, out[0].device, out[0].shape});
  return out;
}

void max_vjp(VjpContext& c) {
  if (c.needs(0) && c.grad().defined()) c.set(0, max_pool_backward(c.in(0), c.grad(), c.attrs<PoolAttrs>()));
}

const OpDef max_pool_op{
    .name = "max_pool",
    .doc =
        "Largest element of each window: x (N, C, spatial...) of a floating dtype, result "
        "(N, C, windows...). Padding never wins, NaN always does.",
    .inputs = {{"x"}},
    .attrs = attrs_def<PoolAttrs>(),
    .infer = infer_max,
    .vjp = max_vjp,
    .saves_in = saves({0}),
    .cost = pool_cost};
const OpRegistrar max_pool_registered{max_pool_op};

const OpDef max_pool_with_indices_op{.name = "max_pool_with_indices",
                                     .doc =
                                         "As max_pool, with the row-major place of each window's first "
                                         "maximum among the spatial axes (int64).",
                                     .inputs = {{"x"}},
                                     .attrs = attrs_def<PoolAttrs>(),
                                     .infer = infer_max_with_indices,
                                     .vjp = max_vjp,
                                     .saves_in = saves({0}),
                                     .cost = pool_cost};
const OpRegistrar max_pool_with_indices_registered{max_pool_with_indices_op};

TypeList infer_max_backward(const InferContext& c) {
  detail::need_same_dtype(c.name(), "gradient", c.dtype(1), c.dtype(0));
  need_windows_shape(c.name(), "gradient", c.shape(1),
                     windows_shape(c.name(), c.shape(0), c.attrs<PoolAttrs>()));
  return {c.in(0)};
}

void max_backward_vjp(VjpContext& c) {
  if (!c.grad().defined()) return;
  const auto& a = c.attrs<PoolAttrs>();
  if (c.needs(0)) c.set(0, full(c.in_type(0), 0));
  if (c.needs(1)) c.set(1, max_pool_select(c.in(0), c.grad(), a));
}

const OpDef max_pool_backward_op{
    .name = "max_pool_backward",
    .doc = "Gradient of max_pool: adds each window's gradient at its first maximum in x.",
    .inputs = {{"x"}, {"gradient"}},
    .attrs = attrs_def<PoolAttrs>(),
    .infer = infer_max_backward,
    .vjp = max_backward_vjp,
    .saves_in = saves({0}),
    .cost = pool_cost,
    .traits = {.backward = true}};
const OpRegistrar max_pool_backward_registered{max_pool_backward_op};

TypeList infer_max_select(const InferContext& c) {
  detail::need_same_dtype(c.name(), "source", c.dtype(1), c.dtype(0));
  need_windows_shape(c.name(), "source", c.shape(1), c.shape(0));
  return {{c.dtype(0), c.in(0).device, windows_shape(c.name(), c.shape(0), c.attrs<PoolAttrs>())}};
}

void max_select_vjp(VjpContext& c) {
  if (!c.grad().defined()) return;
  if (c.needs(0)) c.set(0, full(c.in_type(0), 0));
  if (c.needs(1)) c.set(1, max_pool_backward(c.in(0), c.grad(), c.attrs<PoolAttrs>()));
}

const OpDef max_pool_select_op{
    .name = "max_pool_select",
    .doc = "For each window of max_pool the element of `source` where x has its first maximum.",
    .inputs = {{"x"}, {"source"}},
    .attrs = attrs_def<PoolAttrs>(),
    .infer = infer_max_select,
    .vjp = max_select_vjp,
    .saves_in = saves({0}),
    .cost = pool_cost,
    .traits = {.backward = true}};
const OpRegistrar max_pool_select_registered{max_pool_select_op};

Tensor max_pool_backward(const Tensor& x, const Tensor& g, const PoolAttrs& a) {
  return apply(max_pool_backward_op, {&x, &g}, a);
}
Tensor max_pool_select(const Tensor& x, const Tensor& u, const PoolAttrs& a) {
  return apply(max_pool_select_op, {&x, &u}, a);
}

// ---- average ----------------------------------------------------------------------------------------------

void avg_vjp(VjpContext& c) {
  if (!c.needs(0) || !c.grad().defined()) return;
  PoolAttrs a = c.attrs<PoolAttrs>();
  a.size = spatial_of(c.in_type(0).shape);
  c.set(0, avg_pool_backward(c.grad(), a));
}

const OpDef avg_pool_op{
    .name = "avg_pool",
    .doc = "Mean of each window: x (N, C, spatial...) of a floating dtype, result (N, C, windows...).",
    .inputs = {{"x"}},
    .attrs = attrs_def<PoolAttrs>(),
    .infer = infer_max,
    .vjp = avg_vjp,
    .cost = pool_cost};
const OpRegistrar avg_pool_registered{avg_pool_op};

TypeList infer_avg_backward(const InferContext& c) {
  const auto& a = c.attrs<PoolAttrs>();
  const Shape& g = c.shape(0);
  detail::need_floating(c.name(), "gradient", c.dtype(0));
  need_rank(c.name(), g, a);
  Shape out{g[0], g[1]};
  for (int64_t s : a.size) out.push_back(s);
  need_windows_shape(c.name(), "gradient", g, windows_shape(c.name(), out, a));
  return {{c.dtype(0), c.in(0).device, out}};
}

void avg_backward_vjp(VjpContext& c) {
  if (c.needs(0) && c.grad().defined()) c.set(0, avg_pool_of(c.grad(), without_size(c.attrs<PoolAttrs>())));
}

const OpDef avg_pool_backward_op{
    .name = "avg_pool_backward",
    .doc = "Gradient of avg_pool: spreads each window's gradient evenly over its elements.",
    .inputs = {{"gradient"}},
    .attrs = attrs_def<PoolAttrs>(),
    .infer = infer_avg_backward,
    .vjp = avg_backward_vjp,
    .cost = pool_cost,
    .traits = {.backward = true}};
const OpRegistrar avg_pool_backward_registered{avg_pool_backward_op};

Tensor avg_pool_of(const Tensor& x, const PoolAttrs& a) { return apply(avg_pool_op, {&x}, a); }
Tensor avg_pool_backward(const Tensor& g, const PoolAttrs& a) { return apply(avg_pool_backward_op, {&g}, a); }

// ---- public functions
// ---------------------------------------------------------------------------------------

PoolAttrs complete(std::string_view op, const Ints& kernel, int n, const PoolOptions& o, bool average) {
  SORUS_CHECK(n >= 1 && n <= 3, ShapeError, "{}: wrong number of spatial axes: got {}, need 1, 2 or 3", op,
              n);
  SORUS_CHECK(!kernel.empty(), ValueError, "{}: 'kernel' is empty: got (), need 1 or {} numbers", op, n);
  SORUS_CHECK(o.divisor >= 0, ValueError, "{}: 'divisor' is negative: got {}, need at least 0", op,
              o.divisor);
  PoolAttrs a;
  a.kernel = detail::per_axis(op, "kernel", kernel, n, 1, 1);
  a.stride = o.stride.empty() ? a.kernel : detail::per_axis(op, "stride", o.stride, n, 1, 1);
  a.padding = detail::low_high(op, o.padding, n);
  a.dilation = detail::per_axis(op, "dilation", average ? Ints{} : o.dilation, n, 1, 1);
  a.ceil_mode = o.ceil_mode;
  if (average) {
    a.count_include_pad = o.count_include_pad;
    a.divisor = o.divisor;
  }
  for (int i = 0; i < n; ++i) {
    int64_t span = detail::window_span(op, a.kernel[i], a.dilation[i]);
    SORUS_CHECK(a.padding[2 * i] <= span / 2 && a.padding[2 * i + 1] <= span / 2, ValueError,
                "{}: 'padding' is too large: got {}, need at most half the window {}", op, a.padding, span);
  }
  return a;
}

PoolAttrs complete_adaptive(std::string_view op, const Shape& x, const Ints& output_size) {
  int n = output_size.size();
  SORUS_CHECK(n >= 1 && n <= 3, ValueError,
              "{}: 'output_size' has the wrong length: got {}, need 1, 2 or 3 numbers", op, output_size);
  SORUS_CHECK(x.rank() == n + 1 || x.rank() == n + 2, ShapeError,
              "{}: the rank does not fit: got shape {}, need rank {} or {}", op, x, n + 1, n + 2);
  PoolAttrs a;
  a.adaptive = true;
  for (int i = 0; i < n; ++i) {
    int64_t out = output_size[i] == -1 ? x.size(x.rank() - n + i) : output_size[i];
    SORUS_CHECK(out >= 1, ValueError, "{}: 'output_size' is too small: got {}, need numbers of at least 1",
                op, output_size);
    SORUS_CHECK(x.size(x.rank() - n + i) >= 1, ShapeError,
                "{}: a spatial axis is empty: got shape {}, need at least 1 element", op, x);
    a.kernel.push_back(out);
  }
  return a;
}

/// Runs `op` on x, whose batch axis may be missing.
TensorList run(const OpDef& op, const Tensor& x, const PoolAttrs& a) {
  if (x.rank() != a.kernel.size() + 1) return apply_all(op, {&x}, a);
  Tensor batch = expand_dims(x, 0);
  TensorList out = apply_all(op, {&batch}, a);
  for (Tensor& t : out) t = squeeze(t, {0});
  return out;
}

std::pair<Tensor, Tensor> run_with_indices(const Tensor& x, const PoolAttrs& a) {
  TensorList out = run(max_pool_with_indices_op, x, a);
  return {out[0], out[1]};
}

Tensor max_of_rank(std::string_view name, int n, const Tensor& x, const Ints& kernel, const PoolOptions& o) {
  return run(max_pool_op, x, complete(name, kernel, n, o, false))[0];
}
Tensor avg_of_rank(std::string_view name, int n, const Tensor& x, const Ints& kernel, const PoolOptions& o) {
  return run(avg_pool_op, x, complete(name, kernel, n, o, true))[0];
}

}  // namespace

Tensor max_pool(const Tensor& x, const Ints& kernel, const PoolOptions& options) {
  return max_of_rank("max_pool", kernel.size(), x, kernel, options);
}
std::pair<Tensor, Tensor> max_pool_with_indices(const Tensor& x, const Ints& kernel,
                                                const PoolOptions& options) {
  return run_with_indices(x, complete("max_pool_with_indices", kernel, kernel.size(), options, false));
}
Tensor avg_pool(const Tensor& x, const Ints& kernel, const PoolOptions& options) {
  return avg_of_rank("avg_pool", kernel.size(), x, kernel, options);
}

Tensor max_pool1d(const Tensor& x, const Ints& kernel, const PoolOptions& options) {
  return max_of_rank("max_pool1d", 1, x, kernel, options);
}
Tensor max_pool2d(const Tensor& x, const Ints& kernel, const PoolOptions& options) {
  return max_of_rank("max_pool2d", 2, x, kernel, options);
}
Tensor max_pool3d(const Tensor& x, const Ints& kernel, const PoolOptions& options) {
  return max_of_rank("max_pool3d", 3, x, kernel, options);
}
Tensor avg_pool1d(const Tensor& x, const Ints& kernel, const PoolOptions& options) {
  return avg_of_rank("avg_pool1d", 1, x, kernel, options);
}
Tensor avg_pool2d(const Tensor& x, const Ints& kernel, const PoolOptions& options) {
  return avg_of_rank("avg_pool2d", 2, x, kernel, options);
}
Tensor avg_pool3d(const Tensor& x, const Ints& kernel, const PoolOptions& options) {
  return avg_of_rank("avg_pool3d", 3, x, kernel, options);
}

Tensor adaptive_avg_pool(const Tensor& x, const Ints& output_size) {
  const ToldAs told("adaptive_avg_pool");
  return run(avg_pool_op, x, complete_adaptive("adaptive_avg_pool", x.shape(), output_size))[0];
}
Tensor adaptive_max_pool(const Tensor& x, const Ints& output_size) {
  const ToldAs told("adaptive_max_pool");
  return run(max_pool_op, x, complete_adaptive("adaptive_max_pool", x.shape(), output_size))[0];
}
std::pair<Tensor, Tensor> adaptive_max_pool_with_indices(const Tensor& x, const Ints& output_size) {
  const ToldAs told("adaptive_max_pool_with_indices");
  return run_with_indices(x, complete_adaptive("adaptive_max_pool", x.shape(), output_size));
}

}  // namespace sorus
