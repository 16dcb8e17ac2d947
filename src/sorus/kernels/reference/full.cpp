#include <algorithm>

#include "sorus/dispatch/kernel.h"
#include "sorus/ops/shape/attributes.h"

namespace sorus {
namespace {

void run_full(const KernelCall& call) {
  const Array& out = call.out[0];
  double value = call.attrs<FullAttrs>().value;
  visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
    T item;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      item = static_cast<T>(static_cast<int64_t>(value));
    else
      item = static_cast<T>(static_cast<ComputeType<T>>(value));
    std::fill_n(out.as<T>(), out.numel(), item);
  });
}

const KernelRegistrar registered{"full", Kernel{.name = "full_reference", .run = run_full}, kReferenceRank};

}  // namespace
}  // namespace sorus
