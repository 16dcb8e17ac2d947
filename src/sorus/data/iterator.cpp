#include "sorus/data/iterator.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "sorus/data/config.h"

namespace sorus::data {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr int64_t kChunkRows = 1024;

uint32_t seed_of_run(const IterateOptions& options) {
  uint32_t seed = options.seed.value_or(config().seed);
  return seed == kNoSeed ? std::random_device{}() : seed;
}

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

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Item> queue;
  size_t queued_bytes = 0;
  int64_t queued_rows = 0;
  int64_t epochs_wanted = 1;
  bool at_epoch_end = false;  ///< of the reader
  bool producer_waits = false;
  bool reader_waits = false;
  std::thread thread;

  Chunk current;  ///< of the reader alone, as is `row`
  int64_t row = -1;
  std::atomic<bool> finished{false};

  State(NodePtr n, const IterateOptions& options)
      : node(std::move(n)), epochs(options.epochs), runs_ahead(options.epochs > 0 || !node->hosted()) {
    SORUS_CHECK(epochs == -1 || epochs > 0, ValueError,
                "dataset iterator: num_epochs is out of range: got {}, need -1 or more than 0", epochs);
    run.seed = run.order_seed = seed_of_run(options);
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
    producer_waits = true;
    changed.wait(lock, [&] { return !full() || run.cancelled; });
    producer_waits = false;
    queued_bytes += item.chunk.bytes();
    queued_rows += item.chunk.rows;
    queue.push_back(std::move(item));
    if (reader_waits) changed.notify_all();
  }

  void drive() {
    std::exception_ptr error;
    try {
      std::unique_ptr<Stage> last = node->start(run);
      for (int64_t epoch = 0; epochs < 0 || epoch < epochs; ++epoch) {
        if (epoch > 0) last->rewind();
        drive_epoch(*last);
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

  void drive_epoch(Stage& last) {
    // Begin with one row, so that the reader can begin; then take more at a time.
    for (int64_t wanted = 1;;) {
      run.check();
      Chunk chunk = last.next(wanted);
      int64_t rows = chunk.rows;
      size_t bytes = chunk.bytes();
      push({rows > 0 ? Event::kRow : Event::kEndOfEpoch, std::move(chunk)});
      if (rows == 0) return;
      bool small = bytes * 2 <= kChunkBytes && wanted * 2 <= kChunkRows;
      if (small && rows == wanted) wanted *= 2;
    }
  }

  void wait_for_epoch(int64_t number) {
    std::unique_lock lock(mutex);
    producer_waits = true;
    changed.wait(lock, [&] { return epochs_wanted >= number || run.cancelled; });
    producer_waits = false;
    run.check();
  }

  Event poll(std::chrono::milliseconds patience) {
    SORUS_CHECK(!is_forked(), RuntimeError,
                "dataset iterator: the process was forked: got a child, need an iterator made in it");
    if (!finished && ++row < current.rows) return Event::kRow;
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
      bool ready = changed.wait_for(lock, patience, [&] { return !queue.empty(); });
      reader_waits = false;
      if (!ready) return Event::kNotYet;
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
    }
    return item.event;
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
    : state_(std::make_unique<State>(std::move(node), options)) {}
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
