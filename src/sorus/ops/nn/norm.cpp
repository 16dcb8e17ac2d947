#include "sorus/ops/nn/norm.h"

#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/attributes.h"
#include "sorus/ops/nn/detail/norm_gradient.h"
#include "sorus/ops/nn/detail/window.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

using detail::NormGeometry;

DType statistics_dtype(DType x) { return is_half(x) ? DType::kFloat32 : x; }

void need_parameter(const InferContext& c, size_t i, const Shape& shape) {
  if (!c.has(i)) return;
  std::string_view what = c.op().inputs[i].name;
  SORUS_CHECK(c.dtype(i) == c.dtype(0) || c.dtype(i) == statistics_dtype(c.dtype(0)), DTypeError,
              "{}: dtypes differ: got {} for '{}', need {}", c.name(), c.dtype(i), what, c.dtype(0));
  SORUS_CHECK(c.shape(i) == shape, ShapeError, "{}: '{}' does not fit: got shape {}, need {}", c.name(), what,
              c.shape(i), shape);
}

// ---- layer, group and batch norm differ in their geometry alone
// --------------------------------------------

NormGeometry layer_geometry(const Shape& x, const NormAttrs& a) {
  NormGeometry g;
  for (int i = 0; i < x.rank(); ++i) {
    bool normalized = i >= a.begin_axis;
    g.view.push_back(x.size(i));
    g.statistics.push_back(normalized ? 1 : x.size(i));
    g.parameters.push_back(normalized ? x.size(i) : 1);
    if (normalized) g.reduced.push_back(i);
  }
  return g;
}

NormGeometry group_geometry(const Shape& x, const NormAttrs& a) {
  NormGeometry g;
  int64_t share = x.size(1) / a.groups;
  g.view = {x.size(0), a.groups, share};
  g.statistics = {x.size(0), a.groups, 1};
  g.parameters = {1, a.groups, share};
  g.reduced = {2};
  for (int i = 2; i < x.rank(); ++i) {
    g.view.push_back(x.size(i));
    g.statistics.push_back(1);
    g.parameters.push_back(1);
    g.reduced.push_back(i + 1);
  }
  return g;
}

NormGeometry batch_geometry(const Shape& x, const NormAttrs&) {
  NormGeometry g;
  for (int i = 0; i < x.rank(); ++i) {
    g.view.push_back(x.size(i));
    g.statistics.push_back(i == 1 ? x.size(i) : 1);
    if (i != 1) g.reduced.push_back(i);
  }
  g.parameters = g.statistics;
  return g;
}

struct NormShapes {
  Shape statistics, parameters;
};
NormShapes layer_shapes(const InferContext& c) {
  const auto& a = c.attrs<NormAttrs>();
  NormShapes s;
  for (int i = 0; i < c.shape(0).rank(); ++i) {
    bool normalized = i >= a.begin_axis;
    s.statistics.push_back(normalized ? Dim(1) : c.shape(0)[i]);
    if (normalized) s.parameters.push_back(c.shape(0)[i]);
  }
  return s;
}
void need_channels(const InferContext& c) {
  SORUS_CHECK(c.shape(0).rank() >= 2, ShapeError, "{}: the rank is too low: got shape {}, need (N, C, ...)",
              c.name(), c.shape(0));
}
NormShapes group_shapes(const InferContext& c) {
  need_channels(c);
  int64_t groups = c.attrs<NormAttrs>().groups;
  SORUS_CHECK(groups >= 1 && c.shape(0).size(1) % groups == 0, ShapeError,
              "{}: channels do not divide into groups: got {} channels and {} groups, need a multiple",
              c.name(), c.shape(0).size(1), groups);
  return {{c.shape(0)[0], Dim(groups)}, {c.shape(0)[1]}};
}
NormShapes batch_shapes(const InferContext& c) {
  need_channels(c);
  return {{c.shape(0)[1]}, {c.shape(0)[1]}};
}

template <NormShapes (*kShapes)(const InferContext&)>
TypeList infer_norm(const InferContext& c) {
  detail::need_floating(c.name(), "x", c.dtype(0));
  NormShapes s = kShapes(c);
  need_parameter(c, 1, s.parameters);
  need_parameter(c, 2, s.parameters);
  TensorType statistics{statistics_dtype(c.dtype(0)), c.in(0).device, s.statistics};
  return {c.in(0), statistics, statistics};
}

/// Operands x, gradient, mean, variance, gamma or none; results dx, then dgamma and dbeta when gamma is
/// there.
template <NormShapes (*kShapes)(const InferContext&)>
TypeList infer_norm_backward(const InferContext& c) {
  NormShapes s = kShapes(c);
  detail::need_same_dtype(c.name(), "gradient", c.dtype(1), c.dtype(0));
  SORUS_CHECK(c.shape(1) == c.shape(0), ShapeError, "{}: 'gradient' does not fit: got shape {}, need {}",
              c.name(), c.shape(1), c.shape(0));
  for (size_t i : {size_t{2}, size_t{3}})
    SORUS_CHECK(c.shape(i) == s.statistics && c.dtype(i) == statistics_dtype(c.dtype(0)), ShapeError,
                "{}: '{}' does not fit: got {}, need shape {}", c.name(), c.op().inputs[i].name, c.in(i),
                s.statistics);
  need_parameter(c, 4, s.parameters);
  TypeList out{c.in(0)};
  if (c.has(4)) {
    out.push_back(c.in(4));
    out.push_back(c.in(4));
  }
  return out;
}

