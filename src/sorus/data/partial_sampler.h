#pragma once

#include "sorus/data/sampler.h"

namespace sorus::data {

/// Rows of files that hold so many each: files in random order, then what `choice` takes of their rows, a
/// million of them shuffled at a time. Rows behind those of the files take part in the second.
[[nodiscard]] SORUS_API SamplerPtr partial_sampler(std::vector<int64_t> rows_by_file, SamplerPtr choice);

}  // namespace sorus::data
