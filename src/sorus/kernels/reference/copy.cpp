#include "sorus/dispatch/kernel.h"

/// reshape and contiguous when they cannot be views: the elements, row-major, one after the other.
namespace sorus {
namespace {

void run_copy(const KernelCall& call) {
  const Array& x = call.in[0];
  copy_strided(x.data, x.strides, call.out[0].data, Strides::contiguous(*x.shape), *x.shape,
               dtype_size(x.dtype));
}

constexpr Kernel kernel{.name = "copy_reference", .in_layout = Layout::kAny, .run = run_copy};
const KernelRegistrar registered_reshape{"reshape", kernel, kReferenceRank};
const KernelRegistrar registered_contiguous{"contiguous", kernel, kReferenceRank};

}  // namespace
}  // namespace sorus
