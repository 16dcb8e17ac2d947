#include "sorus/kernels/reference/reduce.h"

#include <limits>

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

#include "sorus/math/rows/reduce.inc"

template <class Row, class T>
void reduce_of(const KernelCall& call) {
  using V = decltype(load_element<T>(nullptr));
  const ReduceIndex index(call, call.attrs<ReduceAttrs>().axes);
  for (int64_t r = 0; r < index.results(); ++r) {
    const T* first = call.in[0].as<const T>() + index.result_offset(r);
    const auto at = [&](int64_t i) {
      return load_element<T>(reinterpret_cast<const std::byte*>(first + index.element_offset(i)));
    };
    const V total =
        fold(index.reduced(), Row::template identity<V>(), at, [](V a, V b) { return Row::join(a, b); });
    store_element<T>(call.out[0].data + r * static_cast<int64_t>(sizeof(T)),
                     Row::finish(total, index.reduced()));
  }
}

template <class Row>
void run_any(const KernelCall& call) {
  visit_dtype(call.in[0].dtype, [&]<class T>(std::type_identity<T>) { reduce_of<Row, T>(call); });
}
void run_mean(const KernelCall& call) {
  visit_floating(call.in[0].dtype,
                 [&]<class T>(std::type_identity<T>) { reduce_of<MeanReduction, T>(call); });
}

KernelRegistrar reference(std::string_view op, void (*run)(const KernelCall&)) {
  return {op, Kernel{.name = "reference", .in_layout = Layout::kAny, .run = run}, kReferenceRank};
}
const KernelRegistrar registered[] = {reference("sum", run_any<SumReduction>), reference("mean", run_mean),
                                      reference("prod", run_any<ProdReduction>),
                                      reference("amax", run_any<MaxReduction>),
                                      reference("amin", run_any<MinReduction>)};

}  // namespace
}  // namespace sorus::reference
