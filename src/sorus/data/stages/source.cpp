#include "sorus/data/classes.h"
#include "sorus/data/detail/derived.h"
#include "sorus/data/row_reader.h"

namespace sorus::data {
namespace {

class SourceStage final : public Stage {
 public:
  /// `keeps`: the sampler's choices, in the state.
  SourceStage(std::shared_ptr<const RandomAccess> source, SamplerRun sampler, bool keeps, Run& run)
      : source_(std::move(source)), sampler_(std::move(sampler)), run_(run), portion_(source_->processes()) {
    if (keeps) kept_ = std::make_shared<KeptOrders>();
    run.flow->together = std::max(run.flow->together, kRowsPerProcess * source_->processes());
    draw();
  }

  Chunk next(int64_t wanted) override {
    error_.rethrow();
    int64_t count = std::min(wanted, ids_.count - place_);
    if (count == 0) return {};
    auto read = [&] { return source_->read(ids_, place_, count, run_, error_.slot()); };
    if (source_->processes() > 0) count = std::min(count, portion_.rows());
    Chunk chunk = source_->processes() > 0 ? portion_.timed(read) : read();
    if (chunk.rows == 0) error_.rethrow();
    place_ += chunk.rows;
    return chunk;
  }
  void rewind() override { draw(); }
  int64_t skip(int64_t count) override {
    count = std::min(count, ids_.count - place_);
    place_ += count;
    return count;
  }
  void save(StageState& state) override {
    state.numbers.push_back(draws_);
    if (!kept_) return;
    // At the beginning of a run the order is that of the coming epoch, else of the one that is over.
    kept_ = std::make_shared<KeptOrders>();
    if (draws_ == 1) kept_->add(ids_);
    rounds_ = draws_ == 1 ? 1 : 0;
    state.objects.push_back(kept_);
  }
  void load(StageState& state) override {
    const int64_t draws = state.take_number();
    if (!kept_) {
      while (draws_ < draws) draw();
      return;
    }
    kept_ = std::dynamic_pointer_cast<KeptOrders>(state.take_object());
    SORUS_CHECK(kept_, ValueError,
                "dataset iterator: state does not fit: need the rows that a sampler chose");
    rounds_ = 0;
    draws_ = draws;
    if (draws == 1) {
      --draws_;
      draw();
    }
  }

 private:
  /// The rows of the next epoch. Those that the host's sampler chose before are kept, since it need not
  /// choose them again.
  void draw() {
    place_ = 0;
    ++draws_;
    if (kept_ && kept_->get(rounds_, ids_)) {
      ++rounds_;
      return;
    }
    ids_ = sampler_();
    if (kept_) kept_->add(ids_);
    ++rounds_;
  }

  std::shared_ptr<const RandomAccess> source_;
  SamplerRun sampler_;
  Run& run_;
  SharedPortion portion_;
  RowIds ids_;
  int64_t place_ = 0;
  int64_t draws_ = 0;                 ///< epochs begun
  std::shared_ptr<KeptOrders> kept_;  ///< with a sampler of the host
  size_t rounds_ = 0;                 ///< epochs since the orders are kept
  HeldError error_;
};

class SourceNode final : public Node, public ReadsSingleRows {
 public:
  SourceNode(std::shared_ptr<const RandomAccess> source, SamplerPtr sampler)
      : source_(std::move(source)), sampler_(std::move(sampler)) {}
  std::unique_ptr<Stage> make(Run& run) const override {
    return std::make_unique<SourceStage>(source_, order(run.order_seed), sampler_->hosted(), run);
  }
  std::vector<NodePtr> inputs() const override { return {}; }
  std::string text() const override {
    const auto chosen = size();
    return "source(" + joined(names()) + "; " + std::to_string(source_->rows()) + " rows, " +
           (chosen ? std::to_string(*chosen) : "some") + " read)";
  }
  ReadRow row_reader(uint32_t seed) const override {
    auto ids = std::make_shared<const RowIds>(order(seed)());
    return [source = source_, ids](int64_t place) {
      SORUS_CHECK(place >= 0 && place < ids->count, IndexError,
                  "dataset: row is out of range: got {}, need 0 to {}", place, ids->count - 1);
      std::exception_ptr error;
      Chunk row = source->read(*ids, place, 1, Run{}, error);
      if (error) std::rethrow_exception(error);
      return row;
    };
  }
  std::optional<int64_t> size() const override { return sampler_->count(source_->rows()); }
  std::vector<std::string> names() const override { return source_->names(); }
  bool hosted() const override { return source_->hosted(); }

