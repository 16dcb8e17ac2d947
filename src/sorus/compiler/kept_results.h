#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sorus/base/export.h"
#include "sorus/core/storage.h"

namespace sorus {

/// Results of steps that read nothing but inputs and constants of a bound program, as the scale and the shift
/// of norms that are computed from parameters: a run whose inputs are the same values finds them. Values
/// never change, and their ids are never used again. Thread-safe.
class SORUS_API KeptResults {
 public:
  /// Ids of the values that a step reads, and all else that its results depend on.
  using Key = std::vector<uint64_t>;

  KeptResults() = default;
  KeptResults(const KeptResults&) = delete;
  KeptResults& operator=(const KeptResults&) = delete;

  /// One more step; returns its number. Before the first run.
  int32_t add();
  /// The results of the step for this key; null when they are not known.
  [[nodiscard]] Ref<Storage> find(int32_t step, const Key& key);
  /// Keeps results, which nobody writes any more, in the place of those for another key.
  void keep(int32_t step, Key key, Ref<Storage> results);

 private:
  struct Step {
    Key key;
    Ref<Storage> results;
  };
  std::vector<Step> steps_;
};

}  // namespace sorus
