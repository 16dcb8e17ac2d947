#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

#include "sorus/data/column.h"

/// How a pipeline runs. A Node is an immutable step of a definition, shared freely between pipelines; a Stage
/// is a running step. Stages pull: the last one is asked for rows and asks the one before it. All stages of a
/// pipeline run on its iterator's thread and cut heavy work into pieces for the shared thread pool, so a
/// further stage adds no thread and the order of rows never depends on the number of workers.
namespace sorus::data {

/// Thrown by a stage that noticed Run::cancelled; never reaches the user.
struct Cancelled {};

/// What the stages of one running pipeline share.
struct SORUS_API Run {
  explicit Run(uint64_t first_place = 0) : places_(first_place) {}

  uint32_t seed = 0;           ///< of random transforms; fixed for the run
  uint32_t order_seed = 0;     ///< of the order of rows
  uint64_t first_epoch = 0;    ///< number of the first epoch, for random transforms
  const Run* outer = nullptr;  ///< the run that this is a part of
  std::atomic<bool> cancelled{false};

  /// Called by whatever may loop or wait for long.
  void check() const {
    if (cancelled.load(std::memory_order_relaxed)) throw Cancelled{};
    if (outer) outer->check();
  }
  /// A number for each stage that draws random numbers: its place in the pipeline, in order of construction.
  uint64_t next_place() { return places_++; }

 private:
  uint64_t places_;
};

class SORUS_API Stage {
 public:
  virtual ~Stage() = default;
  /// The next rows of the epoch, at least one and at most `wanted` (1 or more); no rows at its end, and
  /// again none until rewind(). Any exception ends the run.
  [[nodiscard]] virtual Chunk next(int64_t wanted) = 0;
  /// Starts the next epoch, wherever this one stands.
  virtual void rewind() = 0;
};

class SORUS_API Node {
 public:
  virtual ~Node() = default;
  [[nodiscard]] virtual std::unique_ptr<Stage> start(Run& run) const = 0;
  /// Rows of an epoch; nothing when only reading can tell.
  [[nodiscard]] virtual std::optional<int64_t> size() const = 0;
  /// True when a step calls into the host language, where reading ahead may be seen.
  [[nodiscard]] virtual bool hosted() const = 0;
  /// Names of the columns.
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
};
using NodePtr = std::shared_ptr<const Node>;

/// Limits how long a stage gathers rows that come slowly: what is there after a few milliseconds is handed
/// on.
class Patience {
 public:
  [[nodiscard]] bool ended() const { return std::chrono::steady_clock::now() - start_ > kLimit; }

 private:
  static constexpr std::chrono::milliseconds kLimit{5};
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Place of a column. Throws KeyError naming the operation and the columns there are.
[[nodiscard]] SORUS_API size_t find_column(const char* op, const std::vector<std::string>& names,
                                           const std::string& name);

}  // namespace sorus::data
