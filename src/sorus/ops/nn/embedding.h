#pragma once

#include <optional>

#include "sorus/core/tensor.h"

namespace sorus {

/// Rows of `table` (V, ...) at `ids` (int32 or int64, any shape): result ids.shape + (...). The row
/// `padding_index`, which may be negative, gets no gradient. IndexError for an id outside [0, V).
[[nodiscard]] SORUS_API Tensor embedding(const Tensor& ids, const Tensor& table,
                                         std::optional<int64_t> padding_index = {});

}  // namespace sorus