Cost norm_cost(const InferContext& c) {
  double n = static_cast<double>(c.shape(0).numel());
  return {8 * n, 2 * n * static_cast<double>(dtype_size(c.dtype(0)))};
}

/// The gradient of y = norm(x, gamma, beta) by the backward op, and of the statistics where somebody asks.
void norm_vjp(VjpContext& c, const OpDef& backward, const NormGeometry& geometry) {
  const auto& a = c.attrs<NormAttrs>();
  const Tensor& x = c.in(0);
  Tensor dx;
  if (c.grad(0).defined()) {
    const Tensor* gamma = c.has(1) ? &c.in(1) : nullptr;
    // Without gamma the backward op has no gradient of beta, which is the plain sum then.
    TensorList out = apply_all(backward, {&x, &c.grad(0), &c.out(1), &c.out(2), gamma}, a);
    dx = out[0];
    if (gamma && c.needs(1)) c.set(1, out[1]);
    if (c.has(2) && c.needs(2)) {
      Tensor sums = gamma ? out[2] : detail::sum_to_parameters(c.grad(0), geometry, c.in_type(2).shape);
      c.set(2, cast(sums, c.in_type(2).dtype));
    }
  }
  if (!c.needs(0)) return;
  Tensor more = detail::statistics_gradient(x, c.out(1), c.grad(1), c.grad(2), geometry);
  if (more.defined()) dx = dx.defined() ? add(dx, more) : more;
  if (dx.defined()) c.set(0, dx);
}

template <NormGeometry (*kGeometry)(const Shape&, const NormAttrs&)>
void norm_backward_vjp(VjpContext& c) {
  const auto& a = c.attrs<NormAttrs>();
  detail::norm_second_gradient(c, kGeometry(c.in_type(0).shape, a), a.epsilon);
}

constexpr std::string_view kBackwardDoc =
    "Gradient of a normalization: from x, the result's gradient, the statistics and gamma (or none) the "
    "gradients of x and, with gamma, of gamma and beta.";

template <NormShapes (*kShapes)(const InferContext&),
          NormGeometry (*kGeometry)(const Shape&, const NormAttrs&)>
OpDef backward_def(std::string_view name) {
  return {.name = name,
          .doc = kBackwardDoc,
          .inputs = {{"x"}, {"gradient"}, {"mean"}, {"variance"}, {"gamma", InputKind::kOptional}},
          .attrs = attrs_def<NormAttrs>(),
          .infer = infer_norm_backward<kShapes>,
          .vjp = norm_backward_vjp<kGeometry>,
          .saves_in = kSaveAll,
          .cost = norm_cost,
          .traits = {.backward = true}};
}
const OpDef layer_norm_backward_op = backward_def<layer_shapes, layer_geometry>("layer_norm_backward");
const OpRegistrar layer_norm_backward_registered{layer_norm_backward_op};
const OpDef group_norm_backward_op = backward_def<group_shapes, group_geometry>("group_norm_backward");
const OpRegistrar group_norm_backward_registered{group_norm_backward_op};
const OpDef batch_norm_backward_op = backward_def<batch_shapes, batch_geometry>("batch_norm_backward");
const OpRegistrar batch_norm_backward_registered{batch_norm_backward_op};

template <const OpDef& kBackward, NormGeometry (*kGeometry)(const Shape&, const NormAttrs&)>
void norm_vjp_of(VjpContext& c) {
  norm_vjp(c, kBackward, kGeometry(c.in_type(0).shape, c.attrs<NormAttrs>()));
}

template <NormShapes (*kShapes)(const InferContext&)>
OpDef norm_def(std::string_view name, std::string_view doc, void (*vjp)(VjpContext&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"x"}, {"gamma", InputKind::kOptional}, {"beta", InputKind::kOptional}},
          .attrs = attrs_def<NormAttrs>(),
          .infer = infer_norm<kShapes>,
          .vjp = vjp,
          .saves_in = saves({0, 1}),
          .saves_out = saves({1, 2}),
          .cost = norm_cost};
}
const OpDef layer_norm_op = norm_def<layer_shapes>(
    "layer_norm", "Normalizes the axes from begin_axis on: results y, mean and biased variance.",
    norm_vjp_of<layer_norm_backward_op, layer_geometry>);
const OpRegistrar layer_norm_registered{layer_norm_op};
const OpDef group_norm_op = norm_def<group_shapes>(
    "group_norm", "Normalizes runs of channels and all trailing axes: results y, mean and biased variance.",
    norm_vjp_of<group_norm_backward_op, group_geometry>);
