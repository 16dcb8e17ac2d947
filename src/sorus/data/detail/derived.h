#pragma once

#include <algorithm>

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
  [[nodiscard]] std::vector<NodePtr> inputs() const override { return {input_}; }

 protected:
  NodePtr input_;
};

/// True when an input can be passed over to its end without making rows. A step that ends before its inputs
/// does so, as MindSpore reads them to their ends: how an epoch begins depends on where the one before ended.
[[nodiscard]] inline bool ends_cheaply(const Node& input) {
  return input.has_exact_size() && input.size().has_value();
}

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
  /// Passes over up to `count` rows; fewer when the epoch is over.
  int64_t skip(int64_t count) {
    int64_t held = std::min(count, rest_.rows);
    if (held > 0) (void)take(held);
    if (held == count || over_) return held;
    int64_t more = stage_->skip(count - held);
    over_ = more < count - held;
    return held + more;
  }
  void save(StageState& state) { stage_->save(state); }
  void load(StageState& state) { stage_->load(state); }

 private:
  std::unique_ptr<Stage> stage_;
  Chunk rest_;
  bool over_ = false;
};

/// Rows asked for at once for each process of a step: the more, the less do processes wait for the slowest.
inline constexpr int64_t kRowsPerProcess = 4;

/// How many rows the processes of a step get together: one each, and more while that takes little time, so
/// that no row waits long for those behind it.
class SharedPortion {
 public:
  explicit SharedPortion(int64_t processes) : least_(std::max<int64_t>(processes, 1)), rows_(least_) {}
  [[nodiscard]] int64_t rows() const { return rows_; }
  /// Calls `work`, which handles a portion, and judges the time it takes.
  template <class Work>
  auto timed(Work work) {
    const auto start = std::chrono::steady_clock::now();
    auto result = work();
    const auto took = std::chrono::steady_clock::now() - start;
    if (took > kLong) rows_ = std::max(rows_ / 2, least_);
    if (took < kShort) rows_ = std::min(rows_ * 2, kMost);
    return result;
  }

 private:
  static constexpr std::chrono::milliseconds kShort{50};
  static constexpr std::chrono::milliseconds kLong{200};
  static constexpr int64_t kMost = 1 << 20;
  int64_t least_;
  int64_t rows_;
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
