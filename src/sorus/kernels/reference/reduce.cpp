#include "sorus/kernels/reference/reduce.h"

#include "sorus/ops/reduce/attributes.h"

namespace sorus::reference {

ReduceIndex::ReduceIndex(const KernelCall& call, const Ints& axes) {
  const Array& x = call.in[0];
  const Ints reduced = normalize_axes(call.op.name, axes, x.rank());
  int next = 0;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool is_reduced = next < reduced.size() && reduced[next] == axis;
    if (is_reduced) ++next;
    Axes& into = is_reduced ? inner_ : kept_;
    into.sizes[into.rank] = x.size(axis);
    into.strides[into.rank++] = x.strides[axis];
    (is_reduced ? reduced_ : results_) *= x.size(axis);
  }
}

int64_t ReduceIndex::offset(int64_t linear, const Axes& axes) {
  int64_t sum = 0;
  for (int axis = axes.rank; axis-- > 0;) {
    sum += linear % axes.sizes[axis] * axes.strides[axis];
    linear /= axes.sizes[axis];
  }
  return sum;
}

namespace {

template <class T>
void sum_of(const KernelCall& call) {
  using V = decltype(load_element<T>(nullptr));
  const ReduceIndex index(call, call.attrs<ReduceAttrs>().axes);
  // -0 is the identity of IEEE addition: it keeps the sign of a sum of nothing but -0.
  const V identity = std::is_floating_point_v<typename V::Scalar> ? -V::of(0) : V::of(0);
  for (int64_t r = 0; r < index.results(); ++r) {
    const T* first = call.in[0].as<const T>() + index.result_offset(r);
    V total = index.reduced() == 0 ? V::of(0)
                                   : fold(
                                         index.reduced(), identity,
                                         [&](int64_t i) {
                                           return load_element<T>(reinterpret_cast<const std::byte*>(
                                               first + index.element_offset(i)));
                                         },
                                         [](V a, V b) { return a + b; });
    store_element<T>(call.out[0].data + r * static_cast<int64_t>(sizeof(T)), total);
  }
}

void run_sum(const KernelCall& call) {
  visit_dtype(call.in[0].dtype, [&]<class T>(std::type_identity<T>) { sum_of<T>(call); });
}

const KernelRegistrar registered{
    "sum", Kernel{.name = "reference", .in_layout = Layout::kAny, .run = run_sum}, kReferenceRank};

}  // namespace
}  // namespace sorus::reference
