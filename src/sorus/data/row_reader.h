#pragma once

#include <functional>
#include <optional>

#include "sorus/data/dataset.h"

namespace sorus::data {

/// The row at a place, from 0 on, as a chunk of one row. Throws IndexError for a place that is not there.
using ReadRow = std::function<Chunk(int64_t place)>;

/// What a Node is besides when its rows can be read in any order.
class SORUS_API ReadsSingleRows {
 public:
  virtual ~ReadsSingleRows() = default;
  [[nodiscard]] virtual ReadRow row_reader(uint32_t seed) const = 0;
};

/// Single rows of a source by their places in the order of the first epoch; throws NotSupportedError for what
/// follows on one or comes in order only. `seed` absent: that of config(), or a fresh one when that is none.
[[nodiscard]] SORUS_API ReadRow row_reader(const Dataset& dataset, std::optional<uint32_t> seed = {});

}  // namespace sorus::data
