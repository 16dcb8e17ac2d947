#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "sorus/data/detail/derived.h"
#include "sorus/data/stages/detail/padding.h"

namespace sorus::data {
namespace {

constexpr char kName[] = "bucket_batch_by_length";

/// The extent of the first axis of a column.
class FirstExtent final : public RowLength {
 public:
  std::vector<int64_t> measure(const std::vector<Column>& columns, int64_t rows,
                               std::exception_ptr& error) const override {
    std::vector<int64_t> lengths;
    try {
      for (int64_t i = 0; i < rows; ++i) {
        const Shape shape = columns[0].cell(i).type.shape;
        SORUS_CHECK(shape.rank() > 0, ShapeError,
                    "{}: a row has no length: got a scalar, need 1 axis or more", kName);
        lengths.push_back(shape.size(0));
      }
    } catch (...) {
      error = std::current_exception();
    }
    return lengths;
  }
};

class BucketStage final : public Stage {
 public:
  BucketStage(std::unique_ptr<Stage> input, const BucketOptions& options, std::vector<std::string> names,
              std::vector<size_t> places, Run& run)
      : input_(std::move(input)),
        options_(options),
        names_(std::move(names)),
        places_(std::move(places)),
        buckets_(options.batch_sizes.size()),
        portion_(*std::max_element(options.batch_sizes.begin(), options.batch_sizes.end())),
        run_(run) {}

  /// One batch: they differ in shape.
  Chunk next(int64_t) override {
    while (ready_.empty() && !over_) read();
    if (ready_.empty()) return {};
    Chunk batch = std::move(ready_.front());
    ready_.pop_front();
    return batch;
  }
  void rewind() override {
    input_->rewind();
    for (Bucket& bucket : buckets_) bucket = {};
    ready_.clear();
    over_ = false;
  }
  void save(StageState& state) override { input_->save(state); }
  void load(StageState& state) override { input_->load(state); }

 private:
  struct Bucket {
    std::vector<Chunk> held;
    int64_t rows = 0;
  };

  void read() {
    run_.check();
    error_.rethrow();
    const Chunk chunk = input_->next(run_.flow->gated ? 1 : portion_);
    if (chunk.rows == 0) return end();
    std::vector<Column> columns;
    for (size_t place : places_) columns.push_back(chunk.columns[place]);
    const std::vector<int64_t> lengths = options_.length->measure(columns, chunk.rows, error_.slot());
    for (size_t i = 0; i < lengths.size(); ++i) add(chunk.slice(static_cast<int64_t>(i), 1), lengths[i]);
  }

  void add(Chunk row, int64_t length) {
    SORUS_CHECK(length >= 0, ValueError, "{}: length of a row is out of range: got {}, need 0 or more", kName,
                length);
    const auto& b = options_.boundaries;
    const auto i = static_cast<size_t>(std::upper_bound(b.begin(), b.end(), length) - b.begin());
    SORUS_CHECK(
        !options_.pad_to_boundary || i < b.size(), ValueError,
        "{}: a row is longer than what pad_to_bucket_boundary pads to: got length {}, need less than {}",
        kName, length, b.back());
    Bucket& bucket = buckets_[i];
    bucket.held.push_back(std::move(row));
    if (++bucket.rows == options_.batch_sizes[i]) finish(i);
  }

  /// Makes a batch of what a bucket holds.
  void finish(size_t i) {
    Bucket bucket = std::exchange(buckets_[i], {});
    Chunk rows = concatenate(bucket.held), batch;
    batch.rows = 1;
    for (size_t c = 0; c < rows.columns.size(); ++c) {
      Column& column = rows.columns[c];
      if (options_.pads) column = pad_column(kName, column, padding(c, i), names_[c]);
      batch.columns.push_back(column.batched(bucket.rows, names_[c]));
    }
    ready_.push_back(std::move(batch));
  }

  PadTo padding(size_t column, size_t bucket) const {
    auto found = options_.pad_to.find(names_[column]);
    if (found == options_.pad_to.end()) return {};
    PadTo pad = found->second;
    if (options_.pad_to_boundary)
      std::replace(pad.shape.begin(), pad.shape.end(), int64_t{-1}, options_.boundaries[bucket] - 1);
    return pad;
  }

  void end() {
    for (size_t i = 0; i < buckets_.size(); ++i)
      if (buckets_[i].rows > 0 && !options_.drop_remainder) finish(i);
    over_ = true;
  }

  std::unique_ptr<Stage> input_;
  BucketOptions options_;
  std::vector<std::string> names_;
  std::vector<size_t> places_;
  std::vector<Bucket> buckets_;
  int64_t portion_;
  std::deque<Chunk> ready_;
  bool over_ = false;
  Run& run_;
  HeldError error_;
};

class BucketNode final : public Derived {
 public:
  BucketNode(NodePtr input, BucketOptions options) : Derived(std::move(input)), options_(std::move(options)) {
    check();
    const std::vector<std::string> names = input_->names();
    for (const std::string& name : options_.columns) places_.push_back(find_column(kName, names, name));
    for (const auto& [name, pad] : options_.pad_to) (void)find_column(kName, names, name);
    if (!options_.length) options_.length = std::make_shared<FirstExtent>();
  }
  std::unique_ptr<Stage> make(Run& run) const override {
    auto input = input_->start(run);
    return std::make_unique<BucketStage>(std::move(input), options_, input_->names(), places_, run);
  }
  std::optional<int64_t> size() const override { return std::nullopt; }
  bool hosted() const override { return Derived::hosted() || options_.length->hosted(); }
  std::string text() const override {
    return fmt::format("bucket_batch_by_length({}; {}{}; {})", fmt::join(options_.boundaries, ", "),
                       fmt::join(options_.batch_sizes, ", "),
                       options_.drop_remainder ? "; drop_remainder" : "",
                       joined(options_.columns) + options_.length->text());
  }

 private:
  void check() const {
    const auto& b = options_.boundaries;
    SORUS_CHECK(!b.empty() && b.front() > 0 &&
                    std::adjacent_find(b.begin(), b.end(), std::greater_equal<>()) == b.end(),
                ValueError, "{}: bucket_boundaries do not fit: got [{}], need ascending numbers above 0",
                kName, fmt::join(b, ", "));
    SORUS_CHECK(options_.batch_sizes.size() == b.size() + 1, ValueError,
                "{}: number of bucket_batch_sizes does not fit: got {}, need {}, one more than boundaries",
                kName, options_.batch_sizes.size(), b.size() + 1);
    for (int64_t size : options_.batch_sizes)
      SORUS_CHECK(size > 0, ValueError, "{}: a batch size is out of range: got {}, need 1 or more", kName,
                  size);
    SORUS_CHECK(options_.length || options_.columns.size() == 1, ValueError,
                "{}: columns do not tell a length: got {} of them without a function, need 1", kName,
                options_.columns.size());
  }
  BucketOptions options_;
  std::vector<size_t> places_;
};

}  // namespace

Dataset Dataset::bucket_batch_by_length(BucketOptions options) const {
  return Dataset(std::make_shared<BucketNode>(node_, std::move(options)));
}

}  // namespace sorus::data
