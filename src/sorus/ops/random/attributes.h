#pragma once

#include "sorus/dispatch/attributes.h"

namespace sorus {

/// Shape and dtype of what a random op draws.
struct RandomAttrs {
  Ints shape;
  DType dtype = DType::kFloat32;
  static constexpr auto fields() {
    return std::tuple{field("shape", &RandomAttrs::shape), field("dtype", &RandomAttrs::dtype)};
  }
};

struct DropoutAttrs {
  double p = 0.5;
  static constexpr auto fields() { return std::tuple{field("p", &DropoutAttrs::p)}; }
};

}  // namespace sorus
