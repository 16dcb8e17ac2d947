#include "sorus/tuning/search.h"

#include <algorithm>
#include <random>
#include <set>

#include "sorus/base/clock.h"

namespace sorus::tuning {
namespace {

class Search {
 public:
  Search(const std::vector<const Tunable*>& parameters, const Compare& compare, const SearchOptions& options)
      : parameters_(parameters),
        compare_(compare),
        options_(options),
        random_(options.seed),
        end_(monotonic_ns() + 1e9 * options.seconds) {}

  SearchResult run();

 private:
  /// In steps from the least value, by parameter.
  using Point = std::vector<int>;
  [[nodiscard]] bool is_over() const { return monotonic_ns() >= end_; }
  [[nodiscard]] static int steps(const Tunable& p) { return static_cast<int>(p.values().size()); }
  [[nodiscard]] Point defaults() const;
  [[nodiscard]] Point random_point();
  [[nodiscard]] TunedValues values_at(const Point& point, bool with_defaults) const;
  bool is_better(const Point& than, const Point& point, Care care);
  void climb(Point& point);
  bool improve_one(Point& point, size_t parameter);
  void drop_what_is_not_needed(Point& point);

  const std::vector<const Tunable*>& parameters_;
  const Compare& compare_;
  SearchOptions options_;
  std::mt19937_64 random_;
  double end_;  ///< by monotonic_ns()
  std::set<Point> seen_;
  Verdict last_;
  int candidates_ = 0;
};

Search::Point Search::defaults() const {
  Point point;
  for (const Tunable* p : parameters_) {
    const std::vector<int64_t> values = p->values();
    point.push_back(
        static_cast<int>(std::find(values.begin(), values.end(), p->spec().initial) - values.begin()));
  }
  return point;
}

Search::Point Search::random_point() {
  Point point;
  for (const Tunable* p : parameters_)
    point.push_back(std::uniform_int_distribution<int>(0, steps(*p) - 1)(random_));
  return point;
}

/// With the defaults said as well, so that nothing else can take their place.
TunedValues Search::values_at(const Point& point, bool with_defaults) const {
  TunedValues values;
  for (size_t i = 0; i < point.size(); ++i) {
    const int64_t v = parameters_[i]->values()[static_cast<size_t>(point[i])];
    if (with_defaults || v != parameters_[i]->spec().initial) values.set(*parameters_[i], v);
  }
  return values;
}

bool Search::is_better(const Point& than, const Point& point, Care care) {
  last_ = compare_(values_at(than, true), values_at(point, true), care);
  return last_.second_wins;
}

/// Tries other values of one parameter; goes on in a direction that helps.
bool Search::improve_one(Point& point, size_t parameter) {
  const int last = steps(*parameters_[parameter]) - 1;
  const int here = point[parameter];
  std::vector<int> targets{here + 1, here - 1, here + 2, here - 2, last, 0};
  bool improved = false;
  for (size_t i = 0; i < targets.size() && !is_over(); ++i) {
    Point next = point;
    next[parameter] = targets[i];
    if (targets[i] < 0 || targets[i] > last || !seen_.insert(next).second) continue;
    ++candidates_;
    if (!is_better(point, next, Care::kQuick) || !is_better(point, next, Care::kSure)) continue;
    const int further = targets[i] + (targets[i] > point[parameter] ? 1 : -1);
    point = next;
    improved = true;
    targets.resize(i + 1);
    targets.push_back(further);
  }
  return improved;
}

void Search::climb(Point& point) {
  seen_.insert(point);
  std::vector<size_t> order;
  for (size_t i = 0; i < parameters_.size(); ++i) order.push_back(i);
  for (bool improved = true; improved && !is_over();) {
    improved = false;
    std::shuffle(order.begin(), order.end(), random_);
    for (size_t i : order) improved |= improve_one(point, i);
  }
}

/// What does not slow the rest down when it has its default is left at that.
void Search::drop_what_is_not_needed(Point& point) {
  const Point initial = defaults();
  for (size_t i = 0; i < point.size(); ++i) {
    if (point[i] == initial[i]) continue;
    Point without = point;
    without[i] = initial[i];
    if (without != initial && !is_better(without, point, Care::kSure)) point = without;
  }
}

SearchResult Search::run() {
  SearchResult result;
  if (parameters_.empty()) return result;
  const Point initial = defaults();
  Point best = initial;
  climb(best);
  for (int i = 0; i < options_.most_restarts && !is_over(); ++i) {
    Point point = random_point();
    // A start that is far off is not worth its climb.
    if (!seen_.insert(point).second) continue;
    ++candidates_;
    static_cast<void>(is_better(best, point, Care::kQuick));
    if (last_.second_ns > 1.5 * last_.first_ns) continue;
    climb(point);
    if (point != best && is_better(best, point, Care::kSure)) best = point;
  }
  result.candidates = candidates_;
  if (best == initial) return result;
  drop_what_is_not_needed(best);
  if (!is_better(initial, best, Care::kFinal)) return result;
  result.values = values_at(best, false);
  result.before_ns = last_.first_ns;
  result.after_ns = last_.second_ns;
  return result;
}

}  // namespace

SearchResult search(const std::vector<const Tunable*>& parameters, const Compare& compare,
                    const SearchOptions& options) {
  return Search(parameters, compare, options).run();
}

}  // namespace sorus::tuning
