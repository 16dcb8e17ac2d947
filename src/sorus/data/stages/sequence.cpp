#include <algorithm>

#include "sorus/data/detail/derived.h"

/// Steps that choose rows and epochs: repeat, take, skip, concat, filter.
namespace sorus::data {
namespace {

class RepeatStage final : public Stage {
 public:
  RepeatStage(std::unique_ptr<Stage> input, int64_t count) : input_(std::move(input)), count_(count) {}
  Chunk next(int64_t wanted) override {
    while (true) {
      Chunk chunk = input_->next(wanted);
      if (chunk.rows > 0) {
        empty_ = false;
        return chunk;
      }
      if (done_ + 1 == count_ || empty_) return {};
      ++done_;
      empty_ = true;
      input_->rewind();
    }
  }
  void rewind() override {
    done_ = 0;
    empty_ = true;
    input_->rewind();
  }
  int64_t skip(int64_t count) override {
    int64_t skipped = 0;
    while (true) {
      const int64_t rows = input_->skip(count - skipped);
      skipped += rows;
      if (rows > 0) empty_ = false;
      if (skipped == count || done_ + 1 == count_ || empty_) return skipped;
      ++done_;
      empty_ = true;
      input_->rewind();
    }
  }
  void save(StageState& state) override { input_->save(state); }
  void load(StageState& state) override { input_->load(state); }

 private:
  std::unique_ptr<Stage> input_;
  int64_t count_;
  int64_t done_ = 0;
  bool empty_ = true;  ///< nothing has come in this round, so nothing will in the next
};

class RepeatNode final : public Derived {
 public:
  RepeatNode(NodePtr input, int64_t count) : Derived(std::move(input)), count_(count) {
    SORUS_CHECK(count == -1 || count > 0, ValueError,
                "repeat: count is out of range: got {}, need -1 or more than 0", count);
  }
  std::unique_ptr<Stage> make(Run& run) const override {
    return std::make_unique<RepeatStage>(input_->start(run), count_);
  }
  std::optional<int64_t> size() const override {
    auto rows = input_->size();
    int64_t all = 0;
    if (!rows || count_ < 0) return rows;  // an endless one has the size of a round
    SORUS_CHECK(!__builtin_mul_overflow(*rows, count_, &all), ValueError,
                "repeat: too many rows: got {} times {}, need fewer than 2^63", *rows, count_);
    return all;
  }
  std::string text() const override { return "repeat(" + std::to_string(count_) + ")"; }
  bool has_exact_size() const override { return count_ > 0 && Derived::has_exact_size(); }

 private:
  int64_t count_;
};

/// Begins each epoch as if it were the first, except for random transforms.
class FixedOrderStage final : public Stage {
 public:
  FixedOrderStage(NodePtr input, uint32_t seed, Run& outer)
      : input_(std::move(input)),
        seed_(seed),
        outer_(outer),
        first_place_(outer.next_place() << 32),
        epoch_(outer.first_epoch) {
    begin();
  }
  Chunk next(int64_t wanted) override { return stage_->next(wanted); }
  void rewind() override {
    ++epoch_;
    begin();
  }
  int64_t skip(int64_t count) override { return stage_->skip(count); }
  // The stages inside begin each epoch as new ones, so there is nothing else to know.
  void save(StageState& state) override { state.numbers.push_back(static_cast<int64_t>(epoch_)); }
  void load(StageState& state) override {
    epoch_ = static_cast<uint64_t>(state.take_number());
    begin();
  }

 private:
  void begin() {
    stage_ = nullptr;
    run_ = std::make_unique<Run>(first_place_);
    run_->seed = outer_.seed;
    run_->order_seed = seed_;
    run_->first_epoch = epoch_;
    run_->outer = &outer_;
    run_->flow = outer_.flow;
    stage_ = input_->start(*run_);
  }
  NodePtr input_;
  uint32_t seed_;
  const Run& outer_;
  uint64_t first_place_;  ///< of the steps inside, apart from those of others
  uint64_t epoch_;
  std::unique_ptr<Run> run_;
  std::unique_ptr<Stage> stage_;
};

class FixedOrderNode final : public Derived {
 public:
  FixedOrderNode(NodePtr input, uint32_t seed) : Derived(std::move(input)), seed_(seed) {}
  std::unique_ptr<Stage> make(Run& run) const override {
    return std::make_unique<FixedOrderStage>(input_, seed_, run);
  }
  std::string text() const override { return "fix_order(" + std::to_string(seed_) + ")"; }

