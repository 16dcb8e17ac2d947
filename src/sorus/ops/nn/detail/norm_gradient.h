#pragma once

#include "sorus/core/tensor.h"
#include "sorus/dispatch/op_def.h"

/// Gradients that the normalizations share, written with public ops.
namespace sorus::detail {

/// How a normalization sees its operand: reshaped to `view`, reduced over the axes `reduced`; statistics and
/// parameters, reshaped as told, broadcast against the view.
struct NormGeometry {
  Ints view;
  Ints statistics;
  Ints parameters;
  Ints reduced;
};

/// Sums over everything along which the parameters repeat, in the shape given.
[[nodiscard]] Tensor sum_to_parameters(const Tensor& x, const NormGeometry& geometry, const Shape& shape);

/// What gradients of the mean and of the biased variance (each may be undefined) add to the gradient of x;
/// undefined when both are.
[[nodiscard]] Tensor statistics_gradient(const Tensor& x, const Tensor& mean, const Tensor& mean_gradient,
                                         const Tensor& variance_gradient, const NormGeometry& geometry);

/// The vjp of the backward op (operands x, gradient, mean, variance, gamma or none; results dx, dgamma,
/// dbeta).
void norm_second_gradient(VjpContext& c, const NormGeometry& geometry, double epsilon);

/// The same for rms_norm (operands x, gradient, scale, gamma; results dx, dgamma).
void rms_norm_second_gradient(VjpContext& c, const NormGeometry& geometry);

}  // namespace sorus::detail
