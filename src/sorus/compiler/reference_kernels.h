#pragma once

#include "sorus/dispatch/kernel.h"

namespace sorus {

/// While it lives, this thread computes by reference kernels alone, or not.
class ReferenceKernels {
 public:
  explicit ReferenceKernels(bool only) : saved_(reference_kernels_only()) { reference_kernels_only() = only; }
  ~ReferenceKernels() { reference_kernels_only() = saved_; }
  ReferenceKernels(const ReferenceKernels&) = delete;
  ReferenceKernels& operator=(const ReferenceKernels&) = delete;

 private:
  bool saved_;
};

}  // namespace sorus