 private:
  uint32_t seed_;
};

/// Rows [first, first + count) of an epoch.
class WindowStage final : public Stage {
 public:
  /// `ending`: what ends_cheaply() says of the input.
  WindowStage(std::unique_ptr<Stage> input, int64_t first, int64_t count, bool ending, Run& run)
      : input_(std::move(input)), first_(first), count_(count), ending_(ending), run_(run) {}
  Chunk next(int64_t wanted) override {
    while (place_ < first_) {
      run_.check();
      constexpr int64_t kPortion = 256;
      Chunk unread = input_->next(std::min(kPortion, first_ - place_));
      if (unread.rows == 0) return {};
      place_ += unread.rows;
    }
    int64_t left = count_ < 0 ? wanted : count_ - (place_ - first_);
    if (left <= 0) return end();
    Chunk chunk = input_->next(std::min(wanted, left));
    place_ += chunk.rows;
    return chunk;
  }
  void rewind() override {
    place_ = 0;
    input_->rewind();
  }
  int64_t skip(int64_t count) override {
    if (place_ < first_) place_ += input_->skip(first_ - place_);
    if (place_ < first_) return 0;
    const int64_t left = count_ < 0 ? count : count_ - (place_ - first_);
    const int64_t skipped = left <= 0 ? 0 : input_->skip(std::min(count, left));
    place_ += skipped;
    if (skipped < count) (void)end();
    return skipped;
  }
  void save(StageState& state) override { input_->save(state); }
  void load(StageState& state) override { input_->load(state); }

 private:
  Chunk end() {
    if (ending_) (void)input_->skip(INT64_MAX);
    return {};
  }
  std::unique_ptr<Stage> input_;
  int64_t first_;
  int64_t count_;
  bool ending_;
  Run& run_;
  int64_t place_ = 0;
};

class WindowNode final : public Derived {
 public:
  WindowNode(NodePtr input, int64_t first, int64_t count)
      : Derived(std::move(input)), first_(first), count_(count) {}
  std::unique_ptr<Stage> make(Run& run) const override {
    auto input = input_->start(run);
    return std::make_unique<WindowStage>(std::move(input), first_, count_, ends_cheaply(*input_), run);
  }
  std::optional<int64_t> size() const override {
    auto rows = input_->size();
    if (!rows) return rows;
    int64_t rest = std::max<int64_t>(*rows - first_, 0);
    return count_ < 0 ? rest : std::min(rest, count_);
  }
  std::string text() const override {
    return count_ < 0 ? "skip(" + std::to_string(first_) + ")" : "take(" + std::to_string(count_) + ")";
  }

 private:
  int64_t first_;
  int64_t count_;
};

class ConcatStage final : public Stage {
 public:
  explicit ConcatStage(std::vector<std::unique_ptr<Stage>> inputs) : inputs_(std::move(inputs)) {}
  Chunk next(int64_t wanted) override {
    for (; at_ < inputs_.size(); ++at_) {
      Chunk chunk = inputs_[at_]->next(wanted);
      if (chunk.rows > 0) return chunk;
    }
    return {};
  }
  void rewind() override {
    at_ = 0;
    for (auto& input : inputs_) input->rewind();
  }
  int64_t skip(int64_t count) override {
    int64_t skipped = 0;
    for (; at_ < inputs_.size(); ++at_) {
      skipped += inputs_[at_]->skip(count - skipped);
      if (skipped == count) break;
    }
    return skipped;
  }
  void save(StageState& state) override {
    for (auto& input : inputs_) input->save(state);
  }
  void load(StageState& state) override {
    for (auto& input : inputs_) input->load(state);
  }

 private:
  std::vector<std::unique_ptr<Stage>> inputs_;
  size_t at_ = 0;
};

class ConcatNode final : public Node {
 public:
  explicit ConcatNode(std::vector<NodePtr> inputs) : inputs_(std::move(inputs)) {
    for (const NodePtr& input : inputs_)
      SORUS_CHECK(input->names() == names(), ValueError,
                  "concat: columns differ: got {}, need {} as in the first dataset", joined(input->names()),
                  joined(names()));
  }
  std::unique_ptr<Stage> make(Run& run) const override {
    std::vector<std::unique_ptr<Stage>> stages;
    for (const NodePtr& input : inputs_) stages.push_back(input->start(run));
    return std::make_unique<ConcatStage>(std::move(stages));
  }
  std::optional<int64_t> size() const override {
    int64_t total = 0;
    for (const NodePtr& input : inputs_) {
      auto rows = input->size();
      if (!rows) return rows;
      total += *rows;
    }
    return total;
  }
  std::vector<std::string> names() const override { return inputs_.front()->names(); }
  bool hosted() const override {
    return std::any_of(inputs_.begin(), inputs_.end(), [](const NodePtr& n) { return n->hosted(); });
  }
  std::vector<NodePtr> inputs() const override { return inputs_; }
  std::string text() const override { return "concat(" + std::to_string(inputs_.size()) + ")"; }