 private:
  [[nodiscard]] SamplerRun order(uint32_t seed) const {
    const int64_t rows = source_->rows();
    return source_->has_record_order() ? sampler_->start_records(rows, seed) : sampler_->start(rows, seed);
  }
  std::shared_ptr<const RandomAccess> source_;
  SamplerPtr sampler_;
};

class Columns final : public RandomAccess {
 public:
  Columns(std::vector<std::string> names, Chunk rows) : names_(std::move(names)), rows_(std::move(rows)) {
    SORUS_CHECK(names_.size() == rows_.columns.size(), ValueError,
                "dataset: number of column names does not fit: got {} names for {} columns", names_.size(),
                rows_.columns.size());
    for (size_t c = 0; c < names_.size(); ++c)
      SORUS_CHECK(rows_.columns[c].rows == rows_.rows, ShapeError,
                  "dataset: columns differ in length: got {} rows in '{}', need {} as in '{}'",
                  rows_.columns[c].rows, names_[c], rows_.rows, names_[0]);
  }
  int64_t rows() const override { return rows_.rows; }
  std::vector<std::string> names() const override { return names_; }
  Chunk read(const RowIds& ids, int64_t begin, int64_t count, const Run&,
             std::exception_ptr&) const override {
    return pick(rows_, ids, begin, count);
  }

 private:
  std::vector<std::string> names_;
  Chunk rows_;
};

}  // namespace

Chunk pick(const Chunk& rows, const RowIds& ids, int64_t begin, int64_t count) {
  if (ids.list.empty()) return rows.slice(ids.first + begin, count);
  return rows.gather(std::span(ids.list).subspan(static_cast<size_t>(begin), static_cast<size_t>(count)));
}

Dataset from_source(std::shared_ptr<const RandomAccess> source, SamplerPtr sampler) {
  sampler = sampler_for(sampler, [source](const std::string& column) {
    const auto* has = dynamic_cast<const HasClasses*>(source.get());
    SORUS_CHECK(has, ValueError,
                "PKSampler: this source has no classes: need one of images with labels, or MindDataset");
    return has->classes(column);
  });
  return Dataset(std::make_shared<SourceNode>(std::move(source), std::move(sampler)));
}

Dataset from_columns(std::vector<std::string> names, Chunk rows, SamplerPtr sampler) {
  return from_source(std::make_shared<Columns>(std::move(names), std::move(rows)), std::move(sampler));
}

Dataset from_tensors(std::vector<std::string> names, const std::vector<Tensor>& tensors, SamplerPtr sampler) {
  SORUS_CHECK(!tensors.empty(), ValueError, "dataset: no columns: need one tensor or more");
  Chunk rows;
  for (const Tensor& tensor : tensors) rows.columns.push_back(rows_of(tensor));
  rows.rows = rows.columns.front().rows;
  return from_columns(std::move(names), std::move(rows), std::move(sampler));
}

SamplerPtr choose_sampler(const char* source, const SourceOptions& o) {
  SORUS_CHECK(o.num_shards.has_value() == o.shard_id.has_value(), ValueError,
              "{}: num_shards and shard_id belong together: got one of them, need both or none", source);
  SORUS_CHECK(!o.num_samples || *o.num_samples >= 0, ValueError,
              "{}: num_samples is out of range: got {}, need 0 or more", source, o.num_samples.value_or(0));
  std::optional<int64_t> samples = o.num_samples.value_or(0) == 0 ? std::nullopt : o.num_samples;
  if (o.sampler) {
    SORUS_CHECK(!o.shuffle && !o.num_shards, ValueError,
                "{}: sampler excludes shuffle, num_shards and shard_id: got both, need one way", source);
    return samples ? limited_sampler(o.sampler, *samples) : o.sampler;
  }
  bool shuffle = o.shuffle.value_or(true);
  if (o.num_shards) return distributed_sampler(*o.num_shards, *o.shard_id, shuffle, samples);
  // A limited number of shuffled rows is drawn with replacement, as by the engine that this follows.
  return shuffle ? random_sampler(samples.has_value(), samples) : sequential_sampler(0, samples);
}

}  // namespace sorus::data
