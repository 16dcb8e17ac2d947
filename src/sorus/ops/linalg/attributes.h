#pragma once

#include <tuple>

#include "sorus/dispatch/attributes.h"

/// Attributes of the ops of this folder; the only header here that kernels include.
namespace sorus {

/// svd: whether U and V are square or have as many columns as there are singular values.
struct SvdAttrs {
  bool full_matrices = false;
  static constexpr auto fields() { return std::tuple{field("full_matrices", &SvdAttrs::full_matrices)}; }
};

/// pinv: singular values up to the greater of `absolute` and `relative` times the greatest count as zero.
struct PinvAttrs {
  double absolute = 0;
  double relative = 0;
  static constexpr auto fields() {
    return std::tuple{field("absolute", &PinvAttrs::absolute), field("relative", &PinvAttrs::relative)};
  }
};

}  // namespace sorus
