#pragma once

#include "sorus/kernels/cpu/simd/targets.h"
//
#include "hwy/highway.h"
//
#include "sorus/dispatch/kernel.h"

/// What the files with kernels of all targets share at their end, under HWY_ONCE: kernels that call the
/// function of the best target, and their registration.
namespace sorus::simd {

/// Calls the function of the chosen target from the table that HWY_EXPORT makes:
/// run_best<HWY_DISPATCH_TABLE(f)>.
template <const auto& kTable>
void run_best(const KernelCall& call) {
  static_assert(std::extent_v<std::remove_reference_t<decltype(kTable)>> > 1, "needs dispatch at run time");
  kTable[hwy::GetChosenTarget().GetIndex()](call);
}

inline Refusal refuse_float64(const KernelCall& call) {
  return call.out[0].dtype == DType::kFloat64 ? "float64 is left to the reference" : kAccepted;
}
inline Refusal refuse_empty(const KernelCall& call) {
  return call.in[0].numel() == 0 ? "the operand is empty" : kAccepted;
}

/// Size of the numbers that a kernel computes the first result in.
inline size_t compute_size(const KernelCall& call) {
  return call.out[0].dtype == DType::kFloat64 ? sizeof(double) : sizeof(float);
}

/// Registers a kernel of this op at kSimdRank.
struct SimdRegistrar {
  SimdRegistrar(std::string_view op, const Kernel& kernel) { KernelRegistrar(op, kernel, kSimdRank); }
};

}  // namespace sorus::simd