 private:
  std::vector<NodePtr> inputs_;
};

class FilterStage final : public Stage {
 public:
  FilterStage(std::unique_ptr<Stage> input, std::shared_ptr<const Predicate> predicate,
              std::vector<size_t> places, Run& run)
      : input_(std::move(input)), predicate_(std::move(predicate)), places_(std::move(places)), run_(run) {}
  Chunk next(int64_t wanted) override {
    while (true) {
      error_.rethrow();
      run_.check();
      Chunk chunk = input_->next(wanted);
      if (chunk.rows == 0) return {};
      std::vector<Column> columns;
      for (size_t place : places_) columns.push_back(chunk.columns[place]);
      std::vector<bool> answers = predicate_->test(columns, chunk.rows, error_.slot());
      std::vector<int64_t> kept;
      for (size_t i = 0; i < answers.size(); ++i)
        if (answers[i]) kept.push_back(static_cast<int64_t>(i));
      if (std::ssize(kept) == chunk.rows) return chunk;
      if (!kept.empty()) return chunk.gather(kept);
    }
  }
  void rewind() override { input_->rewind(); }
  void save(StageState& state) override { input_->save(state); }
  void load(StageState& state) override { input_->load(state); }

 private:
  std::unique_ptr<Stage> input_;
  std::shared_ptr<const Predicate> predicate_;
  std::vector<size_t> places_;
  Run& run_;
  HeldError error_;
};

class FilterNode final : public Derived {
 public:
  FilterNode(NodePtr input, std::shared_ptr<const Predicate> predicate,
             const std::vector<std::string>& inputs)
      : Derived(std::move(input)), predicate_(std::move(predicate)) {
    std::vector<std::string> names = input_->names();
    for (const std::string& name : inputs.empty() ? names : inputs)
      places_.push_back(find_column("filter", names, name));
  }
  std::unique_ptr<Stage> make(Run& run) const override {
    auto input = input_->start(run);
    return std::make_unique<FilterStage>(std::move(input), predicate_, places_, run);
  }
  std::optional<int64_t> size() const override { return std::nullopt; }
  bool hosted() const override { return Derived::hosted() || predicate_->hosted(); }
  std::string text() const override { return "filter(" + predicate_->text() + ")"; }

 private:
  std::shared_ptr<const Predicate> predicate_;
  std::vector<size_t> places_;
};

class FunctionPredicate final : public Predicate {
 public:
  explicit FunctionPredicate(std::function<bool(const Row&)> function) : function_(std::move(function)) {}
  std::vector<bool> test(const std::vector<Column>& columns, int64_t rows,
                         std::exception_ptr& error) const override {
    std::vector<bool> answers;
    try {
      for (int64_t i = 0; i < rows; ++i) {
        Row row;
        for (const Column& column : columns) row.push_back(column.tensor(i));
        answers.push_back(function_(row));
      }
    } catch (...) {
      error = std::current_exception();
    }
    return answers;
  }

 private:
  std::function<bool(const Row&)> function_;
};

}  // namespace

Dataset Dataset::repeat(int64_t count) const { return Dataset(std::make_shared<RepeatNode>(node_, count)); }

Dataset Dataset::fix_order(uint32_t seed) const {
  return Dataset(std::make_shared<FixedOrderNode>(node_, seed));
}

Dataset Dataset::take(int64_t count) const {
  SORUS_CHECK(count == -1 || count > 0, ValueError,
              "take: count is out of range: got {}, need -1 or more than 0", count);
  return Dataset(std::make_shared<WindowNode>(node_, 0, count));
}

Dataset Dataset::skip(int64_t count) const {
  SORUS_CHECK(count >= 0, ValueError, "skip: count is out of range: got {}, need 0 or more", count);
  return Dataset(std::make_shared<WindowNode>(node_, count, -1));
}

Dataset Dataset::concat(const std::vector<Dataset>& others) const {
  std::vector<NodePtr> inputs{node_};
  for (const Dataset& other : others) inputs.push_back(other.node());
  return Dataset(std::make_shared<ConcatNode>(std::move(inputs)));
}

Dataset Dataset::filter(std::shared_ptr<const Predicate> predicate, std::vector<std::string> inputs) const {
  return Dataset(std::make_shared<FilterNode>(node_, std::move(predicate), inputs));
}
Dataset Dataset::filter(std::function<bool(const Row&)> predicate, std::vector<std::string> inputs) const {
  return filter(std::make_shared<FunctionPredicate>(std::move(predicate)), std::move(inputs));
}

}  // namespace sorus::data
