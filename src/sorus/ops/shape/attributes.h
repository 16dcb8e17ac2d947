#pragma once

#include <tuple>

#include "sorus/dispatch/attributes.h"

/// Attributes of the ops of this folder. The only header here that kernels include.
namespace sorus {

/// reshape, broadcast_to: the extents wanted; reshape takes one -1.
struct ShapeAttrs {
  Ints shape;
  static constexpr auto fields() { return std::tuple{field("shape", &ShapeAttrs::shape)}; }
};

/// transpose, expand_dims, squeeze, flip: axes counted from the front.
struct AxesAttrs {
  Ints axes;
  static constexpr auto fields() { return std::tuple{field("axes", &AxesAttrs::axes)}; }
};

/// full: element type, extents and the number.
struct FullAttrs {
  DType dtype = DType::kFloat32;
  Ints shape;
  double value = 0;
  static constexpr auto fields() {
    return std::tuple{field("dtype", &FullAttrs::dtype), field("shape", &FullAttrs::shape),
                      field("value", &FullAttrs::value)};
  }
};

}  // namespace sorus
