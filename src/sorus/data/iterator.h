#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "sorus/data/stage.h"

namespace sorus::data {

/// A row as the reader gets it: one tensor for each column.
using Row = std::vector<Tensor>;

struct IterateOptions {
  int64_t epochs = 1;                 ///< -1: without end
  std::optional<uint32_t> seed = {};  ///< absent: that of config(), or a fresh one when that is none
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
