#include "sorus/data/iterator.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "sorus/data/config.h"
#include "sorus/data/gate.h"

namespace sorus::data {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr int64_t kChunkRows = 1024;

uint32_t seed_of_run(const IterateOptions& options) {
  uint32_t seed = options.seed.value_or(config().seed);
  return seed == kNoSeed ? std::random_device{}() : seed;
}

/// Time that a thread waited. Under a mutex.
class Waited {
 public:
  /// One wait, for its life.
  class Once {
   public:
    explicit Once(Waited& to) : to_(to) { to_.since_ = Flow::Clock::now(); }
    Once(const Once&) = delete;
    Once& operator=(const Once&) = delete;
    ~Once() {
      to_.total_ += Flow::Clock::now() - *to_.since_;
      to_.since_.reset();
    }

   private:
    Waited& to_;
  };
  [[nodiscard]] double seconds() const {
    const auto now = since_ ? Flow::Clock::now() - *since_ : Flow::Clock::duration::zero();
    return std::chrono::duration<double>(total_ + now).count();
  }

 private:
  Flow::Clock::duration total_{};
  std::optional<Flow::Clock::time_point> since_;
};

}  // namespace

struct DatasetIterator::State {
  struct Item {
    Event event = Event::kRow;
    Chunk chunk;
    std::exception_ptr error = nullptr;
  };

  NodePtr node;
  int64_t epochs;
  Run run;
  Config limits = config();
  bool runs_ahead;  ///< into the next epoch before the reader asks for it
  pid_t process = getpid();

  IterateOptions options;
  Flow& flow = *run.flow;
  std::mutex& mutex = flow.mutex;
  std::condition_variable& changed = flow.changed;
  std::deque<Item> queue;
  size_t queued_bytes = 0;
  int64_t queued_rows = 0;
  int64_t epochs_wanted = 1;
  bool at_epoch_end = false;                 ///< of the reader
  std::optional<IteratorState> resumed;      ///< of the pipeline's thread
  std::map<int64_t, StageState> beginnings;  ///< what the stages knew when an epoch began
  int64_t epoch_read = 0;                    ///< epochs that the reader has had
  int64_t rows_read = 0;                     ///< and rows of this one
  std::vector<std::shared_ptr<Gate::Passage>>
      passes;  ///< here before the thread, for an update that is early
  using Clock = Flow::Clock;
  Clock::time_point start = Clock::now();
  Clock::time_point end = {};
  Waited reader_waited;
  Waited pipeline_waited;
  bool producer_waits = false;
  bool reader_waits = false;
  std::thread thread;

  Chunk current;  ///< of the reader alone, as is `row`
  int64_t row = -1;
  std::atomic<bool> finished{false};

  State(NodePtr n, const IterateOptions& o, std::optional<IteratorState> from)
      : node(std::move(n)),
        epochs(o.epochs),
        runs_ahead(o.epochs > 0 || !node->hosted()),
        options(o),
        resumed(std::move(from)) {
    SORUS_CHECK(epochs == -1 || epochs > 0, ValueError,
                "dataset iterator: num_epochs is out of range: got {}, need -1 or more than 0", epochs);
    run.seed = run.order_seed = resumed ? resumed->seed : seed_of_run(options);
    flow.gates_open = false;
    if (resumed) {
      epoch_read = resumed->epoch;
      rows_read = resumed->row;
      epochs_wanted = epoch_read + 1;
    }
    for (const auto& gate : gates_of(node)) passes.push_back(gate->begin(run.flow));
    thread = std::thread([this] { drive(); });
  }

  /// In a forked child, which has not this run's thread.
  [[nodiscard]] bool is_forked() const { return process != getpid(); }

  [[nodiscard]] bool full() const {
    return queued_bytes >= static_cast<size_t>(limits.queue_bytes) ||
           (queue.size() >= 2 && queued_rows >= limits.prefetch_size);
  }

  void push(Item item) {
    std::unique_lock lock(mutex);
    const Waited::Once wait(pipeline_waited);
    producer_waits = true;
    flow.rest_until(lock, [&] { return !full() || run.cancelled || flow.beyond > 0; });
    producer_waits = false;
    if (full() && flow.beyond > 0) --flow.beyond;
    queued_bytes += item.chunk.bytes();
    queued_rows += item.chunk.rows;
    queue.push_back(std::move(item));
    if (reader_waits) changed.notify_all();
  }

