#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "sorus/dispatch/kernel.h"
#include "sorus/ops/index/attributes.h"

/// nonzero, unique and searchsorted. Operands are contiguous.
namespace sorus {
namespace {

template <class T>
bool is_nonzero(T item) {
  return static_cast<ComputeType<T>>(item) != ComputeType<T>(0);
}

/// Ascending, NaN last.
template <class T>
bool before(T a, T b) {
  auto x = static_cast<ComputeType<T>>(a);
  auto y = static_cast<ComputeType<T>>(b);
  if constexpr (std::is_floating_point_v<ComputeType<T>>)
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
  return x < y;
}

void run_nonzero_count(const KernelCall& call) {
  const Array& x = call.in[0];
  int64_t count = 0;
  visit_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
    const T* from = x.as<T>();
    for (int64_t i = 0, n = x.numel(); i < n; ++i) count += is_nonzero(from[i]) ? 1 : 0;
  });
  *call.out[0].as<int64_t>() = count;
}

void run_nonzero(const KernelCall& call) {
  const Array& x = call.in[0];
  int64_t count = call.attrs<NonzeroAttrs>().count;
  int64_t* to = call.out[0].as<int64_t>();
  int rank = x.rank();
  int64_t found = 0;
  visit_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
    const T* from = x.as<T>();
    for (int64_t i = 0, n = x.numel(); i < n && found < count; ++i) {
      if (!is_nonzero(from[i])) continue;
      int64_t rest = i;
      for (int axis = rank; axis-- > 0; rest /= x.size(axis)) to[found * rank + axis] = rest % x.size(axis);
      ++found;
    }
  });
  std::fill(to + found * rank, to + count * rank, 0);
}

template <class T>
bool alike(T a, T b) {
  return !before(a, b) && !before(b, a);
}

/// The values as they are found, equal ones met one after the other.
template <class T>
struct Found {
  T* values;
  int64_t* inverse;
  int64_t* counts;
  int64_t distinct = 0;

  /// Element `at` belongs to the value last found, or is a new one.
  void take(const T* from, int64_t at) {
    if (distinct == 0 || !alike(values[distinct - 1], from[at])) values[distinct++] = from[at];
    inverse[at] = distinct - 1;
    ++counts[distinct - 1];
  }
  /// Orders the values found so far by their first element in `from`.
  void order_by_first(int64_t n, const T* from) {
    std::vector<int64_t> places(static_cast<size_t>(distinct), -1);
    std::vector<int64_t> old_counts(counts, counts + distinct);
    int64_t next = 0;
    for (int64_t i = 0; i < n; ++i) {
      int64_t& place = places[static_cast<size_t>(inverse[i])];
      if (place < 0) {
        place = next++;
        values[place] = from[i];
        counts[place] = old_counts[static_cast<size_t>(inverse[i])];
      }
      inverse[i] = place;
    }
  }
};

void run_unique(const KernelCall& call) {
  const Array& x = call.in[0];
  UniqueOrder order = call.attrs<UniqueAttrs>().order;
  int64_t n = x.numel();
  visit_dtype(x.dtype, [&]<class T>(std::type_identity<T>) {
    const T* from = x.as<T>();
    Found<T> found{call.out[0].as<T>(), call.out[1].as<int64_t>(), call.out[2].as<int64_t>()};
    std::fill_n(found.counts, n, 0);
    std::fill_n(found.values, n, T{});
    std::vector<int64_t> places(static_cast<size_t>(n));
    std::iota(places.begin(), places.end(), 0);
    if (order != UniqueOrder::kRuns)
      std::stable_sort(places.begin(), places.end(),
                       [&](int64_t a, int64_t b) { return before(from[a], from[b]); });
    for (int64_t at : places) found.take(from, at);
    if (order == UniqueOrder::kFirst) found.order_by_first(n, from);
    *call.out[3].as<int64_t>() = found.distinct;
  });
}

void run_searchsorted(const KernelCall& call) {
  const Array& sorted = call.in[0];
  const Array& values = call.in[1];
  bool right = call.attrs<SearchSortedAttrs>().right;
  int64_t* to = call.out[0].as<int64_t>();
  int64_t length = sorted.size(sorted.rank() - 1);
  int64_t row = sorted.rank() > 1 ? values.size(values.rank() - 1) : std::max<int64_t>(values.numel(), 1);
  visit_dtype(values.dtype, [&]<class T>(std::type_identity<T>) {
    const T* from = values.as<T>();
    for (int64_t i = 0, n = values.numel(); i < n; ++i) {
      const T* begin = sorted.as<T>() + i / row * length;
      const T* place = right ? std::upper_bound(begin, begin + length, from[i], before<T>)
                             : std::lower_bound(begin, begin + length, from[i], before<T>);
      to[i] = place - begin;
    }
  });
}

const KernelRegistrar registered_count{
    "nonzero_count", Kernel{.name = "nonzero_count_reference", .run = run_nonzero_count}, kReferenceRank};
const KernelRegistrar registered_nonzero{"nonzero", Kernel{.name = "nonzero_reference", .run = run_nonzero},
                                         kReferenceRank};
const KernelRegistrar registered_unique{"unique", Kernel{.name = "unique_reference", .run = run_unique},
                                        kReferenceRank};
const KernelRegistrar registered_search{
    "searchsorted", Kernel{.name = "searchsorted_reference", .run = run_searchsorted}, kReferenceRank};

}  // namespace
}  // namespace sorus
