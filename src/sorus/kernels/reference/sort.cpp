#include <vector>

#include "sorus/kernels/reference/axis_loop.h"
#include "sorus/ops/reduce/attributes.h"

namespace sorus::reference {
namespace {

/// A number whose unsigned order is the order of the elements: -0 equals 0, NaN is the greatest.
template <class T>
uint64_t order_of(T v) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return order_of(static_cast<float>(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    if (v != v) return ~uint64_t{0};
    const auto b = std::bit_cast<Word>(v == 0 ? T(0) : v);
    constexpr Word kSign = Word{1} << (8 * sizeof(T) - 1);
    return (b & kSign) != 0 ? static_cast<Word>(~b) : static_cast<Word>(b | kSign);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(v)) ^ (uint64_t{1} << 63);
  } else {
    return static_cast<uint64_t>(v);
  }
}

struct Entry {
  uint64_t order;
  int64_t index;
  friend bool operator<(const Entry& a, const Entry& b) {
    return a.order != b.order ? a.order < b.order : a.index < b.index;
  }
};

/// Orders each line along the axis and writes its first `keep` elements and their indices.
template <class T>
void sort_lines(const KernelCall& call, int64_t axis, bool descending, int64_t keep) {
  const AxisView view(call.op.name, call.in[0], axis);
  const T* x = call.in[0].as<const T>();
  auto* values = call.out[0].as<T>();
  auto* indices = call.out[1].as<int64_t>();
  view.for_lines([&](int64_t first, int64_t line) {
    thread_local std::vector<Entry> entries;
    entries.resize(static_cast<size_t>(view.extent));
    for (int64_t k = 0; k < view.extent; ++k) {
      const uint64_t order = order_of(x[first + k * view.inner]);
      entries[static_cast<size_t>(k)] = {descending ? ~order : order, k};
    }
    if (keep < view.extent) {
      std::nth_element(entries.begin(), entries.begin() + keep, entries.end());
      entries.resize(static_cast<size_t>(keep));
    }
    std::sort(entries.begin(), entries.end());
    const int64_t to = line / view.inner * keep * view.inner + line % view.inner;
    for (int64_t k = 0; k < keep; ++k) {
      const int64_t from = entries[static_cast<size_t>(k)].index;
      values[to + k * view.inner] = x[first + from * view.inner];
      indices[to + k * view.inner] = from;
    }
  });
}

void run_sort(const KernelCall& call) {
  const auto& a = call.attrs<SortAttrs>();
  const int axis = normalize_axis("sort", a.axis, call.in[0].rank());
  visit_dtype(call.in[0].dtype, [&]<class T>(std::type_identity<T>) {
    sort_lines<T>(call, axis, a.descending, call.in[0].size(axis));
  });
}
void run_topk(const KernelCall& call) {
  const auto& a = call.attrs<TopkAttrs>();
  visit_dtype(call.in[0].dtype,
              [&]<class T>(std::type_identity<T>) { sort_lines<T>(call, a.axis, a.largest, a.k); });
}

const KernelRegistrar registered[] = {
    KernelRegistrar("sort", Kernel{.name = "reference", .run = run_sort}, kReferenceRank),
    KernelRegistrar("topk", Kernel{.name = "reference", .run = run_topk}, kReferenceRank)};

}  // namespace
}  // namespace sorus::reference
