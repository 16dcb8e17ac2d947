#include <vector>

#include "sorus/kernels/reference/axis_loop.h"
#include "sorus/ops/reduce/attributes.h"

namespace sorus::reference {
namespace {

struct Plus {
  template <class V>
  static V start() {
    return V::of(0);
  }
  template <class V>
  static V join(V a, V b) {
    return a + b;
  }
};
struct Times {
  template <class V>
  static V start() {
    return V::of(1);
  }
  template <class V>
  static V join(V a, V b) {
    return a * b;
  }
};

/// Row by row along the axis, so that memory is read in order; the running values stay in the compute type.
template <class Op, class T>
void scan_of(const KernelCall& call) {
  using V = decltype(load_element<T>(nullptr));
  const auto& a = call.attrs<ScanAttrs>();
  const AxisView view(call.op.name, call.in[0], a.axis);
  view.for_outer([&](int64_t begin, int64_t end) {
    std::vector<V> running(static_cast<size_t>(view.inner));
    for (int64_t o = begin; o < end; ++o) {
      std::fill(running.begin(), running.end(), Op::template start<V>());
      for (int64_t k = 0; k < view.extent; ++k) {
        const int64_t row = (o * view.extent + (a.reverse ? view.extent - 1 - k : k)) * view.inner;
        for (int64_t i = 0; i < view.inner; ++i) {
          V& r = running[static_cast<size_t>(i)];
          const V before = r;
          // The first element is taken as it is: 0 + -0 would lose its sign.
          r = k == 0 ? load_at<T>(call.in[0], row + i) : Op::join(r, load_at<T>(call.in[0], row + i));
          store_element<T>(call.out[0].data + (row + i) * static_cast<int64_t>(sizeof(T)),
                           a.exclusive ? before : r);
        }
      }
    }
  });
}

template <class Op>
void run_scan(const KernelCall& call) {
  visit_dtype(call.in[0].dtype, [&]<class T>(std::type_identity<T>) { scan_of<Op, T>(call); });
}

/// Whether `next` takes the place of `best`: at least as great (or least), or NaN; a NaN is never left.
template <class V>
bool replaces(V next, V best, bool greatest) {
  if ((next != next).v) return true;
  if ((best != best).v) return false;
  return greatest ? (next >= best).v : (next <= best).v;
}

template <class T>
void running_extreme(const KernelCall& call, bool greatest) {
  const AxisView view(call.op.name, call.in[0], call.attrs<CumulativeAttrs>().axis);
  auto* values = call.out[0].as<T>();
  auto* indices = call.out[1].as<int64_t>();
  view.for_lines([&](int64_t first, int64_t) {
    int64_t best = 0;
    for (int64_t k = 0; k < view.extent; ++k) {
      const int64_t at = first + k * view.inner;
      if (k > 0 &&
          replaces(load_at<T>(call.in[0], at), load_at<T>(call.in[0], first + best * view.inner), greatest))
        best = k;
      values[at] = call.in[0].as<const T>()[first + best * view.inner];
      indices[at] = best;
    }
  });
}

void run_cummax(const KernelCall& call) {
  visit_dtype(call.in[0].dtype, [&]<class T>(std::type_identity<T>) { running_extreme<T>(call, true); });
}
void run_cummin(const KernelCall& call) {
  visit_dtype(call.in[0].dtype, [&]<class T>(std::type_identity<T>) { running_extreme<T>(call, false); });
}

/// The first of the greatest (or least) elements, or the first NaN.
template <class T>
void arg_extreme(const KernelCall& call, bool greatest) {
  const AxisView view(call.op.name, call.in[0], call.attrs<ArgAttrs>().axis);
  auto* out = call.out[0].as<int64_t>();
  view.for_lines([&](int64_t first, int64_t line) {
    auto best = load_at<T>(call.in[0], first);
    int64_t index = 0;
    for (int64_t k = 1; k < view.extent && (best == best).v; ++k) {
      const auto next = load_at<T>(call.in[0], first + k * view.inner);
      if ((next != next).v || (greatest ? (next > best).v : (next < best).v)) {
        best = next;
        index = k;
      }
    }
    out[line] = index;
  });
}
void run_argmax(const KernelCall& call) {
  visit_dtype(call.in[0].dtype, [&]<class T>(std::type_identity<T>) { arg_extreme<T>(call, true); });
}
void run_argmin(const KernelCall& call) {
  visit_dtype(call.in[0].dtype, [&]<class T>(std::type_identity<T>) { arg_extreme<T>(call, false); });
}

KernelRegistrar reference(std::string_view op, void (*run)(const KernelCall&)) {
  return {op, Kernel{.name = "reference", .run = run}, kReferenceRank};
}
const KernelRegistrar registered[] = {
    reference("cumsum", run_scan<Plus>), reference("cumprod", run_scan<Times>),
    reference("cummax", run_cummax),     reference("cummin", run_cummin),
    reference("argmax", run_argmax),     reference("argmin", run_argmin)};

}  // namespace
}  // namespace sorus::reference
