#include "sorus/data/row_reader.h"

#include <random>

#include "sorus/data/config.h"

namespace sorus::data {

ReadRow row_reader(const Dataset& dataset, std::optional<uint32_t> seed) {
  const auto* reads = dynamic_cast<const ReadsSingleRows*>(dataset.node().get());
  SORUS_CHECK(
      reads, NotSupportedError,
      "dataset: rows come in order only: need a source that can be read in any order, without further "
      "steps");
  const uint32_t chosen = seed.value_or(config().seed);
  return reads->row_reader(chosen == kNoSeed ? std::random_device{}() : chosen);
}

}  // namespace sorus::data
