#include "sorus/data/dataset.h"

#include <algorithm>
#include <set>

#include "sorus/data/detail/derived.h"

/// Steps that only name columns, and what a definition knows of itself.
namespace sorus::data {

size_t find_column(const char* op, const std::vector<std::string>& names, const std::string& name) {
  auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    std::string known;
    for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
    raise<KeyError>("{}: column is not there: got '{}', need one of {}", op, name, known);
  }
  return static_cast<size_t>(found - names.begin());
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

namespace {

/// `names` must differ: two columns of one name cannot be told apart.
void check_unique(const char* op, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names)
    SORUS_CHECK(seen.insert(name).second, ValueError, "{}: two columns have one name: got '{}' twice", op,
                name);
}

class ProjectStage final : public Stage {
 public:
  ProjectStage(std::unique_ptr<Stage> input, std::vector<size_t> places)
      : input_(std::move(input)), places_(std::move(places)) {}
  Chunk next(int64_t wanted) override {
    Chunk chunk = input_->next(wanted);
    if (chunk.rows == 0) return {};
    Chunk out;
    out.rows = chunk.rows;
    for (size_t place : places_) out.columns.push_back(chunk.columns[place]);
    return out;
  }
  void rewind() override { input_->rewind(); }
  int64_t skip(int64_t count) override { return input_->skip(count); }
  void save(StageState& state) override { input_->save(state); }
  void load(StageState& state) override { input_->load(state); }

 private:
  std::unique_ptr<Stage> input_;
  std::vector<size_t> places_;
};

/// Some columns under new names; all of them in order needs no stage.
class ProjectNode final : public Derived {
 public:
  ProjectNode(NodePtr input, std::vector<size_t> places, std::vector<std::string> names)
      : Derived(std::move(input)), places_(std::move(places)), names_(std::move(names)) {}
  std::unique_ptr<Stage> make(Run& run) const override {
    return std::make_unique<ProjectStage>(input_->start(run), places_);
  }
  std::vector<std::string> names() const override { return names_; }
  std::string text() const override { return "project(" + joined(names_) + ")"; }

 private:
  std::vector<size_t> places_;
  std::vector<std::string> names_;
};

class ZipStage final : public Stage {
 public:
  /// `ending`: for each input what ends_cheaply() says.
  ZipStage(std::vector<Feed> inputs, std::vector<bool> ending)
      : inputs_(std::move(inputs)), ending_(std::move(ending)) {
    for (const bool ends : {true, false})
      for (size_t i = 0; i < inputs_.size(); ++i)
        if (ending_[i] == ends) order_.push_back(i);
  }
  Chunk next(int64_t wanted) override {
    int64_t count = wanted;
    for (size_t i : order_) {
      count = std::min(count, inputs_[i].available(count));
      if (count == 0) return end();
    }
    Chunk out;
    out.rows = count;
    for (Feed& input : inputs_) {
      Chunk part = input.take(count);
      for (Column& column : part.columns) out.columns.push_back(std::move(column));
    }
    return out;
  }
  void rewind() override {
    for (Feed& input : inputs_) input.rewind();
  }
  int64_t skip(int64_t count) override {
    for (size_t i : order_) count = std::min(count, inputs_[i].skip(count));
    return count;
  }
  void save(StageState& state) override {
    for (Feed& input : inputs_) input.save(state);
  }
  void load(StageState& state) override {
    for (Feed& input : inputs_) input.load(state);
  }

 private:
  /// The shortest input is over.
  Chunk end() {
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (ending_[i]) (void)inputs_[i].skip(INT64_MAX);
    return {};
  }
  std::vector<Feed> inputs_;
  std::vector<bool> ending_;
  std::vector<size_t> order_;  ///< in which they are read: the others no further than those that end
};

class ZipNode final : public Node {
 public:
  explicit ZipNode(std::vector<NodePtr> inputs) : inputs_(std::move(inputs)) { check_unique("zip", names()); }
  std::unique_ptr<Stage> make(Run& run) const override {
    std::vector<Feed> feeds;
    std::vector<bool> ending;
    for (const NodePtr& input : inputs_) {
      feeds.emplace_back(input->start(run));
      ending.push_back(ends_cheaply(*input));
    }
    return std::make_unique<ZipStage>(std::move(feeds), std::move(ending));
  }
  std::optional<int64_t> size() const override {
    std::optional<int64_t> shortest;
    for (const NodePtr& input : inputs_) {
      auto rows = input->size();
      if (!rows) return rows;
      shortest = std::min(shortest.value_or(*rows), *rows);
    }
    return shortest;
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const NodePtr& input : inputs_)
      for (std::string& name : input->names()) all.push_back(std::move(name));
    return all;
  }
  bool hosted() const override {
    return std::any_of(inputs_.begin(), inputs_.end(), [](const NodePtr& n) { return n->hosted(); });
  }
  std::vector<NodePtr> inputs() const override { return inputs_; }
  std::string text() const override { return "zip(" + std::to_string(inputs_.size()) + ")"; }

 private:
  std::vector<NodePtr> inputs_;
};

}  // namespace

Dataset Dataset::project(std::vector<std::string> columns) const {
  SORUS_CHECK(!columns.empty(), ValueError, "project: no columns: need one or more");
  check_unique("project", columns);
  std::vector<size_t> places;
  for (const std::string& column : columns) places.push_back(find_column("project", names(), column));
  return Dataset(std::make_shared<ProjectNode>(node_, std::move(places), std::move(columns)));
}

Dataset Dataset::rename(const std::vector<std::string>& from, const std::vector<std::string>& to) const {
  SORUS_CHECK(from.size() == to.size(), ValueError,
              "rename: numbers of columns differ: got {} and {}, need one new name for each", from.size(),
              to.size());
  std::vector<std::string> renamed = names();
  std::vector<size_t> places(renamed.size());
  for (size_t c = 0; c < places.size(); ++c) places[c] = c;
  for (size_t i = 0; i < from.size(); ++i) renamed[find_column("rename", names(), from[i])] = to[i];
  check_unique("rename", renamed);
  return Dataset(std::make_shared<ProjectNode>(node_, std::move(places), std::move(renamed)));
}

Dataset zip(const std::vector<Dataset>& datasets) {
  SORUS_CHECK(!datasets.empty(), ValueError, "zip: no datasets: need one or more");
  std::vector<NodePtr> inputs;
  for (const Dataset& dataset : datasets) inputs.push_back(dataset.node());
  return Dataset(std::make_shared<ZipNode>(std::move(inputs)));
}

DatasetIterator Dataset::iterate(IterateOptions options) const { return DatasetIterator(node_, options); }

int64_t Dataset::size() const {
  if (auto known = node_->size()) return *known;
  // Counted on this thread: no tensors are made.
  Run run;
  constexpr int64_t kPortion = 256;
  int64_t rows = 0;
  auto stage = node_->start(run);
  for (Chunk chunk = stage->next(kPortion); chunk.rows > 0; chunk = stage->next(kPortion)) rows += chunk.rows;
  return rows;
}

std::vector<RowType> Dataset::types() const {
  Run run;
  Chunk chunk = node_->start(run)->next(1);
  SORUS_CHECK(chunk.rows > 0, ValueError, "dataset: there are no rows: need one to tell types and shapes");
  std::vector<RowType> types;
  for (const Column& column : chunk.columns) types.push_back(column.cell(0).type);
  return types;
}

}  // namespace sorus::data
