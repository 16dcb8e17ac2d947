#pragma once

#include "sorus/dispatch/attributes.h"

/// Attributes of elementwise ops. Kernels of ops whose attributes are numbers alone read them as an array of
/// double, in the order of the fields.
namespace sorus {

struct CastAttrs {
  DType dtype = DType::kFloat32;
  static constexpr auto fields() { return std::tuple{field("dtype", &CastAttrs::dtype)}; }
};

}  // namespace sorus
