#include "sorus/ops/nn/interpolate.h"

#include <cmath>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/nn/pool.h"

namespace sorus {
namespace {

constexpr std::string_view kName = "interpolate";

Ints spatial_of(const Shape& shape) {
  Ints out;
  for (int i = 2; i < shape.rank(); ++i) out.push_back(shape.size(i));
  return out;
}

Shape resized(const InferContext& c, const Ints& size) {
  detail::need_floating(c.name(), c.op().inputs[0].name, c.dtype(0));
  const Shape& x = c.shape(0);
  SORUS_CHECK(x.rank() == size.size() + 2, ShapeError,
              "{}: the rank does not fit: got shape {}, need rank {} for size {}", c.name(), x,
              size.size() + 2, size);
  Shape out{x[0], x[1]};
  for (int64_t s : size) out.push_back(s);
  return out;
}

TypeList infer_resize(const InferContext& c) {
  return {{c.dtype(0), c.in(0).device, resized(c, c.attrs<ResizeAttrs>().size)}};
}
TypeList infer_backward(const InferContext& c) {
  const auto& a = c.attrs<ResizeAttrs>();
  Shape out = resized(c, a.input_size);
  SORUS_CHECK(spatial_of(c.shape(0)) == a.size, ShapeError,
              "{}: the gradient does not fit: got shape {}, need spatial extents {}", c.name(), c.shape(0),
              a.size);
  return {{c.dtype(0), c.in(0).device, out}};
}

Cost resize_cost(const InferContext& c) {
  double n = static_cast<double>(c.shape(0).numel());
  return {8 * n, 2 * n * static_cast<double>(dtype_size(c.dtype(0)))};
}

Tensor resize_backward(const Tensor& gradient, const ResizeAttrs& a);
Tensor resize(const Tensor& x, const ResizeAttrs& a);

void resize_vjp(VjpContext& c) {
  if (!c.needs(0) || !c.grad().defined()) return;
  ResizeAttrs a = c.attrs<ResizeAttrs>();
  a.input_size = spatial_of(c.in_type(0).shape);
  c.set(0, resize_backward(c.grad(), a));
}
void backward_vjp(VjpContext& c) {
  if (!c.needs(0) || !c.grad().defined()) return;
  ResizeAttrs a = c.attrs<ResizeAttrs>();
  a.input_size = {};
  c.set(0, resize(c.grad(), a));
}

const OpDef resize_op{.name = "resize",
                      .doc =
                          "Resamples the spatial axes of x (N, C, spatial...), nearest, linear or cubic: "
                          "result (N, C, size...).",
                      .inputs = {{"x"}},
                      .attrs = attrs_def<ResizeAttrs>(),
                      .infer = infer_resize,
                      .vjp = resize_vjp,
                      .cost = resize_cost};
const OpRegistrar resize_registered{resize_op};

const OpDef backward_op{
    .name = "resize_backward",
    .doc = "Gradient of resize: adds each result's gradient to the elements it was read from.",
    .inputs = {{"gradient"}},
    .attrs = attrs_def<ResizeAttrs>(),
    .infer = infer_backward,
    .vjp = backward_vjp,
    .cost = resize_cost,
    .traits = {.backward = true}};
const OpRegistrar backward_registered{backward_op};

Tensor resize(const Tensor& x, const ResizeAttrs& a) { return apply(resize_op, {&x}, a); }
Tensor resize_backward(const Tensor& gradient, const ResizeAttrs& a) {
  return apply(backward_op, {&gradient}, a);
}

ResizeMode mode_of(Interpolation mode) {
  switch (mode) {
    case Interpolation::kNearestExact:
      return ResizeMode::kNearestExact;
    case Interpolation::kLinear:
      return ResizeMode::kLinear;
    case Interpolation::kCubic:
      return ResizeMode::kCubic;
    default:
      return ResizeMode::kNearest;
  }
}

/// Extents of the result and, unless they are to be recomputed, the scales of the factors.
ResizeAttrs places(const Shape& x, const InterpolateOptions& o) {
  int n = x.rank() - 2;
  SORUS_CHECK(o.size.empty() != o.factors.empty(), ValueError,
              "{}: need exactly one of size and factors: got size {} and {} factors", kName, o.size,
              o.factors.size());
  ResizeAttrs a;
  if (!o.size.empty()) {
    a.size = detail::per_axis(kName, "size", o.size, n, 1, 1);
    return a;
  }
  SORUS_CHECK(o.factors.size() == 1 || o.factors.size() == static_cast<size_t>(n), ValueError,
              "{}: 'factors' has the wrong length: got {}, need 1 or {}", kName, o.factors.size(), n);
  double* scales[] = {&a.scale0, &a.scale1, &a.scale2};
  for (int i = 0; i < n; ++i) {
    double factor = o.factors[o.factors.size() == 1 ? 0 : static_cast<size_t>(i)];
    auto extent = static_cast<int64_t>(std::floor(static_cast<double>(x.size(i + 2)) * factor));
    SORUS_CHECK(factor > 0 && extent >= 1, ValueError,
                "{}: a factor is too small: got {} for extent {}, need a result of at least 1", kName, factor,
                x.size(i + 2));
    a.size.push_back(extent);
    if (!o.recompute_scale) *scales[i] = 1 / factor;
  }
  return a;
}

}  // namespace

Interpolation interpolation_from_name(std::string_view name, int spatial) {
  if (name == "nearest") return Interpolation::kNearest;
  if (name == "nearest-exact") return Interpolation::kNearestExact;
  if (name == "area") return Interpolation::kArea;
  if ((name == "linear" && spatial == 1) || (name == "bilinear" && spatial == 2) ||
      (name == "trilinear" && spatial == 3))
    return Interpolation::kLinear;
  if (name == "bicubic" && spatial == 2) return Interpolation::kCubic;
  raise<ValueError>(
      "interpolate: the mode does not fit: got '{}' for {} spatial axes, need nearest, nearest-exact, area, "
      "linear (1), bilinear or bicubic (2) or trilinear (3)",
      name, spatial);
}

Tensor interpolate(const Tensor& x, Interpolation mode, const InterpolateOptions& options) {
  int n = x.rank() - 2;
  SORUS_CHECK(n >= 1 && n <= 3, ShapeError, "{}: the rank does not fit: got shape {}, need rank 3, 4 or 5",
              kName, x.shape());
  for (int i = 0; i < n; ++i)
    SORUS_CHECK(x.size(i + 2) >= 1, ShapeError,
                "{}: a spatial axis is empty: got shape {}, need at least 1 element", kName, x.shape());
  SORUS_CHECK(mode != Interpolation::kCubic || n == 2, ValueError,
              "{}: cubic is for 2 spatial axes: got {}, need 2", kName, n);
  bool between = mode == Interpolation::kLinear || mode == Interpolation::kCubic;
  SORUS_CHECK(between || !options.align_corners, ValueError,
              "{}: 'align_corners' is of linear and cubic alone: got true, need false", kName);
  ResizeAttrs a = places(x.shape(), options);
  if (mode == Interpolation::kArea) return adaptive_avg_pool(x, a.size);
  a.mode = mode_of(mode);
  a.align_corners = options.align_corners;
  return resize(x, a);
}

}  // namespace sorus
