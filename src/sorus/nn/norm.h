#pragma once

#include <optional>

#include "sorus/nn/cell.h"
#include "sorus/nn/initializer.h"

/// Normalization layers: (x - mean) / sqrt(variance + eps) * gamma + beta. gamma starts as ones and beta as
/// zeros; without `affine` they require no gradient.
namespace sorus::nn {

/// Moving statistics, which stand for the statistics of x in inference, and the affine map.
class SORUS_API MovingNormCell : public Cell {
 public:
  Parameter moving_mean, moving_variance;  ///< (num_features,), require no gradient
  Parameter gamma, beta;                   ///< (num_features,)

 protected:
  using Cell::Cell;
  /// One step of both: moving = moving * keep + new * take.
  void move_statistics(const Tensor& mean, const Tensor& variance, double keep, double take);
  [[nodiscard]] Tensor with_moving_statistics(const Tensor& x, double eps) const;
};

struct BatchNormOptions {
  double eps = 1e-5;
  double momentum = 0.9;  ///< share of the moving statistics that a step keeps
  bool affine = true;
  Initializer gamma_init = {};
  Initializer beta_init = {};
  Initializer moving_mean_init = {};
  Initializer moving_var_init = {};
  std::optional<bool> use_batch_statistics = {};  ///< normalize with statistics of x; unset: while training
  DType dtype = DType::kFloat32;
};
/// Statistics over all axes of (N, C, ...) but the channels. Every use of batch statistics moves the moving
/// ones, with the unbiased variance.
class SORUS_API BatchNormCell : public MovingNormCell {
 protected:
  BatchNormCell(std::string_view name, Ints ranks, Place place, int64_t num_features,
                const BatchNormOptions& options);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  std::string_view name_;
  Ints ranks_;
  BatchNormOptions options_;
};
/// Of (N, C) or (N, C, L).
class SORUS_API BatchNorm1d : public BatchNormCell {
 public:
  BatchNorm1d(Place place, int64_t num_features, const BatchNormOptions& options = {})
      : BatchNormCell("BatchNorm1d", {2, 3}, place, num_features, options) {}
};
/// Of (N, C, H, W).
class SORUS_API BatchNorm2d : public BatchNormCell {
 public:
  BatchNorm2d(Place place, int64_t num_features, const BatchNormOptions& options = {})
      : BatchNormCell("BatchNorm2d", {4}, place, num_features, options) {}
};
/// Of (N, C, D, H, W).
class SORUS_API BatchNorm3d : public BatchNormCell {
 public:
  BatchNorm3d(Place place, int64_t num_features, const BatchNormOptions& options = {})
      : BatchNormCell("BatchNorm3d", {5}, place, num_features, options) {}
};

struct InstanceNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;  ///< share of the new statistics that a step takes
  bool affine = true;
  Initializer gamma_init = {};
  Initializer beta_init = {};
  DType dtype = DType::kFloat32;
};
/// Statistics of each channel of each sample; moving ones, means over the samples, in inference.
class SORUS_API InstanceNormCell : public MovingNormCell {
 protected:
  InstanceNormCell(std::string_view name, int rank, Place place, int64_t num_features,
                   const InstanceNormOptions& options);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  std::string_view name_;
  int rank_;
  InstanceNormOptions options_;
};
/// Of (N, C, L).
class SORUS_API InstanceNorm1d : public InstanceNormCell {
 public:
  InstanceNorm1d(Place place, int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNormCell("InstanceNorm1d", 3, place, num_features, options) {}
};
/// Of (N, C, H, W).
class SORUS_API InstanceNorm2d : public InstanceNormCell {
 public:
  InstanceNorm2d(Place place, int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNormCell("InstanceNorm2d", 4, place, num_features, options) {}
};
/// Of (N, C, D, H, W).
class SORUS_API InstanceNorm3d : public InstanceNormCell {
 public:
  InstanceNorm3d(Place place, int64_t num_features, const InstanceNormOptions& options = {})
      : InstanceNormCell("InstanceNorm3d", 5, place, num_features, options) {}
};

struct LayerNormOptions {
  int64_t begin_norm_axis = -1;
  double epsilon = 1e-7;
  Initializer gamma_init = {};
  Initializer beta_init = {};
  DType dtype = DType::kFloat32;
};
/// Statistics over the axes from begin_norm_axis on; gamma and beta (normalized_shape), the extents of those
/// axes.
class SORUS_API LayerNorm : public Cell {
 public:
  LayerNorm(Place place, const Ints& normalized_shape, const LayerNormOptions& options = {});
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
  Parameter gamma, beta;

 private:
  int64_t begin_norm_axis_;
  double epsilon_;
};

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
  Initializer gamma_init = {};
  Initializer beta_init = {};
  DType dtype = DType::kFloat32;
};
/// Statistics over each of num_groups runs of channels of (N, C, ...); gamma and beta (num_channels,).
class SORUS_API GroupNorm : public Cell {
 public:
  GroupNorm(Place place, int64_t num_groups, int64_t num_channels, const GroupNormOptions& options = {});
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
  Parameter gamma, beta;

 private:
  int64_t num_groups_;
  double eps_;
};

struct RMSNormOptions {
  double epsilon = 1e-6;
  Initializer gamma_init = {};
  DType dtype = DType::kFloat32;
};
/// x / sqrt(mean(x^2) + epsilon) * gamma over the trailing axes, whose extents are normalized_shape, as
/// gamma's. C++ alone has it as a layer.
class SORUS_API RMSNorm : public Cell {
 public:
  RMSNorm(Place place, const Ints& normalized_shape, const RMSNormOptions& options = {});
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
  Parameter gamma;

 private:
  double epsilon_;
};

}  // namespace sorus::nn
