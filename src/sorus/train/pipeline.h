#pragma once

#include <memory>

#include "sorus/data/dataset.h"
#include "sorus/train/batches.h"

namespace sorus::train {

/// The rows of a pipeline as batches: each row, which the pipeline has batched, is one. Epoch follows epoch
/// of one run of the pipeline, so that shuffled orders differ from epoch to epoch.
[[nodiscard]] SORUS_API std::unique_ptr<Batches> pipeline_batches(const data::Dataset& dataset);

}  // namespace sorus::train
