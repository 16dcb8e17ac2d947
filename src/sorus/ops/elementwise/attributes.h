#pragma once

#include <limits>

#include "sorus/dispatch/attributes.h"

/// Attributes of elementwise ops. Kernels of rows with parameters (math/rows.h) read these structs as an
/// array of double, so but for CastAttrs they hold nothing else.
namespace sorus {

struct CastAttrs {
  DType dtype = DType::kFloat32;
  static constexpr auto fields() { return std::tuple{field("dtype", &CastAttrs::dtype)}; }
};

/// elu, celu: what the exponential part is multiplied with.
struct AlphaAttrs {
  double alpha = 1;
  static constexpr auto fields() { return std::tuple{field("alpha", &AlphaAttrs::alpha)}; }
};

/// leaky_relu: factor of negative elements.
struct SlopeAttrs {
  double slope = 0.01;
  static constexpr auto fields() { return std::tuple{field("slope", &SlopeAttrs::slope)}; }
};

/// clip: bounds, either of which may be infinite.
struct BoundsAttrs {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  static constexpr auto fields() {
    return std::tuple{field("low", &BoundsAttrs::low), field("high", &BoundsAttrs::high)};
  }
};

/// softplus: sharpness, and the argument from which on it is the identity.
struct SoftplusAttrs {
  double beta = 1;
  double threshold = 20;
  static constexpr auto fields() {
    return std::tuple{field("beta", &SoftplusAttrs::beta), field("threshold", &SoftplusAttrs::threshold)};
  }
};

/// softshrink, hardshrink: half the width of the part that becomes 0.
struct ShrinkAttrs {
  double width = 0.5;
  static constexpr auto fields() { return std::tuple{field("width", &ShrinkAttrs::width)}; }
};

/// threshold: what does not exceed `threshold` becomes `value`.
struct ThresholdAttrs {
  double threshold = 0;
  double value = 0;
  static constexpr auto fields() {
    return std::tuple{field("threshold", &ThresholdAttrs::threshold), field("value", &ThresholdAttrs::value)};
  }
};

/// addcmul, addcdiv: factor of the product or quotient.
struct FactorAttrs {
  double value = 1;
  static constexpr auto fields() { return std::tuple{field("value", &FactorAttrs::value)}; }
};

}  // namespace sorus
