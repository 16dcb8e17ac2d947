#pragma once

#include <any>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sorus/data/stage.h"

namespace sorus::data {

/// Called by an update, with what the update was given, before the gate opens.
using GateCallback = std::function<void(const std::any& data)>;

/// What holds rows back until it is told. Shared by all runs over a definition: each run has rows to pass of
/// its own, and an update gives more of them to all that are running. Thread-safe.
class SORUS_API Gate {
 public:
  /// Rows that may still pass in one run.
  struct Passage {
    std::shared_ptr<Flow> flow;
    int64_t left = 0;               ///< under the mutex of `flow`, as is all here
    uint64_t granted = UINT64_MAX;  ///< the reader's row for which rows may pass
    bool open = false;              ///< for good
  };

  /// Throws ValueError unless num_batch is 1 or more.
  Gate(std::string condition, int64_t num_batch, GateCallback callback);

  [[nodiscard]] const std::string& condition() const { return condition_; }
  [[nodiscard]] int64_t num_batch() const { return num_batch_; }
  /// Waits, at most so long, until all running pipelines have made what they may; true when they have.
  bool settle(std::chrono::milliseconds patience);
  /// Calls the callback, then lets the next rows pass. Throws RuntimeError unless their number is 1 or more.
  void open(std::optional<int64_t> num_batch, const std::any& data);
  /// Opens for good, in the runs there are and those to come.
  void disable();
  /// The rows to pass of a run: they begin when it is first asked for.
  [[nodiscard]] std::shared_ptr<Passage> begin(std::shared_ptr<Flow> flow);

 private:
  std::vector<std::shared_ptr<Passage>> running();

  std::string condition_;
  int64_t num_batch_;
  GateCallback callback_;
  std::mutex mutex_;
  std::vector<std::weak_ptr<Passage>> passes_;
  bool disabled_ = false;
};

/// The gates of a pipeline.
[[nodiscard]] SORUS_API std::vector<std::shared_ptr<Gate>> gates_of(const NodePtr& node);

}  // namespace sorus::data
