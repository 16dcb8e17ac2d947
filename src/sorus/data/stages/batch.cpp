#include <algorithm>

#include "sorus/data/detail/derived.h"
#include "sorus/data/stages/detail/padding.h"

namespace sorus::data {
namespace {

class BatchStage final : public Stage {
 public:
  BatchStage(std::unique_ptr<Stage> input, const BatchOptions& options, std::vector<std::string> names,
             std::vector<size_t> places, Run& run)
      : input_(std::move(input)),
        options_(options),
        names_(std::move(names)),
        places_(std::move(places)),
        processes_(options.operation ? options.operation->processes() : 0),
        portion_(processes_),
        run_(run) {
    run.flow->together = std::max(run.flow->together, kBatchesPerProcess * processes_);
  }

  Chunk next(int64_t wanted) override {
    int64_t size = batch_size();
    if (processes_ > 0 && !options_.size_of) return next_in_processes(size, wanted);
    // Batches that are made one by one may differ in size or shape.
    if (options_.size_of || options_.pads || options_.operation) wanted = 1;
    gather(size, wanted);
    int64_t full = held_rows_ / size;
    if (full == 0) return last();
    Chunk rows = take(std::min(full, wanted), size);
    return make(std::move(rows), size, held_rows_taken_ / size);
  }
  void rewind() override {
    input_.rewind();
    held_.clear();
    held_rows_ = 0;
    info_ = {info_.epoch + 1, 0};
  }
  int64_t skip(int64_t count) override {
    int64_t skipped = 0;
    while (skipped < count) {
      const int64_t size = batch_size();
      // Batches of one size are passed over together.
      int64_t batches = options_.size_of ? 1 : std::min(count - skipped, INT64_MAX / size);
      const int64_t rows = input_.skip(batches * size);
      const bool over = rows < batches * size;
      batches = rows / size + (rows % size > 0 && !options_.drop_remainder ? 1 : 0);
      info_.batch += batches;
      skipped += batches;
      if (over) break;
    }
    return skipped;
  }
  void save(StageState& state) override {
    state.numbers.push_back(info_.epoch);
    input_.save(state);
  }
  void load(StageState& state) override {
    info_.epoch = state.take_number();
    input_.load(state);
  }

 private:
  static constexpr int64_t kBatchesPerProcess = 2;

  /// What is left at the end of an epoch.
  Chunk last() {
    error_.rethrow();
    if (held_rows_ == 0 || options_.drop_remainder) return {};
    Chunk rows = take(1, held_rows_);
    return make(std::move(rows), held_rows_taken_, 1);
  }

  /// Several batches, whose rows the processes of the operation get at the same time.
  Chunk next_in_processes(int64_t size, int64_t wanted) {
    failed_.rethrow();
    wanted = std::min(wanted, portion_.rows());
    gather(size, wanted);
    const int64_t full = std::min(held_rows_ / size, wanted);
    if (full == 0) return last();
    std::vector<Chunk> rows;
    std::vector<std::vector<Column>> inputs;
    for (int64_t i = 0; i < full; ++i) {
      rows.push_back(take(1, size));
      inputs.push_back(inputs_of(rows.back().columns));
    }
    auto outputs = portion_.timed(
        [&] { return options_.operation->apply_all(std::move(inputs), info_, failed_.slot()); });
    std::vector<Chunk> batches;
    for (size_t i = 0; i < outputs.size(); ++i)
      batches.push_back(assemble(wired(std::move(rows[i].columns), std::move(outputs[i])), 1));
    if (batches.empty()) failed_.rethrow();
    return concatenate(batches);
  }

  std::vector<Column> inputs_of(const std::vector<Column>& columns) const {
    std::vector<Column> inputs;
    for (size_t place : places_) inputs.push_back(columns[place]);
    return inputs;
  }

  int64_t batch_size() const {
    int64_t size = options_.size_of ? options_.size_of(info_) : options_.size;
    SORUS_CHECK(size > 0, ValueError, "batch: batch_size is out of range: got {}, need 1 or more", size);
    return size;
  }

  /// Collects rows for `wanted` batches, or for one when rows come slowly.
  void gather(int64_t size, int64_t wanted) {
    int64_t need = 0;
    if (__builtin_mul_overflow(size, wanted, &need)) need = size;
    Patience patience;
    try {
      while (!error_ && held_rows_ < need && !(held_rows_ >= size && patience.ended())) {
        run_.check();
        constexpr int64_t kPortion = int64_t{1} << 14;
        int64_t portion = std::min(need - held_rows_, std::max(size, kPortion));
        int64_t count = std::min(input_.available(portion), portion);
        if (count == 0) break;
        held_.push_back(input_.take(count));
        held_rows_ += count;
      }
    } catch (const Cancelled&) {
      throw;
    } catch (...) {
      error_.slot() = std::current_exception();
    }
  }

  /// The rows of `batches` batches, or of one when rows differ: batches may then differ in shape.
  Chunk take(int64_t batches, int64_t size) {
    Chunk all = concatenate(held_);
    held_.clear();
    bool ragged =
        std::any_of(all.columns.begin(), all.columns.end(), [](const Column& c) { return c.is_ragged(); });
    int64_t rows = (ragged ? 1 : batches) * size;
    held_rows_taken_ = rows;
    if (rows < held_rows_) held_.push_back(all.slice(rows, held_rows_ - rows));
    held_rows_ -= rows;
    return all.slice(0, rows);
  }

  Chunk make(Chunk rows, int64_t size, int64_t batches) {
    if (options_.operation) {
      auto outputs = options_.operation->apply(inputs_of(rows.columns), info_);
      return assemble(wired(std::move(rows.columns), std::move(outputs)), 1);
    }
    return assemble(std::move(rows), batches, size);
  }

