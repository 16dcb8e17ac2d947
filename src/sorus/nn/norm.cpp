#include "sorus/nn/norm.h"

#include <algorithm>

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/nn/norm.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus::nn {
namespace {

Tensor ones_unless(const Initializer& given, const Shape& shape, DType dtype) {
  return initialize(given ? given : constant(1), shape, dtype);
}

Tensor zeros_unless(const Initializer& given, const Shape& shape, DType dtype) {
  return initialize(given ? given : constant(0), shape, dtype);
}

void check_features(std::string_view name, int64_t num_features, double momentum) {
  SORUS_CHECK(num_features > 0, ValueError, "{}: num_features is out of range: got {}, need more than 0",
              name, num_features);
  SORUS_CHECK(momentum >= 0 && momentum <= 1, ValueError, "{}: momentum is out of range: got {}, need 0 to 1",
              name, momentum);
}

void move_one(Parameter& moving, const Tensor& fresh, double keep, double take) {
  Tensor moved = stop_gradient(moving.value() * keep + fresh * take);
  moving.set_value(cast(moved, moving.value().dtype()));
}

/// The factor from a biased variance over `count` elements to the unbiased one.
double unbiasing(int64_t count) {
  return static_cast<double>(count) / static_cast<double>(std::max<int64_t>(count - 1, 1));
}

}  // namespace

void MovingNormCell::move_statistics(const Tensor& mean, const Tensor& variance, double keep, double take) {
  move_one(moving_mean, mean, keep, take);
  move_one(moving_variance, variance, keep, take);
}

Tensor MovingNormCell::with_moving_statistics(const Tensor& x, double eps) const {
  return batch_norm_inference(x, moving_mean, moving_variance, gamma, beta, eps);
}

BatchNormCell::BatchNormCell(std::string_view name, Ints ranks, Place place, int64_t num_features,
                             const BatchNormOptions& options)
    : MovingNormCell(place), name_(name), ranks_(ranks), options_(options) {
  check_features(name, num_features, options.momentum);
  Shape shape{num_features};
  DType dtype = options.dtype;
  moving_mean = add_parameter("moving_mean", zeros_unless(options.moving_mean_init, shape, dtype), false);
  moving_variance =
      add_parameter("moving_variance", ones_unless(options.moving_var_init, shape, dtype), false);
  gamma = add_parameter("gamma", ones_unless(options.gamma_init, shape, dtype), options.affine);
  beta = add_parameter("beta", zeros_unless(options.beta_init, shape, dtype), options.affine);
}

Tensor BatchNormCell::construct(const Tensor& x) {
  SORUS_CHECK(std::find(ranks_.begin(), ranks_.end(), x.rank()) != ranks_.end(), ShapeError,
              "{}: wrong number of axes: got shape {}, need one of {}", name_, x.shape(), ranks_);
  if (!options_.use_batch_statistics.value_or(training())) return with_moving_statistics(x, options_.eps);
  NormResult r = batch_norm_train(x, gamma, beta, options_.eps);
  int64_t count = x.numel() / std::max<int64_t>(x.size(1), 1);
  move_statistics(r.mean, r.variance * unbiasing(count), options_.momentum, 1 - options_.momentum);
  return r.y;
}

InstanceNormCell::InstanceNormCell(std::string_view name, int rank, Place place, int64_t num_features,
                                   const InstanceNormOptions& options)
    : MovingNormCell(place), name_(name), rank_(rank), options_(options) {
  check_features(name, num_features, options.momentum);
  Shape shape{num_features};
  moving_mean = add_parameter("moving_mean", zeros_unless({}, shape, options.dtype), false);
  moving_variance = add_parameter("moving_variance", ones_unless({}, shape, options.dtype), false);
  gamma = add_parameter("gamma", ones_unless(options.gamma_init, shape, options.dtype), options.affine);
  beta = add_parameter("beta", zeros_unless(options.beta_init, shape, options.dtype), options.affine);
}

Tensor InstanceNormCell::construct(const Tensor& x) {
  SORUS_CHECK(x.rank() == rank_, ShapeError, "{}: wrong number of axes: got shape {}, need {} axes", name_,
              x.shape(), rank_);
  if (!training()) return with_moving_statistics(x, options_.eps);
  NormResult r = group_norm_with_statistics(x, x.size(1), gamma, beta, options_.eps);
  int64_t count = x.numel() / std::max<int64_t>(x.size(0) * x.size(1), 1);
  Tensor unbiased = r.variance * unbiasing(count);
  move_statistics(mean(r.mean, {0}), mean(unbiased, {0}), 1 - options_.momentum, options_.momentum);
  return r.y;
}

LayerNorm::LayerNorm(Place place, const Ints& normalized_shape, const LayerNormOptions& options)
    : Cell(place), begin_norm_axis_(options.begin_norm_axis), epsilon_(options.epsilon) {
  SORUS_CHECK(!normalized_shape.empty(), ValueError,
              "LayerNorm: normalized_shape is empty: got {}, need one axis or more", normalized_shape);
  Shape shape(normalized_shape);
  gamma = add_parameter("gamma", ones_unless(options.gamma_init, shape, options.dtype));
  beta = add_parameter("beta", zeros_unless(options.beta_init, shape, options.dtype));
}

Tensor LayerNorm::construct(const Tensor& x) {
  return layer_norm_with_statistics(x, begin_norm_axis_, gamma, beta, epsilon_).y;
}

GroupNorm::GroupNorm(Place place, int64_t num_groups, int64_t num_channels, const GroupNormOptions& options)
    : Cell(place), num_groups_(num_groups), eps_(options.eps) {
  SORUS_CHECK(num_groups > 0 && num_channels > 0 && num_channels % num_groups == 0, ValueError,
              "GroupNorm: channels do not fall into groups: got {} in {}, need a positive multiple",
              num_channels, num_groups);
  Shape shape{num_channels};
  gamma = add_parameter("gamma", ones_unless(options.gamma_init, shape, options.dtype), options.affine);
  beta = add_parameter("beta", zeros_unless(options.beta_init, shape, options.dtype), options.affine);
}

Tensor GroupNorm::construct(const Tensor& x) { return group_norm(x, num_groups_, gamma, beta, eps_); }

RMSNorm::RMSNorm(Place place, const Ints& normalized_shape, const RMSNormOptions& options)
    : Cell(place), epsilon_(options.epsilon) {
  SORUS_CHECK(!normalized_shape.empty(), ValueError,
              "RMSNorm: normalized_shape is empty: got {}, need one axis or more", normalized_shape);
  gamma = add_parameter("gamma", ones_unless(options.gamma_init, Shape(normalized_shape), options.dtype));
}

Tensor RMSNorm::construct(const Tensor& x) { return rms_norm(x, gamma, epsilon_).y; }

}  // namespace sorus::nn
