#include <algorithm>

#include "sorus/dispatch/kernel.h"
#include "sorus/ops/shape/attributes.h"

namespace sorus {
namespace {

void run_full(const KernelCall& call) {
  const Array& out = call.out[0];
  double value = call.attrs<FullAttrs>().value;
  visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
    std::fill_n(out.as<T>(), out.numel(), number_as<T>(value));
  });
}

/// Computed element by element in double (integers exactly in int64), so that errors do not add up.
void run_arange(const KernelCall& call) {
  const auto& a = call.attrs<ArangeAttrs>();
  const Array& out = call.out[0];
  visit_dtype(out.dtype, [&]<class T>(std::type_identity<T>) {
    T* to = out.as<T>();
    for (int64_t i = 0; i < a.count; ++i) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        to[i] = static_cast<T>(static_cast<int64_t>(a.start) + i * static_cast<int64_t>(a.step));
      else
        to[i] = number_as<T>(a.start + static_cast<double>(i) * a.step);
    }
  });
}

const KernelRegistrar registered_arange{"arange", Kernel{.name = "arange_reference", .run = run_arange},
                                        kReferenceRank};
const KernelRegistrar registered_full{"full", Kernel{.name = "full_reference", .run = run_full},
                                      kReferenceRank};

}  // namespace
}  // namespace sorus
