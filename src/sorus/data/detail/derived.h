#pragma once

#include "sorus/data/dataset.h"

/// Beginnings of nodes and stages with one input.
namespace sorus::data {

/// A node that keeps what it does not override.
class Derived : public Node {
 public:
  explicit Derived(NodePtr input) : input_(std::move(input)) {}
  [[nodiscard]] std::optional<int64_t> size() const override { return input_->size(); }
  [[nodiscard]] std::vector<std::string> names() const override { return input_->names(); }
  [[nodiscard]] bool hosted() const override { return input_->hosted(); }

 protected:
  NodePtr input_;
};

/// A running input that hands out its rows in the portions asked for.
class Feed {
 public:
  explicit Feed(std::unique_ptr<Stage> stage) : stage_(std::move(stage)) {}

  /// Rows that can be had at once; reads up to `wanted` when there are none. 0: the epoch is over.
  int64_t available(int64_t wanted) {
    if (rest_.rows == 0 && !over_) {
      rest_ = stage_->next(wanted);
      over_ = rest_.rows == 0;
    }
    return rest_.rows;
  }
  /// The first `count` of the available rows.
  Chunk take(int64_t count) {
    Chunk out = rest_.slice(0, count);
    rest_ = count == rest_.rows ? Chunk{} : rest_.slice(count, rest_.rows - count);
    return out;
  }
  void rewind() {
    rest_ = {};
    over_ = false;
    stage_->rewind();
  }

 private:
  std::unique_ptr<Stage> stage_;
  Chunk rest_;
  bool over_ = false;
};

/// An error that waits until the rows before it have been handed on.
class HeldError {
 public:
  std::exception_ptr& slot() { return error_; }
  explicit operator bool() const { return error_ != nullptr; }
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::exception_ptr error_;
};

}  // namespace sorus::data
