#include <algorithm>
#include <limits>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/kernels/cpu/reduce/layout.h"
#include "sorus/kernels/integer_lane.h"
#include "sorus/math/functions.h"
#include "sorus/ops/reduce/attributes.h"

// Reductions of integers and bools, which give the same bits in any order: memory is read as it lies.
namespace sorus::cpu {
namespace {

#include "sorus/math/rows/reduce.inc"

constexpr int64_t kGrain = 65536;

template <class T>
IntegerLane<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>> lane_of(T v) {
  return {v};
}

template <class Row, class T>
void reduce_integers(const KernelCall& call) {
  using V = decltype(lane_of(T{}));
  const Array& x = call.in[0];
  const ReduceLayout layout = reduce_layout(x, call.attrs<ReduceAttrs>().axes, call.op.name);
  const int64_t rows = layout.count / layout.run;
  T* out = call.out[0].as<T>();
  parallel_ranges(layout.results, std::max<int64_t>(1, kGrain / (layout.count * layout.columns)),
                  [&](int64_t begin, int64_t end) {
                    std::vector<V> total(static_cast<size_t>(layout.columns));
                    for (int64_t r = begin; r < end; ++r) {
                      std::fill(total.begin(), total.end(), Row::template identity<V>());
                      for (int64_t row = 0; row < rows; ++row) {
                        const T* from = x.as<const T>() + layout.kept.offset(r) + layout.reduced.offset(row);
                        if (layout.columns == 1) {
                          V t = total[0];
                          for (int64_t i = 0; i < layout.run; ++i) t = Row::join(t, lane_of(from[i]));
                          total[0] = t;
                        } else {
                          for (int64_t i = 0; i < layout.columns; ++i) {
                            V& t = total[static_cast<size_t>(i)];
                            t = Row::join(t, lane_of(from[i]));
                          }
                        }
                      }
                      for (int64_t i = 0; i < layout.columns; ++i)
                        out[r * layout.columns + i] = static_cast<T>(total[static_cast<size_t>(i)].v);
                    }
                  });
}

template <class Row>
void run(const KernelCall& call) {
  visit_dtype(call.in[0].dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) reduce_integers<Row, T>(call);
  });
}

Refusal takes_integers(const KernelCall& call) {
  if (is_floating(call.in[0].dtype)) return "takes integers and bools alone";
  return call.in[0].numel() > 0 ? kAccepted : "takes no empty operand";
}
KernelRegistrar integer_kernel(std::string_view op, void (*kernel)(const KernelCall&)) {
  return {op, Kernel{.name = "integers", .supports = takes_integers, .run = kernel}, kSimdRank};
}
const KernelRegistrar registered[] = {
    integer_kernel("sum", run<SumReduction>), integer_kernel("prod", run<ProdReduction>),
    integer_kernel("amax", run<MaxReduction>), integer_kernel("amin", run<MinReduction>)};

}  // namespace
}  // namespace sorus::cpu
