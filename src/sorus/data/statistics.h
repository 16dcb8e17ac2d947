#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sorus/base/export.h"

/// Where the time of a running pipeline goes.
namespace sorus::data {

struct SORUS_API StepStatistics {
  std::string step;    ///< text of the step, as "batch(32)"
  int64_t rows = 0;    ///< handed on, those made ahead included
  double seconds = 0;  ///< of its own, without those of the steps before it
};

struct SORUS_API PipelineStatistics {
  std::vector<StepStatistics> steps;  ///< each after those before it
  double seconds = 0;                 ///< since the run began, until its end if it has ended
  double reader_waited = 0;           ///< seconds in which the reader waited for rows
  double pipeline_waited = 0;         ///< seconds in which the pipeline waited for the reader

  /// One or two plain sentences: who waited for whom, and which steps take the time.
  [[nodiscard]] std::string verdict() const;
};

/// Counts for the steps of one run. The pipeline's thread writes while others read.
class SORUS_API StepMeters {
 public:
  struct Meter {
    std::string step;
    std::atomic<int64_t> rows{0};
    std::atomic<int64_t> nanoseconds{0};
  };
  [[nodiscard]] Meter& add(std::string step);
  [[nodiscard]] std::vector<StepStatistics> read() const;

  int64_t inside = 0;  ///< of the pipeline's thread alone: nanoseconds in steps before the running one

 private:
  mutable std::mutex mutex_;
  std::deque<Meter> meters_;
};

}  // namespace sorus::data
