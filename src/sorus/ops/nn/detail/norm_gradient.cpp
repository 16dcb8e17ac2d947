#include "sorus/ops/nn/detail/norm_gradient.h"

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::detail {
namespace {

Shape shape_of(const Ints& sizes) { return Shape(sizes); }

/// Number of elements of one group of statistics.
double group_size(const NormGeometry& g) {
  double n = 1;
  for (int64_t axis : g.reduced) n *= static_cast<double>(g.view[static_cast<int>(axis)]);
  return n;
}

Tensor as_view(const Tensor& t, const NormGeometry& g, DType compute) {
  return reshape(cast(t, compute), g.view);
}

/// The quantities of the backward pass: dx = r * (h - mean(h) - n * mean(h * n)), the second term only when
/// centred, with n = (x - mean) * r the normalized x, h = gradient * gamma.
struct Backward {
  const NormGeometry& geometry;
  bool centred;
  Tensor r, n, g, gamma, h;
  Tensor u, w, z;  ///< cotangents of dx, dgamma, dbeta, each may be undefined

  [[nodiscard]] Tensor average(const Tensor& t) const { return mean(t, geometry.reduced, true); }
  [[nodiscard]] Tensor project(const Tensor& v) const {
    Tensor p = v - n * average(v * n);
    return centred ? p - average(v) : p;
  }
};

/// Cotangent of the normalized x, undefined when nothing flows there.
Tensor normalized_cotangent(const Backward& b) {
  Tensor v;
  if (b.u.defined()) v = neg(b.r * (b.u * b.average(b.h * b.n) + b.h * b.average(b.u * b.n)));
  if (b.w.defined()) v = v.defined() ? v + b.w * b.g : b.w * b.g;
  return v;
}

void set_gradient_operand(VjpContext& c, const Backward& b) {
  Tensor out;
  auto more = [&](const Tensor& t) { out = out.defined() ? out + t : t; };
  if (b.u.defined()) {
    Tensor p = b.r * b.project(b.u);
    more(b.gamma.defined() ? p * b.gamma : p);
  }
  if (b.w.defined()) more(b.w * b.n);
  if (b.z.defined()) more(broadcast_to(b.z, shape_of(b.geometry.view)));
  if (out.defined()) c.set(1, cast(reshape(out, c.in_type(1).shape.sizes()), c.in_type(1).dtype));
}

void set_gamma(VjpContext& c, size_t i, const Backward& b) {
  if (!b.u.defined()) return;
  Tensor t = sum_to(b.g * (b.r * b.project(b.u)), shape_of(b.geometry.parameters));
  c.set(i, cast(reshape(t, c.in_type(i).shape.sizes()), c.in_type(i).dtype));
}

void set_reshaped(VjpContext& c, size_t i, const Tensor& t) {
  c.set(i, cast(reshape(t, c.in_type(i).shape.sizes()), c.in_type(i).dtype));
}

}  // namespace

Tensor sum_to_parameters(const Tensor& x, const NormGeometry& geometry, const Shape& shape) {
  return reshape(sum_to(reshape(x, geometry.view), shape_of(geometry.parameters)), shape.sizes());
}

Tensor statistics_gradient(const Tensor& x, const Tensor& mean_value, const Tensor& mean_gradient,
                           const Tensor& variance_gradient, const NormGeometry& geometry) {
  Tensor out;
  double count = group_size(geometry);
  if (mean_gradient.defined())
    out = broadcast_to(reshape(mean_gradient, geometry.statistics) / count, shape_of(geometry.view));
  if (variance_gradient.defined()) {
    Tensor centred = as_view(x, geometry, mean_value.dtype()) - reshape(mean_value, geometry.statistics);
    Tensor t = centred * (reshape(variance_gradient, geometry.statistics) * (2 / count));
    out = out.defined() ? out + t : t;
  }
  return out.defined() ? cast(reshape(out, x.shape().sizes()), x.dtype()) : out;
}

void norm_second_gradient(VjpContext& c, const NormGeometry& geometry, double epsilon) {
  DType compute = c.in_type(2).dtype;
  Tensor variance = reshape(c.in(3), geometry.statistics);
  Tensor r = scalar_beside(1.0, compute) / sqrt(variance + epsilon);
  Tensor n = (as_view(c.in(0), geometry, compute) - reshape(c.in(2), geometry.statistics)) * r;
  Backward b{.geometry = geometry,
             .centred = true,
             .r = r,
             .n = n,
             .g = as_view(c.in(1), geometry, compute),
             .gamma = {},
             .h = {},
             .u = {},
             .w = {},
             .z = {}};
  if (c.has(4)) b.gamma = reshape(cast(c.in(4), compute), geometry.parameters);
  b.h = b.gamma.defined() ? b.g * b.gamma : b.g;
  if (c.grad(0).defined()) b.u = as_view(c.grad(0), geometry, compute);
  if (c.has(4)) {
    if (c.grad(1).defined()) b.w = reshape(cast(c.grad(1), compute), geometry.parameters);
    if (c.grad(2).defined()) b.z = reshape(cast(c.grad(2), compute), geometry.parameters);
  }
  if (c.needs(1)) set_gradient_operand(c, b);
  if (c.has(4) && c.needs(4)) set_gamma(c, 4, b);
  Tensor v = normalized_cotangent(b);
  if (!v.defined()) return;
  if (c.needs(0)) set_reshaped(c, 0, v * r);
  if (c.needs(2)) set_reshaped(c, 2, neg(r * sum(v, geometry.reduced, true)));
  if (!c.needs(3)) return;
  // d/dr, then dr/dvariance = -r^3 / 2.
  Tensor slope = sum(v * b.n, geometry.reduced, true) / r;
  if (b.u.defined()) slope = slope + sum(b.u * b.project(b.h), geometry.reduced, true);
  set_reshaped(c, 3, slope * (r * r * r) * -0.5);
}

void rms_norm_second_gradient(VjpContext& c, const NormGeometry& geometry) {
  DType compute = c.in_type(2).dtype;
  Tensor r = reshape(c.in(2), geometry.statistics);
  Tensor x = as_view(c.in(0), geometry, compute);
  Backward b{.geometry = geometry,
             .centred = false,
             .r = r,
             .n = x * r,
             .g = as_view(c.in(1), geometry, compute),
             .gamma = reshape(cast(c.in(3), compute), geometry.parameters),
             .h = {},
             .u = {},
             .w = {},
             .z = {}};
  b.h = b.g * b.gamma;
  if (c.grad(0).defined()) b.u = as_view(c.grad(0), geometry, compute);
  if (c.grad(1).defined()) b.w = reshape(cast(c.grad(1), compute), geometry.parameters);
  if (c.needs(1)) set_gradient_operand(c, b);
  if (c.needs(3)) set_gamma(c, 3, b);
  Tensor v = normalized_cotangent(b);
  if (!v.defined()) return;
  if (c.needs(0)) set_reshaped(c, 0, v * r);
  if (!c.needs(2)) return;
  Tensor slope = sum(v * x, geometry.reduced, true);
  if (b.u.defined()) slope = slope + sum(b.u * b.project(b.h), geometry.reduced, true);
  set_reshaped(c, 2, slope);
}

}  // namespace sorus::detail
