#include <algorithm>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/nn/detail/norm_gradient.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/nn/norm.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

DType scale_dtype(DType x) { return is_half(x) ? DType::kFloat32 : x; }

detail::NormGeometry geometry_of(const Shape& x, const NormAttrs& a) {
  detail::NormGeometry g;
  for (int i = 0; i < x.rank(); ++i) {
    bool normalized = i >= a.begin_axis;
    g.view.push_back(x.size(i));
    g.statistics.push_back(normalized ? 1 : x.size(i));
    g.parameters.push_back(normalized ? x.size(i) : 1);
    if (normalized) g.reduced.push_back(i);
  }
  return g;
}

TensorType scale_type(const InferContext& c) {
  Shape s;
  for (int i = 0; i < c.shape(0).rank(); ++i)
    s.push_back(i < c.attrs<NormAttrs>().begin_axis ? c.shape(0)[i] : Dim(1));
  return {scale_dtype(c.dtype(0)), c.in(0).device, s};
}

void need_gamma(const InferContext& c, size_t i) {
  SORUS_CHECK(c.dtype(i) == c.dtype(0) || c.dtype(i) == scale_dtype(c.dtype(0)), DTypeError,
              "{}: dtypes differ: got {} for 'gamma', need {}", c.name(), c.dtype(i), c.dtype(0));
  const Shape& x = c.shape(0);
  int skip = x.rank() - c.shape(i).rank();
  bool fits = skip >= 0;
  for (int k = 0; fits && k < c.shape(i).rank(); ++k) fits = c.shape(i)[k] == x[skip + k];
  SORUS_CHECK(fits, ShapeError, "{}: 'gamma' does not fit: got shape {}, need the trailing extents of {}",
              c.name(), c.shape(i), x);
}

TypeList infer_rms_norm(const InferContext& c) {
  detail::need_floating(c.name(), "x", c.dtype(0));
  need_gamma(c, 1);
  return {c.in(0), scale_type(c)};
}

TypeList infer_backward(const InferContext& c) {
  detail::need_same_dtype(c.name(), "gradient", c.dtype(1), c.dtype(0));
  SORUS_CHECK(c.shape(1) == c.shape(0), ShapeError, "{}: 'gradient' does not fit: got shape {}, need {}",
              c.name(), c.shape(1), c.shape(0));
  SORUS_CHECK(c.in(2) == scale_type(c), ShapeError, "{}: 'scale' does not fit: got {}, need {}", c.name(),
              c.in(2), scale_type(c));
  need_gamma(c, 3);
  return {c.in(0), c.in(3)};
}

Cost norm_cost(const InferContext& c) {
  double n = static_cast<double>(c.shape(0).numel());
  return {6 * n, 2 * n * static_cast<double>(dtype_size(c.dtype(0)))};
}

void backward_vjp(VjpContext& c) {
  detail::rms_norm_second_gradient(c, geometry_of(c.in_type(0).shape, c.attrs<NormAttrs>()));
}

const OpDef backward_op{.name = "rms_norm_backward",
                        .doc = "Gradient of rms_norm for x and gamma, from its hidden scale.",
                        .inputs = {{"x"}, {"gradient"}, {"scale"}, {"gamma"}},
                        .attrs = attrs_def<NormAttrs>(),
                        .infer = infer_backward,
                        .vjp = backward_vjp,
                        .saves_in = kSaveAll,
                        .cost = norm_cost,
                        .traits = {.backward = true}};
const OpRegistrar backward_registered{backward_op};

void rms_norm_vjp(VjpContext& c) {
  const auto& a = c.attrs<NormAttrs>();
  const Tensor& x = c.in(0);
  const Tensor& r = c.out(1);
  Tensor dx;
  if (c.grad(0).defined()) {
    TensorList out = apply_all(backward_op, {&x, &c.grad(0), &r, &c.in(1)}, a);
    dx = out[0];
    if (c.needs(1)) c.set(1, out[1]);
  }
  if (!c.needs(0)) return;
  if (c.grad(1).defined()) {
    // scale = (mean(x^2) + epsilon)^(-1/2), so dscale/dx = -scale^3 * x / count.
    double count = static_cast<double>(x.numel()) / static_cast<double>(std::max<int64_t>(1, r.numel()));
    Tensor slope = c.grad(1) * (r * r * r) * (-1 / count);
    Tensor more = cast(cast(x, r.dtype()) * slope, x.dtype());
    dx = dx.defined() ? dx + more : more;
  }
  if (dx.defined()) c.set(0, dx);
}

const OpDef rms_norm_op{.name = "rms_norm",
                        .doc =
                            "x / sqrt(mean(x^2) + epsilon) * gamma over the trailing axes that gamma has: "
                            "results y and the scale 1 / sqrt(mean(x^2) + epsilon).",
                        .inputs = {{"x"}, {"gamma"}},
                        .attrs = attrs_def<NormAttrs>(),
                        .infer = infer_rms_norm,
                        .vjp = rms_norm_vjp,
                        .saves_in = saves({0, 1}),
                        .saves_out = saves({1}),
                        .cost = norm_cost};
const OpRegistrar rms_norm_registered{rms_norm_op};

}  // namespace

RmsNormResult rms_norm(const Tensor& x, const Tensor& gamma, double epsilon) {
  SORUS_CHECK(epsilon >= 0, ValueError, "rms_norm: 'epsilon' is negative: got {}, need at least 0", epsilon);
  SORUS_CHECK(gamma.rank() >= 1 && gamma.rank() <= x.rank(), ShapeError,
              "rms_norm: 'gamma' does not fit: got shape {}, need the trailing extents of {}", gamma.shape(),
              x.shape());
  TensorList out = apply_all(rms_norm_op, {&x, &gamma},
                             NormAttrs{.begin_axis = x.rank() - gamma.rank(), .epsilon = epsilon});
  return {out[0], out[1]};
}

}  // namespace sorus