const OpRegistrar group_norm_registered{group_norm_op};
const OpDef batch_norm_op = norm_def<batch_shapes>(
    "batch_norm", "Normalizes each channel over all other axes: results y, mean and biased variance.",
    norm_vjp_of<batch_norm_backward_op, batch_geometry>);
const OpRegistrar batch_norm_registered{batch_norm_op};

NormResult run_norm(const OpDef& op, const Tensor& x, const Tensor& gamma, const Tensor& beta,
                    const NormAttrs& a) {
  TensorList out =
      apply_all(op, {&x, gamma.defined() ? &gamma : nullptr, beta.defined() ? &beta : nullptr}, a);
  return {out[0], out[1], out[2]};
}

void need_epsilon(std::string_view op, double epsilon) {
  SORUS_CHECK(epsilon >= 0, ValueError, "{}: 'epsilon' is negative: got {}, need at least 0", op, epsilon);
}

}  // namespace

NormResult layer_norm_with_statistics(const Tensor& x, int64_t begin_axis, const Tensor& gamma,
                                      const Tensor& beta, double epsilon) {
  need_epsilon("layer_norm", epsilon);
  return run_norm(layer_norm_op, x, gamma, beta,
                  {.begin_axis = normalize_axis("layer_norm", begin_axis, x.rank()), .epsilon = epsilon});
}

Tensor layer_norm(const Tensor& x, const Ints& normalized_shape, const Tensor& gamma, const Tensor& beta,
                  double epsilon) {
  int n = normalized_shape.size();
  bool fits = n >= 1 && n <= x.rank();
  for (int i = 0; fits && i < n; ++i) fits = x.size(x.rank() - n + i) == normalized_shape[i];
  SORUS_CHECK(fits, ShapeError,
              "layer_norm: 'normalized_shape' does not fit: got {} for x {}, need its trailing extents",
              normalized_shape, x.shape());
  return layer_norm_with_statistics(x, x.rank() - n, gamma, beta, epsilon).y;
}

NormResult group_norm_with_statistics(const Tensor& x, int64_t groups, const Tensor& gamma,
                                      const Tensor& beta, double epsilon) {
  need_epsilon("group_norm", epsilon);
  return run_norm(group_norm_op, x, gamma, beta, {.groups = groups, .epsilon = epsilon});
}
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& gamma, const Tensor& beta, double epsilon) {
  return group_norm_with_statistics(x, groups, gamma, beta, epsilon).y;
}
Tensor instance_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  return group_norm(x, x.size(1), gamma, beta, epsilon);
}

NormResult batch_norm_train(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  need_epsilon("batch_norm", epsilon);
  return run_norm(batch_norm_op, x, gamma, beta, {.epsilon = epsilon});
}

Tensor batch_norm_inference(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& gamma,
                            const Tensor& beta, double epsilon) {
  constexpr std::string_view kName = "batch_norm";
  need_epsilon(kName, epsilon);
  SORUS_CHECK(x.rank() >= 2, ShapeError, "{}: the rank is too low: got shape {}, need (N, C, ...)", kName,
              x.shape());
  Shape channels{x.shape()[1]};
  for (const Tensor* t : {&mean, &variance, &gamma, &beta})
    SORUS_CHECK(!t->defined() || t->shape() == channels, ShapeError,
                "{}: a statistic or parameter does not fit: got shape {}, need {}", kName, t->shape(),
                channels);
  Tensor scale = div(scalar_beside(1.0, variance.dtype()), sqrt(variance + epsilon));
  if (gamma.defined()) scale = mul(gamma, scale);
  Tensor shift = neg(mul(mean, scale));
  if (beta.defined()) shift = add(beta, shift);
  Ints column = Ints::filled(x.rank(), 1);
  column[1] = x.size(1);
  scale = reshape(cast(scale, x.dtype()), column);
  shift = reshape(cast(shift, x.dtype()), column);
  return add(mul(x, scale), shift);
}

Tensor normalize(const Tensor& x, double p, int64_t axis, double epsilon) {
  const ToldAs told("normalize");
  detail::need_floating("normalize", "x", x.dtype());
  Tensor norm;
  if (p == 2)
    norm = sqrt(sum(square(x), {axis}, true));
  else if (p == 1)
    norm = sum(abs(x), {axis}, true);
  else
    norm = pow(sum(pow(abs(x), scalar_beside(p, x.dtype())), {axis}, true), scalar_beside(1 / p, x.dtype()));
  return div(x, maximum(norm, scalar_beside(epsilon, x.dtype())));
}

Tensor l2_normalize(const Tensor& x, const Ints& axes, double epsilon) {
  const ToldAs told("l2_normalize");
  detail::need_floating("l2_normalize", "x", x.dtype());
  Tensor squares = maximum(sum(square(x), axes, true), scalar_beside(epsilon, x.dtype()));
  return div(x, sqrt(squares));
}

}  // namespace sorus