  /// Rows with equally many for each batch (`size` 0: all of them for one), as batches.
  Chunk assemble(Chunk rows, int64_t batches, int64_t size = 0) {
    if (size == 0) size = rows.rows;
    Chunk out;
    out.rows = batches;
    for (size_t c = 0; c < rows.columns.size(); ++c) {
      Column& column = rows.columns[c];
      if (options_.pads) {
        auto pad = options_.pad_to.find(names_[c]);
        if (pad != options_.pad_to.end() || options_.pad_to.empty())
          column =
              pad_column("padded_batch", column, options_.pad_to.empty() ? PadTo{} : pad->second, names_[c]);
      }
      out.columns.push_back(column.batched(size, names_[c]));
    }
    info_.batch += batches;
    return out;
  }

  /// What the operation gave, with the columns that it did not take.
  Chunk wired(std::vector<Column> columns, std::vector<Column> outputs) const {
    size_t left = columns.size() - places_.size();
    SORUS_CHECK(outputs.size() + left == names_.size(), ValueError,
                "batch: number of columns does not fit: per_batch_map gave {}, need {}", outputs.size(),
                names_.size() - left);
    if (outputs.size() == places_.size()) {
      for (size_t i = 0; i < places_.size(); ++i) columns[places_[i]] = std::move(outputs[i]);
    } else {
      for (size_t c = 0; c < columns.size(); ++c)
        if (std::find(places_.begin(), places_.end(), c) == places_.end())
          outputs.push_back(std::move(columns[c]));
      columns = std::move(outputs);
    }
    for (size_t c = 1; c < columns.size(); ++c)
      SORUS_CHECK(columns[c].rows == columns[0].rows, ValueError,
                  "batch: columns of a batch differ in length: got {} rows in '{}', need {} as in '{}'",
                  columns[c].rows, names_[c], columns[0].rows, names_[0]);
    const int64_t rows = columns.front().rows;
    return {std::move(columns), rows};
  }

  Feed input_;
  BatchOptions options_;
  std::vector<std::string> names_;  ///< of the result
  std::vector<size_t> places_;      ///< of the operation's columns
  int64_t processes_;
  SharedPortion portion_;  ///< batches that the processes get
  Run& run_;
  std::vector<Chunk> held_;
  int64_t held_rows_ = 0;
  int64_t held_rows_taken_ = 0;
  BatchInfo info_;
  HeldError error_;   ///< of the input
  HeldError failed_;  ///< of the operation in processes
};

class BatchNode final : public Derived {
 public:
  BatchNode(NodePtr input, BatchOptions options) : Derived(std::move(input)), options_(std::move(options)) {
    SORUS_CHECK(options_.size > 0 || options_.size_of, ValueError,
                "batch: batch_size is out of range: got {}, need 1 or more", options_.size);
    names_ = input_->names();
    for (const auto& [name, pad] : options_.pad_to) (void)find_column("padded_batch", names_, name);
    if (options_.operation) wire();
  }
  std::unique_ptr<Stage> make(Run& run) const override {
    auto input = input_->start(run);
    return std::make_unique<BatchStage>(std::move(input), options_, names_, places_, run);
  }
  std::optional<int64_t> size() const override {
    auto rows = input_->size();
    if (!rows || options_.size_of || *rows < 0) return options_.size_of ? std::nullopt : rows;
    return options_.drop_remainder ? *rows / options_.size : (*rows + options_.size - 1) / options_.size;
  }
  std::vector<std::string> names() const override { return names_; }
  bool hosted() const override {
    return Derived::hosted() || options_.operation || static_cast<bool>(options_.size_of);
  }
  std::string text() const override {
    std::string text = options_.pads ? "padded_batch(" : "batch(";
    text += options_.size_of ? "function" : std::to_string(options_.size);
    if (options_.drop_remainder) text += ", drop_remainder";
    if (options_.operation) text += ", " + options_.operation->text();
    return text + ")";
  }

 private:
  void wire() {
    std::vector<std::string> inputs = options_.inputs.empty() ? names_ : options_.inputs;
    for (const std::string& input : inputs) places_.push_back(find_column("batch", names_, input));
    if (options_.outputs.empty()) return;
    if (options_.outputs.size() == inputs.size()) {
      for (size_t i = 0; i < inputs.size(); ++i) names_[places_[i]] = options_.outputs[i];
      return;
    }
    std::vector<std::string> names = options_.outputs;
    for (size_t c = 0; c < names_.size(); ++c)
      if (std::find(places_.begin(), places_.end(), c) == places_.end()) names.push_back(names_[c]);
    names_ = std::move(names);
  }
  BatchOptions options_;
  std::vector<std::string> names_;
  std::vector<size_t> places_;
};

}  // namespace

std::vector<std::vector<Column>> BatchOperation::apply_all(std::vector<std::vector<Column>> batches,
                                                           const BatchInfo& first,
                                                           std::exception_ptr& error) const {
  std::vector<std::vector<Column>> done;
  BatchInfo info = first;
  try {
    for (auto& batch : batches) {
      done.push_back(apply(std::move(batch), info));
      ++info.batch;
    }
  } catch (...) {
    error = std::current_exception();
  }
  return done;
}

Dataset Dataset::batch(BatchOptions options) const {
  return Dataset(std::make_shared<BatchNode>(node_, std::move(options)));
}
Dataset Dataset::batch(int64_t size, bool drop_remainder) const {
  BatchOptions options;
  options.size = size;
  options.drop_remainder = drop_remainder;
  return batch(std::move(options));
}

}  // namespace sorus::data
