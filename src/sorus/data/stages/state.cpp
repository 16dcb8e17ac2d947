#include <algorithm>

#include "sorus/data/iterator.h"

/// What runs hand on to later ones.
namespace sorus::data {

int64_t StageState::take_number() {
  SORUS_CHECK(numbers_taken_ < numbers.size(), ValueError,
              "dataset iterator: state does not fit: got {} numbers, need more for this pipeline",
              numbers.size());
  return numbers[numbers_taken_++];
}

std::shared_ptr<Object> StageState::take_object() {
  SORUS_CHECK(objects_taken_ < objects.size(), ValueError,
              "dataset iterator: state does not fit: got {} objects, need more for this pipeline",
              objects.size());
  return objects[objects_taken_++];
}

int64_t Stage::skip(int64_t count) {
  constexpr int64_t kPortion = 256;
  int64_t skipped = 0;
  while (skipped < count) {
    const int64_t rows = next(std::min(count - skipped, kPortion)).rows;
    if (rows == 0) break;
    skipped += rows;
  }
  return skipped;
}

bool Node::has_exact_size() const {
  const std::vector<NodePtr> all = inputs();
  return std::all_of(all.begin(), all.end(), [](const NodePtr& n) { return n->has_exact_size(); });
}

std::vector<std::string> steps_of(const NodePtr& node) {
  std::vector<std::string> steps;
  for (const NodePtr& input : node->inputs())
    for (std::string& step : steps_of(input)) steps.push_back(std::move(step));
  steps.push_back(node->text());
  return steps;
}

void KeptOrders::add(const RowIds& ids) {
  std::lock_guard lock(mutex_);
  orders_.push_back(ids);
}

bool KeptOrders::get(size_t number, RowIds& ids) const {
  std::lock_guard lock(mutex_);
  if (number >= orders_.size()) return false;
  ids = orders_[number];
  return true;
}

std::vector<RowIds> KeptOrders::all() const {
  std::lock_guard lock(mutex_);
  return orders_;
}

}  // namespace sorus::data
