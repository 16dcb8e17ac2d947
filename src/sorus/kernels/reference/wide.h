#pragma once

#include "sorus/core/dtype.h"
#include "sorus/dispatch/kernel.h"

/// Reference kernels compute in double and round once to the result's dtype.
namespace sorus {

template <class T>
[[nodiscard]] double wide(T v) {
  return static_cast<double>(static_cast<ComputeType<T>>(v));
}
template <class T>
[[nodiscard]] T narrow(double v) {
  return T(static_cast<ComputeType<T>>(v));
}

/// Runs the instance for the floating dtype of the first result.
template <void (*kHalf)(const KernelCall&), void (*kBFloat)(const KernelCall&),
          void (*kFloat)(const KernelCall&), void (*kDouble)(const KernelCall&)>
void by_floating(const KernelCall& call) {
  switch (call.out[0].dtype) {
    case DType::kFloat16:
      return kHalf(call);
    case DType::kBFloat16:
      return kBFloat(call);
    case DType::kFloat32:
      return kFloat(call);
    default:
      return kDouble(call);
  }
}

}  // namespace sorus
