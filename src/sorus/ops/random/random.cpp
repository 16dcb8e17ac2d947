#include "sorus/ops/random/random.h"

#include <cmath>

#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/detail/random_key.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/random/attributes.h"

namespace sorus {
namespace {

TypeList infer_random(const InferContext& c) {
  const auto& a = c.attrs<RandomAttrs>();
  detail::check_random_key(c.name(), c.in(0));
  SORUS_CHECK(is_floating(a.dtype), DTypeError,
              "{}: dtype is not floating: got {}, need float16, bfloat16, float32 or float64", c.name(),
              a.dtype);
  return {{a.dtype, {}, Shape(a.shape)}};
}

TypeList infer_gamma(const InferContext& c) {
  detail::check_random_key(c.name(), c.in(0));
  SORUS_CHECK(is_floating(c.dtype(1)), DTypeError,
              "random_gamma: dtype is not floating: got {}, need a floating dtype", c.dtype(1));
  return {c.in(1)};
}

TypeList infer_dropout(const InferContext& c) {
  double p = c.attrs<DropoutAttrs>().p;
  detail::check_random_key(c.name(), c.in(1));
  SORUS_CHECK(p >= 0 && p < 1, ValueError, "dropout: probability is out of range: got {}, need 0 <= p < 1",
              p);
  SORUS_CHECK(is_floating(c.dtype(0)), DTypeError,
              "dropout: dtype is not floating: got {}, need a floating dtype", c.dtype(0));
  return {c.in(0)};
}

TypeList infer_weights(const InferContext& c) {
  const TensorType& weights = c.in(0);
  SORUS_CHECK(weights.dtype == DType::kFloat64, DTypeError, "cumulative_weights: dtype: got {}, need float64",
              weights.dtype);
  SORUS_CHECK(weights.shape.rank() == 1 || weights.shape.rank() == 2, ShapeError,
              "cumulative_weights: wrong number of axes: got shape {}, need 1 or 2 axes", weights.shape);
  return {weights};
}

/// Needs finite weights of 0 or more whose sum is above 0 in each row.
void check_weights(const KernelCall& call) {
  const Array& x = call.in[0];
  const int64_t classes = x.size(x.rank() - 1), rows = x.rank() == 2 ? x.size(0) : 1;
  const int64_t row_step = x.rank() == 2 ? x.strides[0] : 0, step = x.strides[x.rank() - 1];
  for (int64_t row = 0; row < rows; ++row) {
    double least = 0, total = 0;
    for (int64_t k = 0; k < classes; ++k) {
      const double weight = x.as<double>()[row * row_step + k * step];
      if (!(weight >= least)) least = weight;
      total += weight;
    }
    SORUS_CHECK(least >= 0 && total > 0 && std::isfinite(total), ValueError,
                "cumulative_weights: weights are not usable: got a least of {} and a sum of {} in row {}, "
                "need finite ones "
                "of 0 or more and a sum above 0",
                least, total, row);
  }
}

/// The mask is a function of the key, so the gradient goes through the same op.
void dropout_vjp(VjpContext& c) { c.set(0, dropout(c.grad(), c.attrs<DropoutAttrs>().p, c.in(1))); }

const OpDef uniform_op{
    .name = "random_uniform",
    .doc = "Numbers uniform on [0, 1) from a key. Source: Philox4x32-10, Salmon et al. 2011.",
    .inputs = {{"key"}},
    .attrs = attrs_def<RandomAttrs>(),
    .infer = infer_random,
    .traits = {.differentiable = false}};
const OpDef normal_op{
    .name = "random_normal",
    .doc =
        "Numbers of the standard normal distribution from a key. Source of the inverse distribution "
        "function: Wichura, algorithm AS 241, 1988.",
    .inputs = {{"key"}},
    .attrs = attrs_def<RandomAttrs>(),
    .infer = infer_random,
    .traits = {.differentiable = false}};
const OpDef dropout_op{
    .name = "dropout",
    .doc =
        "Elements set to 0 with probability p, the others divided by 1 - p. Source: Srivastava et al. 2014.",
    .inputs = {{"x"}, {"key"}},
    .attrs = attrs_def<DropoutAttrs>(),
    .infer = infer_dropout,
    .vjp = dropout_vjp,
    .saves_in = saves({1})};
const OpDef gamma_op{.name = "random_gamma",
                     .doc =
                         "Numbers of the gamma distribution with scale 1 and the shapes alpha from a key. "
                         "Source: Marsaglia and Tsang, A simple method for generating gamma variables, 2000.",
                     .inputs = {{"key"}, {"alpha"}},
                     .infer = infer_gamma,
                     .traits = {.differentiable = false}};
const OpDef weights_op{.name = "cumulative_weights",
                       .doc =
                           "Sums of the weights (C,) or (N, C) of classes up to each class, float64. "
                           "ValueError unless weights are "
                           "finite, 0 or more, and their sum is above 0 in each row.",
                       .inputs = {{"weights"}},
                       .infer = infer_weights,
                       .check_values = check_weights,
                       .check_reads = saves({0}),
                       .traits = {.differentiable = false}};
const OpRegistrar registered[] = {OpRegistrar(uniform_op), OpRegistrar(normal_op), OpRegistrar(gamma_op),
                                  OpRegistrar(dropout_op), OpRegistrar(weights_op)};

}  // namespace

Tensor random_uniform(const Tensor& key, const Shape& shape, DType dtype) {
  return apply(uniform_op, {&key}, RandomAttrs{shape.sizes(), dtype});
}
Tensor random_normal(const Tensor& key, const Shape& shape, DType dtype) {
  return apply(normal_op, {&key}, RandomAttrs{shape.sizes(), dtype});
}
Tensor random_gamma(const Tensor& key, const Tensor& alpha) {
  const ToldAs told("random_gamma");
  return apply(gamma_op, {&key, &alpha});
}
Tensor cumulative_weights(const Tensor& weights) {
  const Tensor wide = cast(weights, DType::kFloat64);
  return apply(weights_op, {&wide});
}
Tensor dropout(const Tensor& x, double p, const Tensor& key) {
  return apply(dropout_op, {&x, &key}, DropoutAttrs{p});
}

Tensor rand(const Shape& shape, DType dtype, Generator& generator) {
  return random_uniform(generator.key(shape.numel()), shape, dtype);
}
Tensor randn(const Shape& shape, DType dtype, Generator& generator) {
  return random_normal(generator.key(shape.numel()), shape, dtype);
}
Tensor dropout(const Tensor& x, double p, Generator& generator) {
  return dropout(x, p, generator.key(x.numel()));
}

}  // namespace sorus
