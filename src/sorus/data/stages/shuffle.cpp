#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "sorus/data/detail/derived.h"

namespace sorus::data {
namespace {

/// Rows that come and go one by one: numbered slots in one store for each column.
class SlotStore {
 public:
  /// Copies one row into a slot.
  void put(int64_t slot, const Chunk& from, int64_t row) {
    if (columns_.size() < from.columns.size()) columns_.resize(from.columns.size());
    for (size_t c = 0; c < from.columns.size(); ++c) put(columns_[c], slot, from.columns[c], row);
  }
  [[nodiscard]] Chunk gather(std::span<const int64_t> slots) const {
    Chunk out;
    out.rows = static_cast<int64_t>(slots.size());
    for (const Slots& slots_of : columns_) {
      if (slots_of.dense.rows > 0) {
        out.columns.push_back(slots_of.dense.gather(slots));
        continue;
      }
      std::vector<Column> cells;
      for (int64_t slot : slots) cells.push_back(slots_of.cells[static_cast<size_t>(slot)]);
      out.columns.push_back(concatenate(cells));
    }
    return out;
  }

 private:
  /// Either `dense`, whose rows are the slots, or one cell a slot.
  struct Slots {
    Column dense;
    std::vector<Column> cells;
  };

  static void put(Slots& slots, int64_t slot, const Column& from, int64_t row) {
    bool dense = !from.is_ragged() && from.type.kind == ItemKind::kNumbers && slots.cells.empty() &&
                 (slots.dense.rows == 0 || slots.dense.type == from.type);
    if (!dense) {
      spill(slots);
      if (std::ssize(slots.cells) <= slot) slots.cells.resize(static_cast<size_t>(slot) + 1);
      slots.cells[static_cast<size_t>(slot)] = from.cell(row);
      return;
    }
    if (slots.dense.rows <= slot) grow(slots.dense, from.type, slot + 1);
    std::memcpy(slots.dense.row(slot), from.row(row), from.type.bytes());
  }
  static void grow(Column& dense, const RowType& type, int64_t rows) {
    constexpr int64_t kFirst = 64;
    Column larger = make_numbers(type, std::max({rows, 2 * dense.rows, kFirst}));
    if (dense.rows > 0) std::memcpy(larger.row(0), dense.row(0), dense.bytes());
    dense = std::move(larger);
  }
  /// Rows of another type came: from now on every slot is a cell.
  static void spill(Slots& slots) {
    for (int64_t i = 0; i < slots.dense.rows; ++i) {
      const int64_t id = i;
      slots.cells.push_back(slots.dense.gather(std::span(&id, 1)));
    }
    slots.dense = {};
  }

  std::vector<Slots> columns_;
};

/// The order is that of MindSpore's shuffle: a row is drawn with mt19937_64 % rows from the buffer, the last
/// row takes its place, and a new row becomes the last. The generator runs on from epoch to epoch.
class ShuffleStage final : public Stage {
 public:
  /// `rows`: of each epoch, where that is known.
  ShuffleStage(std::unique_ptr<Stage> input, int64_t buffer_size, std::optional<int64_t> rows, Run& run)
      : input_(std::move(input)),
        run_(run),
        buffer_size_(buffer_size),
        rows_(rows),
        random_(run.order_seed) {}

  Chunk next(int64_t wanted) override {
    fill();
    // Slots drawn from are given free only after their rows have been copied together.
    std::vector<int64_t> drawn;
    while (std::ssize(drawn) < wanted && !order_.empty()) {
      run_.check();
      const size_t place = draw();
      drawn.push_back(order_[place]);
      order_[place] = order_.back();
      order_.pop_back();
      // No more is read than the rows handed on ask for: what a step before draws may depend on it.
      if (has_row(wanted - std::ssize(drawn) + 1)) add_row();
    }
    if (drawn.empty()) return {};
    taken_ += std::ssize(drawn);
    Chunk out = store_.gather(drawn);
    free_.insert(free_.end(), drawn.begin(), drawn.end());
    return out;
  }
  void rewind() override {
    input_.rewind();
    free_.insert(free_.end(), order_.begin(), order_.end());
    order_.clear();
    filled_ = false;
    current_ = {};
    row_ = 0;
    taken_ = 0;
  }
  /// At the beginning of an epoch the draws alone tell which rows remain in the buffer: only those are read.
  int64_t skip(int64_t count) override {
    if (!rows_) return Stage::skip(count);
    if (filled_) return count >= *rows_ - taken_ ? skip_all() : Stage::skip(count);
    filled_ = true;
    int64_t next = std::min(buffer_size_, *rows_);
    order_.resize(static_cast<size_t>(next));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    int64_t skipped = 0;
    for (; skipped < count && !order_.empty(); ++skipped) {
      const size_t place = draw();
      order_[place] = order_.back();
      order_.pop_back();
      if (next < *rows_) order_.push_back(next++);
    }
    taken_ = skipped;
    read_buffer(next);
    return skipped;
  }
  void save(StageState& state) override {
    state.numbers.push_back(draws_);
    input_.save(state);
  }
  void load(StageState& state) override {
    draws_ = state.take_number();
    random_.discard(static_cast<uint64_t>(draws_));
    input_.load(state);
  }

