#include <algorithm>

#include "sorus/data/detail/derived.h"

namespace sorus::data {
namespace {

/// Neighbouring operations of one kind: transforms, which are planned together, or another one alone.
struct Group {
  std::vector<std::shared_ptr<const Transform>> transforms;
  OperationPtr operation;  ///< null: `transforms`
  std::vector<uint64_t> places;
};

std::vector<Group> make_groups(const std::vector<OperationPtr>& operations, Run& run) {
  std::vector<Group> groups;
  for (const OperationPtr& operation : operations) {
    auto joined = groups.empty() || !groups.back().operation
                      ? nullptr
                      : groups.back().operation->joined_with(operation);
    if (joined) {
      groups.back().operation = std::move(joined);
      groups.back().places.push_back(run.next_place());
      continue;
    }
    auto transform = std::dynamic_pointer_cast<const Transform>(operation);
    if (groups.empty() || !transform || groups.back().operation) groups.emplace_back();
    Group& group = groups.back();
    if (transform)
      group.transforms.push_back(std::move(transform));
    else
      group.operation = operation;
    group.places.push_back(run.next_place());
  }
  return groups;
}

/// Where the columns of a map come from and go to.
struct Wiring {
  std::vector<size_t> inputs;
  std::vector<std::string> names;  ///< of the result
  bool in_place = true;            ///< outputs take the places of inputs; else they come first
};

Wiring wire(const std::vector<std::string>& names, std::vector<std::string> inputs,
            const std::vector<std::string>& outputs) {
  if (inputs.empty()) inputs = {names.front()};
  Wiring w;
  for (const std::string& input : inputs) w.inputs.push_back(find_column("map", names, input));
  const std::vector<std::string>& given = outputs.empty() ? inputs : outputs;
  w.in_place = given.size() == inputs.size();
  if (w.in_place) {
    w.names = names;
    for (size_t i = 0; i < given.size(); ++i) w.names[w.inputs[i]] = given[i];
    return w;
  }
  w.names = given;
  for (size_t c = 0; c < names.size(); ++c)
    if (std::find(w.inputs.begin(), w.inputs.end(), c) == w.inputs.end()) w.names.push_back(names[c]);
  return w;
}

/// Compositions taken apart.
void flatten(std::span<const OperationPtr> operations, std::vector<OperationPtr>& out) {
  for (const OperationPtr& operation : operations) {
    if (operation->parts().empty())
      out.push_back(operation);
    else
      flatten(operation->parts(), out);
  }
}

class MapStage final : public Stage {
 public:
  MapStage(std::unique_ptr<Stage> input, const std::vector<OperationPtr>& operations, Wiring wiring, Run& run)
      : input_(std::move(input)),
        groups_(make_groups(operations, run)),
        wiring_(std::move(wiring)),
        run_(run),
        epoch_(run.first_epoch) {
    plans_.resize(groups_.size() * wiring_.inputs.size());
    for (const Group& group : groups_) {
      if (!group.operation) continue;
      const int64_t processes = group.operation->processes();
      hosted_ = hosted_ || (group.operation->hosted() && processes == 0);
      run.flow->together = std::max(run.flow->together, kRowsPerProcess * processes);
      if (processes > 0) shared_.emplace(std::max(processes, shared_ ? shared_->rows() : 0));
      most_rows_ = std::min(most_rows_, group.operation->rows_at_once());
    }
  }

  Chunk next(int64_t wanted) override {
    error_.rethrow();
    if (input_.available(wanted) == 0) return {};
    Patience patience;
    std::vector<Chunk> done;
    // Slow operations of the host get a few rows at a time, so that the run can be stopped between them.
    int64_t portion = hosted_ ? 1 : std::min({wanted, most_rows_, shared_ ? shared_->rows() : INT64_MAX});
    for (int64_t rows = 0; rows < wanted && !error_ && (done.empty() || !patience.ended());) {
      run_.check();
      int64_t count = std::min({portion, wanted - rows, input_.available(wanted - rows)});
      if (count == 0) break;
      auto work = [&] { return apply(input_.take(count)); };
      Chunk chunk = shared_ ? shared_->timed(work) : work();
      row_ += count;
      rows += count;
      portion = std::min(2 * portion, most_rows_);
      if (chunk.rows > 0) done.push_back(std::move(chunk));
      if (!hosted_) break;
    }
    if (done.empty()) error_.rethrow();
    return concatenate(done);
  }
  void rewind() override {
    input_.rewind();
    row_ = 0;
    ++epoch_;
  }
  int64_t skip(int64_t count) override {
    const int64_t rows = input_.skip(count);
    row_ += rows;
    return rows;
  }
  void save(StageState& state) override {
    state.numbers.push_back(static_cast<int64_t>(epoch_));
    input_.save(state);
  }
  void load(StageState& state) override {
    epoch_ = static_cast<uint64_t>(state.take_number());
    input_.load(state);
  }

 private:
  Chunk apply(Chunk chunk) {
    std::vector<Column> columns;
    for (size_t input : wiring_.inputs) columns.push_back(chunk.columns[input]);
    for (size_t g = 0; g < groups_.size(); ++g) {
      columns = apply_group(g, std::move(columns));
      if (error_ && (columns.empty() || columns.front().rows == 0)) return {};
    }
    return assemble(std::move(chunk), std::move(columns));
  }

