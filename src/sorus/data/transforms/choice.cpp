#include <algorithm>
#include <functional>
#include <numeric>

#include "sorus/base/thread_pool.h"
#include "sorus/data/transform.h"

/// Operations that draw for each row which of their operations run.
namespace sorus::data {
namespace {

/// Places among the operations, in the order in which they run.
using Plan = std::vector<size_t>;
using Draw = std::function<Plan(const RowContext&, int64_t)>;

bool any_hosted(std::span<const OperationPtr> operations) {
  return std::any_of(operations.begin(), operations.end(), [](const OperationPtr& o) { return o->hosted(); });
}

class Choice final : public Operation {
 public:
  Choice(std::string name, std::vector<OperationPtr> operations, Draw draw)
      : name_(std::move(name)), operations_(std::move(operations)), draw_(std::move(draw)) {
    SORUS_CHECK(!operations_.empty(), ValueError, "{}: no operations: need one or more", name_);
  }
  std::string name() const override { return name_; }
  bool hosted() const override { return any_hosted(operations_); }
  std::vector<Column> apply(std::vector<Column> columns, const RowContext& context,
                            std::exception_ptr& error) const override {
    int64_t rows = columns.empty() ? 0 : columns.front().rows;
    std::vector<std::vector<Column>> done(static_cast<size_t>(rows));
    std::vector<std::exception_ptr> errors(done.size());
    auto run = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        auto at = static_cast<size_t>(i);
        try {
          done[at] = apply_row(columns, i, context, errors[at]);
        } catch (...) {
          errors[at] = std::current_exception();
        }
        if (errors[at]) return;
      }
    };
    // Operations of the host run on the thread that called.
    if (hosted())
      run(0, rows);
    else
      parallel_ranges(rows, 1, run);
    auto failed = std::find_if(errors.begin(), errors.end(), [](const auto& e) { return e != nullptr; });
    if (failed != errors.end()) error = *failed;
    done.resize(static_cast<size_t>(failed - errors.begin()));
    return together(done, std::move(columns));
  }

 private:
  std::vector<Column> apply_row(const std::vector<Column>& columns, int64_t i, const RowContext& context,
                                std::exception_ptr& error) const {
    std::vector<Column> row;
    for (const Column& column : columns) row.push_back(column.cell(i));
    for (size_t place : draw_(context, i)) {
      RowContext own{hash_combine(context.key, place + 1), context.first_row + i};
      row = operations_[place]->apply(std::move(row), own, error);
      if (error) break;
    }
    return row;
  }
  std::vector<Column> together(const std::vector<std::vector<Column>>& rows,
                               std::vector<Column> columns) const {
    if (rows.empty()) {
      for (Column& column : columns) column = column.slice(0, 0);
      return columns;
    }
    std::vector<Column> out;
    for (size_t c = 0; c < rows.front().size(); ++c) {
      std::vector<Column> cells;
      for (const auto& row : rows) {
        SORUS_CHECK(row.size() == rows.front().size(), ValueError,
                    "{}: numbers of columns differ: got {} and {} of two rows, need equal ones", name_,
                    rows.front().size(), row.size());
        cells.push_back(row[c]);
      }
      out.push_back(concatenate(cells));
    }
    return out;
  }
  std::string name_;
  std::vector<OperationPtr> operations_;
  Draw draw_;
};

Plan all_places(size_t count) {
  Plan plan(count);
  std::iota(plan.begin(), plan.end(), size_t{0});
  return plan;
}
/// Draw number `number` of a row, four words each.
uint32_t word(const RowContext& context, int64_t i, size_t number) {
  return context.draw(i, number / 4)[number % 4];
}
void check_probability(const char* op, double probability) {
  SORUS_CHECK(probability >= 0 && probability <= 1, ValueError,
              "{}: prob is out of range: got {}, need 0 to 1", op, probability);
}

}  // namespace

OperationPtr random_apply(std::vector<OperationPtr> operations, double probability) {
  check_probability("RandomApply", probability);
  Plan all = all_places(operations.size());
  return std::make_shared<Choice>("RandomApply", std::move(operations),
                                  [all, probability](const RowContext& context, int64_t i) {
                                    return to_unit(word(context, i, 0)) < probability ? all : Plan{};
                                  });
}

OperationPtr random_choice(std::vector<OperationPtr> operations) {
  auto count = std::ssize(operations);
  return std::make_shared<Choice>("RandomChoice", std::move(operations),
                                  [count](const RowContext& context, int64_t i) {
                                    return Plan{static_cast<size_t>(to_below(word(context, i, 0), count))};
                                  });
}

OperationPtr random_order(std::vector<OperationPtr> operations) {
  Plan all = all_places(operations.size());
  return std::make_shared<Choice>(
      "RandomOrder", std::move(operations), [all](const RowContext& context, int64_t i) {
        Plan plan = all;
        for (size_t k = plan.size(); k > 1; --k)
          std::swap(plan[k - 1],
                    plan[static_cast<size_t>(to_below(word(context, i, k), static_cast<int64_t>(k)))]);
        return plan;
      });
}

OperationPtr random_subpolicy(const std::vector<Subpolicy>& policy) {
  std::vector<OperationPtr> operations;
  std::vector<std::vector<std::pair<size_t, double>>> choices;
  SORUS_CHECK(!policy.empty(), ValueError, "RandomSelectSubpolicy: no subpolicies: need one or more");
  for (const Subpolicy& subpolicy : policy) {
    SORUS_CHECK(!subpolicy.empty(), ValueError,
                "RandomSelectSubpolicy: a subpolicy is empty: need one or more steps");
    choices.emplace_back();
    for (const auto& [operation, probability] : subpolicy) {
      check_probability("RandomSelectSubpolicy", probability);
      choices.back().emplace_back(operations.size(), probability);
      operations.push_back(operation);
    }
  }
  return std::make_shared<Choice>(
      "RandomSelectSubpolicy", std::move(operations), [choices](const RowContext& context, int64_t i) {
        const auto& chosen = choices[static_cast<size_t>(to_below(word(context, i, 0), std::ssize(choices)))];
        Plan plan;
        for (size_t k = 0; k < chosen.size(); ++k)
          if (to_unit(word(context, i, k + 1)) < chosen[k].second) plan.push_back(chosen[k].first);
        return plan;
      });
}

}  // namespace sorus::data
