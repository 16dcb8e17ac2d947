#pragma once

#include <string_view>

#include "sorus/base/error.h"
#include "sorus/core/tensor_type.h"

namespace sorus::detail {

/// Checks the key operand of a random op; throws TypeError.
inline void check_random_key(std::string_view op, const TensorType& key) {
  SORUS_CHECK(key.dtype == DType::kUInt64 && key.shape == Shape{2}, TypeError,
              "{}: key is not one of a generator: got {}, need uint64(2,)", op, key);
}

}  // namespace sorus::detail
