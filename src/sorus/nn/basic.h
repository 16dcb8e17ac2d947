#pragma once

#include "sorus/nn/cell.h"
#include "sorus/nn/initializer.h"

/// Dense, Flatten and Dropout.
namespace sorus::nn {

/// The first weight of a layer: he_uniform(sqrt(5)) unless an initializer is given.
[[nodiscard]] SORUS_API Tensor first_weight(const Initializer& given, const Shape& shape, DType dtype);
/// The first bias (extent,): uniform(1 / sqrt(fan_in of the weight)) unless an initializer is given.
[[nodiscard]] SORUS_API Tensor first_bias(const Initializer& given, const Shape& weight, int64_t extent,
                                          DType dtype);

struct DenseOptions {
  bool has_bias = true;
  Initializer weight_init = {};
  Initializer bias_init = {};
  DType dtype = DType::kFloat32;
};
/// (..., in) -> (..., out): x * weight^T + bias; weight (out, in), bias (out,).
class SORUS_API Dense : public Cell {
 public:
  Dense(Place place, int64_t in, int64_t out, const DenseOptions& options = {});
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
  Parameter weight, bias;
};

/// (N, ...) -> (N, product of the rest).
class SORUS_API Flatten : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// While training, sets elements to 0 with probability p and divides the others by 1 - p.
class SORUS_API Dropout : public Cell {
 public:
  explicit Dropout(Place place = {}, double p = 0.5);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  double p_;
};

}  // namespace sorus::nn