  std::vector<Column> apply_group(size_t g, std::vector<Column> columns) {
    if (groups_[g].operation) {
      auto contexts = contexts_of(groups_[g], 0);
      return groups_[g].operation->apply(std::move(columns), contexts.back(), error_.slot());
    }
    try {
      return transform(g, columns, 0);
    } catch (...) {
      if (columns.empty() || columns.front().rows <= 1) {
        error_.slot() = std::current_exception();
        for (Column& column : columns) column = column.slice(0, 0);
        return columns;
      }
    }
    return transform_rows(g, columns);
  }

  /// Row by row, to hand on the rows before the one that fails. Transforms are pure, so they may run again.
  std::vector<Column> transform_rows(size_t g, const std::vector<Column>& columns) {
    std::vector<std::vector<Column>> done(columns.size());
    try {
      for (int64_t i = 0; i < columns.front().rows; ++i) {
        std::vector<Column> row;
        for (const Column& column : columns) row.push_back(column.cell(i));
        row = transform(g, std::move(row), i);
        for (size_t c = 0; c < row.size(); ++c) done[c].push_back(std::move(row[c]));
      }
    } catch (...) {
      error_.slot() = std::current_exception();
    }
    std::vector<Column> out;
    for (size_t c = 0; c < columns.size(); ++c)
      out.push_back(done[c].empty() ? columns[c].slice(0, 0) : concatenate(std::span<const Column>(done[c])));
    return out;
  }

  std::vector<RowContext> contexts_of(const Group& group, int64_t first) const {
    std::vector<RowContext> contexts;
    for (uint64_t place : group.places)
      contexts.push_back(RowContext::make(run_.seed, place, epoch_, row_ + first));
    return contexts;
  }

  /// The transforms of a group on rows that begin `first` rows behind the current one.
  std::vector<Column> transform(size_t g, std::vector<Column> columns, int64_t first) {
    const Group& group = groups_[g];
    auto contexts = contexts_of(group, first);
    for (size_t c = 0; c < columns.size(); ++c) {
      Column& column = columns[c];
      if (column.is_ragged() || column.rows == 0 || column.type.kind != ItemKind::kNumbers ||
          c >= wiring_.inputs.size()) {
        column = run_transforms(group.transforms, column, contexts);
        continue;
      }
      auto& plan = plans_[g * wiring_.inputs.size() + c];
      if (!plan || !(plan->in() == column.type)) plan.emplace(group.transforms, column.type);
      column = plan->run(column, contexts);
    }
    return columns;
  }

  Chunk assemble(Chunk chunk, std::vector<Column> columns) const {
    size_t need = wiring_.in_place ? wiring_.inputs.size()
                                   : wiring_.names.size() + wiring_.inputs.size() - chunk.columns.size();
    SORUS_CHECK(
        columns.size() == need, ValueError,
        "map: number of columns does not fit: the operations gave {}, need {} as output_columns names them",
        columns.size(), need);
    int64_t rows = columns.empty() ? chunk.rows : columns.front().rows;
    if (rows < chunk.rows) chunk = chunk.slice(0, rows);
    if (wiring_.in_place) {
      for (size_t i = 0; i < columns.size(); ++i) chunk.columns[wiring_.inputs[i]] = std::move(columns[i]);
      return chunk;
    }
    for (size_t c = 0; c < chunk.columns.size(); ++c)
      if (std::find(wiring_.inputs.begin(), wiring_.inputs.end(), c) == wiring_.inputs.end())
        columns.push_back(std::move(chunk.columns[c]));
    return {std::move(columns), rows};
  }

  Feed input_;
  std::vector<Group> groups_;
  Wiring wiring_;
  Run& run_;
  std::vector<std::optional<TransformPlan>> plans_;  ///< for each group and input
  bool hosted_ = false;
  std::optional<SharedPortion> shared_;  ///< with processes
  int64_t most_rows_ = INT64_MAX;
  int64_t row_ = 0;
  uint64_t epoch_;
  HeldError error_;
};

class MapNode final : public Derived {
 public:
  MapNode(NodePtr input, std::vector<OperationPtr> operations, Wiring wiring)
      : Derived(std::move(input)), operations_(std::move(operations)), wiring_(std::move(wiring)) {}
  std::unique_ptr<Stage> make(Run& run) const override {
    auto input = input_->start(run);
    return std::make_unique<MapStage>(std::move(input), operations_, wiring_, run);
  }
  std::vector<std::string> names() const override { return wiring_.names; }
  bool hosted() const override {
    return Derived::hosted() || std::any_of(operations_.begin(), operations_.end(),
                                            [](const OperationPtr& o) { return o->hosted(); });
  }
  std::string text() const override {
    std::vector<std::string> texts;
    for (const OperationPtr& operation : operations_) texts.push_back(operation->text());
    return "map(" + joined(texts) + "; " + joined(wiring_.names) + ")";
  }

 private:
  std::vector<OperationPtr> operations_;
  Wiring wiring_;
};

}  // namespace

Dataset Dataset::map(const std::vector<OperationPtr>& operations, std::vector<std::string> inputs,
                     std::vector<std::string> outputs) const {
  SORUS_CHECK(!operations.empty(), ValueError, "map: no operations: need one or more");
  Wiring wiring = wire(names(), std::move(inputs), outputs);
  std::vector<OperationPtr> flat;
  flatten(operations, flat);
  return Dataset(std::make_shared<MapNode>(node_, std::move(flat), std::move(wiring)));
}

}  // namespace sorus::data