 private:
  size_t draw() {
    ++draws_;
    return static_cast<size_t>(random_() % order_.size());
  }
  /// Passes over the rest of an epoch: only the generator must know.
  int64_t skip_all() {
    const int64_t rows = *rows_ - taken_;
    random_.discard(static_cast<uint64_t>(rows));
    draws_ += rows;
    taken_ = *rows_;
    free_.insert(free_.end(), order_.begin(), order_.end());
    order_.clear();
    return rows;
  }
  /// Reads the rows whose numbers stand in `order_`, of the first `end` of the input; slots take their place.
  void read_buffer(int64_t end) {
    std::vector<std::pair<int64_t, size_t>> wanted;  // number of a row and its place
    for (size_t place = 0; place < order_.size(); ++place) wanted.emplace_back(order_[place], place);
    std::sort(wanted.begin(), wanted.end());
    slots_ = 0;
    free_.clear();
    int64_t at = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      run_.check();
      const auto [number, place] = wanted[i];
      int64_t together = 1;  // rows wanted that follow each other
      while (together < kPortion && i + static_cast<size_t>(together) < wanted.size() &&
             wanted[i + static_cast<size_t>(together)].first == number + together)
        ++together;
      pass_over(number - at);
      at = number + 1;
      SORUS_CHECK(input_.available(together) > 0, RuntimeError,
                  "shuffle: cannot go on: the source ended at row {}, need {} rows as it had", number,
                  *rows_);
      store_.put(slots_, input_.take(1), 0);
      order_[place] = slots_++;
    }
    pass_over(end - at);
  }
  void pass_over(int64_t count) {
    if (count == 0) return;
    const int64_t rows = input_.skip(count);
    SORUS_CHECK(rows == count, RuntimeError,
                "shuffle: cannot go on: the source ended {} rows early, need {} rows as it had", count - rows,
                *rows_);
  }

  void fill() {
    if (filled_) return;
    while (std::ssize(order_) < buffer_size_) {
      run_.check();
      if (!has_row(std::min(kPortion, buffer_size_ - std::ssize(order_)))) break;
      add_row();
    }
    filled_ = true;
  }
  bool has_row(int64_t wanted) { return row_ < current_.rows || input_.available(wanted) > 0; }
  void add_row() {
    if (row_ == current_.rows) {
      current_ = input_.take(input_.available(1));
      row_ = 0;
    }
    int64_t slot = slots_;
    if (free_.empty()) {
      ++slots_;
    } else {
      slot = free_.back();
      free_.pop_back();
    }
    store_.put(slot, current_, row_++);
    order_.push_back(slot);
  }

  static constexpr int64_t kPortion = 256;

  Feed input_;
  Run& run_;
  int64_t buffer_size_;
  std::optional<int64_t> rows_;
  std::mt19937_64 random_;
  int64_t draws_ = 0;
  int64_t taken_ = 0;  ///< rows handed on in this epoch
  SlotStore store_;
  std::vector<int64_t> order_;  ///< slots of the buffer, by place
  std::vector<int64_t> free_;
  int64_t slots_ = 0;
  bool filled_ = false;
  Chunk current_;  ///< rows of the input not yet in the buffer: those from row_ on
  int64_t row_ = 0;
};

class ShuffleNode final : public Derived {
 public:
  ShuffleNode(NodePtr input, int64_t buffer_size) : Derived(std::move(input)), buffer_size_(buffer_size) {
    SORUS_CHECK(buffer_size > 1, ValueError, "shuffle: buffer_size is out of range: got {}, need 2 or more",
                buffer_size);
  }
  std::unique_ptr<Stage> make(Run& run) const override {
    auto input = input_->start(run);
    return std::make_unique<ShuffleStage>(std::move(input), buffer_size_,
                                          input_->has_exact_size() ? input_->size() : std::nullopt, run);
  }
  std::string text() const override { return "shuffle(" + std::to_string(buffer_size_) + ")"; }

 private:
  int64_t buffer_size_;
};

}  // namespace

Dataset Dataset::shuffle(int64_t buffer_size) const {
  SORUS_CHECK(gates_of(node_).empty(), RuntimeError,
              "shuffle: sync_wait comes before: need shuffle before sync_wait, since its buffer would hold "
              "rows back");
  return Dataset(std::make_shared<ShuffleNode>(node_, buffer_size));
}

}  // namespace sorus::data
