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
        run_(run) {}

  Chunk next(int64_t wanted) override {
    int64_t size = batch_size();
    // Batches that are made one by one may differ in size or shape.
    if (options_.size_of || options_.pads || options_.operation) wanted = 1;
    gather(size, wanted);
    int64_t full = held_rows_ / size;
    if (full == 0) {
      error_.rethrow();
      if (held_rows_ == 0 || options_.drop_remainder) return {};
      Chunk rows = take(1, held_rows_);
      return make(std::move(rows), held_rows_taken_, 1);
    }
    Chunk rows = take(std::min(full, wanted), size);
    return make(std::move(rows), size, held_rows_taken_ / size);
  }
  void rewind() override {
    input_.rewind();
    held_.clear();
    held_rows_ = 0;
    info_ = {info_.epoch + 1, 0};
  }

 private:
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
      rows.columns = run_operation(std::move(rows.columns));
      rows.rows = rows.columns.front().rows;
      size = rows.rows;
    }
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

  std::vector<Column> run_operation(std::vector<Column> columns) const {
    std::vector<Column> inputs;
    for (size_t place : places_) inputs.push_back(columns[place]);
    std::vector<Column> outputs = options_.operation->apply(std::move(inputs), info_);
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
    return columns;
  }

  Feed input_;
  BatchOptions options_;
  std::vector<std::string> names_;  ///< of the result
  std::vector<size_t> places_;      ///< of the operation's columns
  Run& run_;
  std::vector<Chunk> held_;
  int64_t held_rows_ = 0;
  int64_t held_rows_taken_ = 0;
  BatchInfo info_;
  HeldError error_;
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
  std::unique_ptr<Stage> start(Run& run) const override {
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
