#pragma once

#include "sorus/nn/cell.h"
#include "sorus/nn/initializer.h"
#include "sorus/ops/nn/loss.h"

/// Layers. Names, defaults and parameter names are those of the Python package. Weights start as
/// he_uniform(sqrt(5)) and biases as uniform(1 / sqrt(fan_in)) unless an initializer is given.
namespace sorus::nn {

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

/// How a window meets the border: "valid" windows lie inside, "same" gives ceil(extent / stride) results,
/// "pad" adds `padding` zeros.
enum class PadMode { kSame, kValid, kPad };

struct Conv2dOptions {
  Ints stride = {1};
  PadMode pad_mode = PadMode::kSame;
  Ints padding = {};  ///< one number, or (top, bottom, left, right); only with PadMode::kPad
  Ints dilation = {1};
  int64_t group = 1;
  bool has_bias = false;
  Initializer weight_init = {};
  Initializer bias_init = {};
  DType dtype = DType::kFloat32;
};
/// (N, in, H, W) -> (N, out, H', W'); weight (out, in / group, kernel, kernel), bias (out,).
class SORUS_API Conv2d : public Cell {
 public:
  Conv2d(Place place, int64_t in, int64_t out, const Ints& kernel_size, const Conv2dOptions& options = {});
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
  Parameter weight, bias;

 private:
  Ints kernel_;
  Conv2dOptions options_;
};

struct Pool2dOptions {
  Ints stride = {1};
  PadMode pad_mode = PadMode::kValid;
  Ints padding = {};
};
/// Largest element of each window of (N, C, H, W).
class SORUS_API MaxPool2d : public Cell {
 public:
  MaxPool2d(Place place, const Ints& kernel_size, const Pool2dOptions& options = {})
      : Cell(place), kernel_(kernel_size), options_(options) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  Ints kernel_;
  Pool2dOptions options_;
};

/// Mean of each window of (N, C, H, W); elements beyond the border do not count.
class SORUS_API AvgPool2d : public Cell {
 public:
  AvgPool2d(Place place, const Ints& kernel_size, const Pool2dOptions& options = {})
      : Cell(place), kernel_(kernel_size), options_(options) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  Ints kernel_;
  Pool2dOptions options_;
};

/// (N, ...) -> (N, product of the rest).
class SORUS_API Flatten : public Cell {
 public:
  explicit Flatten(Place place = {}) : Cell(place) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

class SORUS_API ReLU : public Cell {
 public:
  explicit ReLU(Place place = {}) : Cell(place) {}
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

/// Softmax cross-entropy of logits (N, C) and class numbers (N,), reduced. Operands: logits, labels.
class SORUS_API SoftmaxCrossEntropyWithLogits : public Cell {
 public:
  explicit SoftmaxCrossEntropyWithLogits(Place place = {}, Reduction reduction = Reduction::kMean)
      : Cell(place), reduction_(reduction) {}
  TensorList construct(const TensorList& in) override;
  using Cell::construct;

 private:
  Reduction reduction_;
};

}  // namespace sorus::nn
