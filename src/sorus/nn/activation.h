#pragma once

#include "sorus/nn/cell.h"

/// Activations: results have the shape of x.
namespace sorus::nn {

/// max(x, 0).
class SORUS_API ReLU : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// min(max(x, 0), 6).
class SORUS_API ReLU6 : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// 1 / (1 + exp(-x)).
class SORUS_API Sigmoid : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// Hyperbolic tangent.
class SORUS_API Tanh : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// x * sigmoid(x).
class SORUS_API SiLU : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// x * tanh(softplus(x)).
class SORUS_API Mish : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// log(sigmoid(x)).
class SORUS_API LogSigmoid : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// x / (1 + |x|).
class SORUS_API Softsign : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// Scaled exponential linear unit.
class SORUS_API SeLU : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// x * relu6(x + 3) / 6.
class SORUS_API HSwish : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// relu6(x + 3) / 6.
class SORUS_API HSigmoid : public Cell {
 public:
  using Cell::Cell;
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
};

/// x times the normal distribution function, by tanh unless `approximate` is false.
class SORUS_API GELU : public Cell {
 public:
  explicit GELU(Place place = {}, bool approximate = true) : Cell(place), approximate_(approximate) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  bool approximate_;
};

/// x, or alpha * (exp(x) - 1) below zero.
class SORUS_API ELU : public Cell {
 public:
  explicit ELU(Place place = {}, double alpha = 1) : Cell(place), alpha_(alpha) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  double alpha_;
};

/// x, or alpha * x below zero.
class SORUS_API LeakyReLU : public Cell {
 public:
  explicit LeakyReLU(Place place = {}, double alpha = 0.2) : Cell(place), alpha_(alpha) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  double alpha_;
};

/// Softmax over one axis.
class SORUS_API Softmax : public Cell {
 public:
  explicit Softmax(Place place = {}, int64_t axis = -1) : Cell(place), axis_(axis) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  int64_t axis_;
};

/// Logarithm of softmax over one axis.
class SORUS_API LogSoftmax : public Cell {
 public:
  explicit LogSoftmax(Place place = {}, int64_t axis = -1) : Cell(place), axis_(axis) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  int64_t axis_;
};

/// log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.
class SORUS_API Softplus : public Cell {
 public:
  explicit Softplus(Place place = {}, double beta = 1, double threshold = 20)
      : Cell(place), beta_(beta), threshold_(threshold) {}
  Tensor construct(const Tensor& x) override;
  using Cell::construct;

 private:
  double beta_, threshold_;
};

/// x, or w * x below zero, with w (channel,) learned: one for all elements, or one for each channel, which is
/// axis 1 of x.
class SORUS_API PReLU : public Cell {
 public:
  explicit PReLU(Place place = {}, int64_t channel = 1, double first = 0.25);
  Tensor construct(const Tensor& x) override;
  using Cell::construct;
  Parameter w;
};

}  // namespace sorus::nn