  void drive() {
    {
      std::lock_guard lock(mutex);
      flow.driver = std::this_thread::get_id();
    }
    drive_epochs();
    std::lock_guard lock(mutex);
    flow.ended = flow.resting = true;
    end = Clock::now();
    changed.notify_all();
  }

  void drive_epochs() {
    std::exception_ptr error;
    try {
      std::unique_ptr<Stage> last = node->start(run);
      int64_t epoch = begin(*last);
      for (const int64_t first = epoch; epochs < 0 || epoch < epochs; ++epoch) {
        if (epoch > first) last->rewind();
        drive_epoch(*last, epoch);
        if (!runs_ahead) wait_for_epoch(epoch + 2);
      }
    } catch (const Cancelled&) {
      return;
    } catch (...) {
      error = std::current_exception();
    }
    // Handed on when this thread holds no other reference: the reader destroys it.
    push({Event::kFinished, {}, std::move(error)});
  }

  /// Makes the stages what they were for the state to go on from; gives the number of the first epoch.
  int64_t begin(Stage& last) {
    if (!resumed) {
      keep_beginning(last, 0);
      return 0;
    }
    const IteratorState from = *std::exchange(resumed, {});
    StageState stages = from.stages;
    last.load(stages);
    {
      std::lock_guard lock(mutex);
      beginnings[from.epoch] = from.stages;
    }
    if (epochs >= 0 && from.epoch >= epochs) return from.epoch;
    if (from.epoch > 0) last.rewind();
    flow.gates_open = true;  // for rows that had passed
    const int64_t rows = last.skip(from.row);
    flow.gates_open = false;
    SORUS_CHECK(rows == from.row, RuntimeError,
                "dataset iterator: cannot go on after row {} of an epoch: the pipeline gave {} rows",
                from.row, rows);
    return from.epoch;
  }

  void keep_beginning(Stage& last, int64_t epoch) {
    StageState state;
    last.save(state);
    std::lock_guard lock(mutex);
    beginnings[epoch] = std::move(state);
    changed.notify_all();
  }

  void drive_epoch(Stage& last, int64_t epoch) {
    // Begin with one row, so that the reader can begin; then take more at a time.
    for (int64_t wanted = 1;;) {
      run.check();
      Chunk chunk = last.next(flow.gated ? 1 : std::max(wanted, flow.together));
      int64_t rows = chunk.rows;
      size_t bytes = chunk.bytes();
      flow.rows_made += static_cast<uint64_t>(rows);
      if (rows == 0) keep_beginning(last, epoch + 1);
      push({rows > 0 ? Event::kRow : Event::kEndOfEpoch, std::move(chunk)});
      if (rows == 0) return;
      bool small = bytes * 2 <= kChunkBytes && wanted * 2 <= kChunkRows;
      if (small && rows == wanted) wanted *= 2;
    }
  }

  void wait_for_epoch(int64_t number) {
    std::unique_lock lock(mutex);
    const Waited::Once wait(pipeline_waited);
    producer_waits = true;
    flow.rest_until(lock, [&] { return epochs_wanted >= number || run.cancelled; });
    producer_waits = false;
    run.check();
  }

  Event poll(std::chrono::milliseconds patience) {
    check_not_forked();
    if (!finished && ++row < current.rows) {
      ++rows_read;
      return Event::kRow;
    }
    current = {};
    row = -1;
    if (finished) return Event::kFinished;
    Item item;
    {
      std::unique_lock lock(mutex);
      if (std::exchange(at_epoch_end, false)) {
        ++epochs_wanted;
        if (producer_waits) changed.notify_all();
      }
      reader_waits = true;
      if (!flow.reader_waits_since) flow.reader_waits_since = Flow::Clock::now();
      const bool ready = wait_for_item(lock, patience);
      reader_waits = false;
      if (!ready) return Event::kNotYet;
      flow.reader_waits_since.reset();
      item = std::move(queue.front());
      queue.pop_front();
      queued_bytes -= item.chunk.bytes();
      queued_rows -= item.chunk.rows;
      at_epoch_end = item.event == Event::kEndOfEpoch;
      if (producer_waits) changed.notify_all();
    }
    if (item.event == Event::kFinished) finished = true;
    if (item.error) std::rethrow_exception(item.error);
    if (item.event == Event::kRow) {
      current = std::move(item.chunk);
      row = 0;
      ++rows_read;
    }
    if (item.event == Event::kEndOfEpoch) end_epoch();
    return item.event;
  }

