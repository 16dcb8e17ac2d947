#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "sorus/data/column.h"
#include "sorus/data/statistics.h"

/// How a pipeline runs. A Node is an immutable step of a definition, shared freely between pipelines; a Stage
/// is a running step. Stages pull: the last one is asked for rows and asks the one before it. All stages of a
/// pipeline run on its iterator's thread and cut heavy work into pieces for the shared thread pool, so a
/// further stage adds no thread and the order of rows never depends on the number of workers.
namespace sorus::data {

/// Thrown by a stage that noticed Run::cancelled; never reaches the user.
struct Cancelled {};

/// How a running pipeline and its reader wait for each other. All but `gated` and `rows_made` under `mutex`.
struct SORUS_API Flow {
  using Clock = std::chrono::steady_clock;

  std::mutex mutex;
  std::condition_variable changed;
  /// The pipeline's thread waits for others, or has ended: whatever may be made has been made.
  bool resting = false;
  int64_t beyond = 0;  ///< rows that may wait for the reader beyond what bounds them
  bool ended = false;  ///< that thread has
  std::thread::id driver = {};
  std::optional<Clock::time_point> reader_waits_since = {};
  bool gated = false;      ///< a gate is part of the pipeline, which then makes one row at a time
  bool gates_open = true;  ///< nobody reads on, so that gates would never open
  uint64_t rows_made = 0;  ///< for the reader
  int64_t together = 1;    ///< rows asked for at once at least, so that all processes of a step have work

  /// Called by the pipeline's thread, which sleeps until `ready()`.
  template <class Ready>
  void rest_until(std::unique_lock<std::mutex>& lock, Ready ready) {
    while (!ready()) {
      resting = true;
      changed.notify_all();
      changed.wait(lock);
    }
    resting = ended;
  }
};

/// What the stages of one running pipeline share.
struct SORUS_API Run {
  explicit Run(uint64_t first_place = 0) : places_(first_place) {}

  uint32_t seed = 0;           ///< of random transforms; fixed for the run
  uint32_t order_seed = 0;     ///< of the order of rows
  uint64_t first_epoch = 0;    ///< number of the first epoch, for random transforms
  const Run* outer = nullptr;  ///< the run that this is a part of
  std::shared_ptr<Flow> flow = std::make_shared<Flow>();  ///< that of `outer`, if there is one
  std::shared_ptr<StepMeters> meters = std::make_shared<StepMeters>();
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

/// What the stages of a pipeline must know to go on in another run: each writes its part, then those before
/// it do. Read back in the same order.
class SORUS_API StageState {
 public:
  std::vector<int64_t> numbers;
  /// What only the steps of the host language, and sources ordered by it, understand. They write on while
  /// their epoch runs.
  std::vector<std::shared_ptr<Object>> objects;

  /// The next number. Throws ValueError when there is none, as does take_object().
  [[nodiscard]] int64_t take_number();
  [[nodiscard]] std::shared_ptr<Object> take_object();

 private:
  size_t numbers_taken_ = 0;
  size_t objects_taken_ = 0;
};

class SORUS_API Stage {
 public:
  virtual ~Stage() = default;
  /// The next rows of the epoch, at least one and at most `wanted` (1 or more); no rows at its end, and
  /// again none until rewind(). Any exception ends the run.
  [[nodiscard]] virtual Chunk next(int64_t wanted) = 0;
  /// Starts the next epoch, wherever this one stands.
  virtual void rewind() = 0;
  /// Passes over the next `count` rows, so that all that follow are as if they had been taken. Gives how many
  /// there were: fewer at the end of the epoch. Makes rows only where nothing else tells what follows.
  [[nodiscard]] virtual int64_t skip(int64_t count);
  /// Writes what this stage and those before it know, before the first row or at the end of an epoch.
  virtual void save(StageState& state) = 0;
  /// Makes a stage that has just been started the one that was saved.
  virtual void load(StageState& state) = 0;
};

class Gate;
class Node;
using NodePtr = std::shared_ptr<const Node>;

class SORUS_API Node {
 public:
  virtual ~Node() = default;
  /// The step, running, and those before it; takes their times in the meters of the run.
  [[nodiscard]] std::unique_ptr<Stage> start(Run& run) const;
  /// Rows of an epoch; nothing when only reading can tell.
  [[nodiscard]] virtual std::optional<int64_t> size() const = 0;
  /// True when a step calls into the host language, where reading ahead may be seen.
  [[nodiscard]] virtual bool hosted() const = 0;
  /// Names of the columns.
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;
  /// The steps before this one.
  [[nodiscard]] virtual std::vector<NodePtr> inputs() const = 0;
  /// The step and what it was made with, as "batch(32)": two pipelines of equal texts are taken for one.
  [[nodiscard]] virtual std::string text() const = 0;
  /// True when size(), where it tells, is what every epoch has, and not what a source of the host claims.
  [[nodiscard]] virtual bool has_exact_size() const;
  [[nodiscard]] virtual std::shared_ptr<Gate> gate() const { return nullptr; }

 protected:
  /// The step itself, after it has started those before it.
  [[nodiscard]] virtual std::unique_ptr<Stage> make(Run& run) const = 0;
};
/// Texts of all steps of a pipeline, each after those before it.
[[nodiscard]] SORUS_API std::vector<std::string> steps_of(const NodePtr& node);
/// Names with ", " between them.
[[nodiscard]] SORUS_API std::string joined(const std::vector<std::string>& names);

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
