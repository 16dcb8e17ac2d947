#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "sorus/data/sampler.h"
#include "sorus/data/stage.h"

namespace sorus::data {

/// A row as the reader gets it: one tensor for each column.
using Row = std::vector<Tensor>;

struct IterateOptions {
  int64_t epochs = 1;                 ///< -1: without end
  std::optional<uint32_t> seed = {};  ///< absent: that of config(), or a fresh one when that is none
};

/// Where an iterator stands: what its reader got. Rows that were made ahead do not count.
struct SORUS_API IteratorState {
  std::vector<std::string> steps;  ///< texts of the pipeline's steps
  uint32_t seed = 0;
  int64_t epoch = 0;  ///< epochs that are over
  int64_t row = 0;    ///< rows got in this one
  StageState stages;  ///< what the steps knew when the epoch began
};

/// Orders that a sampler of the host chose, one for each time that its source began since an epoch did.
/// Thread-safe.
class SORUS_API KeptOrders final : public Object {
 public:
  void add(const RowIds& ids);
  [[nodiscard]] bool get(size_t number, RowIds& ids) const;
  [[nodiscard]] std::vector<RowIds> all() const;

 private:
  mutable std::mutex mutex_;
  std::vector<RowIds> orders_;
};

/// A running pipeline. One thread of its own drives all stages ahead of the reader, bounded in rows and
/// bytes; it sleeps while the queue is full and has ended when the iterator is destroyed or stopped. For one
/// reader at a time.
class SORUS_API DatasetIterator {
 public:
  DatasetIterator(NodePtr node, const IterateOptions& options);
  ~DatasetIterator();
  DatasetIterator(DatasetIterator&&) noexcept;
  DatasetIterator& operator=(DatasetIterator&&) = delete;

  enum class Event {
    kRow,         ///< current() and row() are the next row
    kEndOfEpoch,  ///< the epoch is over; ask again for the next
    kFinished,    ///< all epochs are over
    kNotYet       ///< nothing came while waiting
  };
  /// The next event; waits for at most `patience`. Rethrows what a stage threw, after which the run has
  /// finished. Throws RuntimeError in a forked child.
  Event poll(std::chrono::milliseconds patience);
  /// Valid after kRow until the next poll().
  [[nodiscard]] const Chunk& current() const;
  [[nodiscard]] int64_t row() const;
  /// Where the reader stands. May wait for the beginning of the epoch; throws RuntimeError when the pipeline
  /// ended before it.
  [[nodiscard]] IteratorState state() const;
  /// Goes on where another iterator of such a pipeline stood, in this process or another, with any number of
  /// threads: the rows that follow are those that it would have got. Begins anew for that. Throws ValueError
  /// naming the first step that differs; a source that has fewer rows than it had is an error of the run.
  void load(const IteratorState& state);
  /// Where the time went, until now or the end of the run; a step inside flat_map or fix_order counts as
  /// that.
  [[nodiscard]] PipelineStatistics statistics() const;
  /// Ends the run. Returns when its thread has ended, which a call of the host language may delay.
  void stop();

  /// The next row of the epoch; false at its end. Asking on starts the next epoch; throws RuntimeError when
  /// there is none.
  bool next(Row& row);

  /// Rows of one epoch for a range-based for.
  class Cursor {
   public:
    using iterator_category = std::input_iterator_tag;
    explicit Cursor(DatasetIterator* from) : from_(from) { ++*this; }
    const Row& operator*() const { return row_; }
    Cursor& operator++() {
      if (!from_->next(row_)) from_ = nullptr;
      return *this;
    }
    bool operator==(std::nullptr_t) const { return from_ == nullptr; }

   private:
    DatasetIterator* from_;
    Row row_;
  };
  Cursor begin() { return Cursor(this); }
  static std::nullptr_t end() { return nullptr; }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sorus::data