  bool wait_for_item(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds patience) {
    const Waited::Once wait(reader_waited);
    return changed.wait_for(lock, patience, [&] { return !queue.empty(); });
  }

  PipelineStatistics statistics() {
    PipelineStatistics out;
    out.steps = run.meters->read();
    std::lock_guard lock(mutex);
    out.seconds = std::chrono::duration<double>((flow.ended ? end : Clock::now()) - start).count();
    out.reader_waited = reader_waited.seconds();
    out.pipeline_waited = pipeline_waited.seconds();
    return out;
  }

  void end_epoch() {
    ++epoch_read;
    rows_read = 0;
    std::lock_guard lock(mutex);
    beginnings.erase(beginnings.begin(), beginnings.lower_bound(epoch_read));
  }

  void check_not_forked() const {
    SORUS_CHECK(!is_forked(), RuntimeError,
                "dataset iterator: the process was forked: got a child, need an iterator made in it");
  }

  IteratorState state() {
    check_not_forked();
    IteratorState out;
    out.steps = steps_of(node);
    out.seed = run.seed;
    out.epoch = epoch_read;
    out.row = rows_read;
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return beginnings.contains(epoch_read) || flow.ended || run.cancelled; });
    auto found = beginnings.find(epoch_read);
    SORUS_CHECK(found != beginnings.end(), RuntimeError,
                "dataset iterator: there is no state: the pipeline ended before its first row");
    out.stages = found->second;
    return out;
  }

  void stop() {
    finished = true;
    if (is_forked() || !thread.joinable()) return;
    {
      std::lock_guard lock(mutex);
      run.cancelled = true;
    }
    changed.notify_all();
    thread.join();
    std::lock_guard lock(mutex);
    queue.clear();
  }
};

DatasetIterator::DatasetIterator(NodePtr node, const IterateOptions& options)
    : state_(std::make_unique<State>(std::move(node), options, std::nullopt)) {}
DatasetIterator::DatasetIterator(DatasetIterator&&) noexcept = default;
DatasetIterator::~DatasetIterator() {
  if (!state_) return;
  state_->stop();
  // What a thread of the parent may be waiting on cannot be destroyed here: the child leaves it be.
  if (state_->is_forked()) (void)state_.release();
}

DatasetIterator::Event DatasetIterator::poll(std::chrono::milliseconds patience) {
  return state_->poll(patience);
}
const Chunk& DatasetIterator::current() const { return state_->current; }
int64_t DatasetIterator::row() const { return state_->row; }
void DatasetIterator::stop() { state_->stop(); }
IteratorState DatasetIterator::state() const { return state_->state(); }
PipelineStatistics DatasetIterator::statistics() const { return state_->statistics(); }

void DatasetIterator::load(const IteratorState& state) {
  state_->check_not_forked();
  const std::vector<std::string> steps = steps_of(state_->node);
  const size_t common = std::min(steps.size(), state.steps.size());
  for (size_t i = 0; i < common; ++i)
    SORUS_CHECK(steps[i] == state.steps[i], ValueError,
                "dataset iterator: state is of another pipeline: got step {} '{}', need '{}'", i + 1,
                state.steps[i], steps[i]);
  SORUS_CHECK(steps.size() == state.steps.size(), ValueError,
              "dataset iterator: state is of another pipeline: got {} steps, need {}, the next being '{}'",
              state.steps.size(), steps.size(), steps.size() > common ? steps[common] : state.steps[common]);
  SORUS_CHECK(state.epoch >= 0 && state.row >= 0, ValueError,
              "dataset iterator: state is out of range: got epoch {} and row {}, need 0 or more", state.epoch,
              state.row);
  state_->stop();
  NodePtr node = state_->node;
  const IterateOptions options = state_->options;
  state_ = std::make_unique<State>(std::move(node), options, state);
}

bool DatasetIterator::next(Row& row) {
  Event event = Event::kNotYet;
  while (event == Event::kNotYet) event = poll(std::chrono::seconds(1));
  SORUS_CHECK(event != Event::kFinished, RuntimeError,
              "dataset iterator: no epoch is left: all that were asked for have been read");
  if (event == Event::kEndOfEpoch) return false;
  row.clear();
  for (const Column& column : current().columns) row.push_back(column.tensor(this->row()));
  return true;
}

}  // namespace sorus::data
