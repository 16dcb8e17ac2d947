#pragma once

#include "tests/ops/harness/sample.h"

/// Samples of reductions over any axes.
namespace sorus::samples {

struct ReductionFamily {
  std::vector<DType> dtypes = floats();
  Real low = -2;
  Real high = 2;
  bool integral = false;  ///< ordinary operands are the integers within the range
  bool empty = true;      ///< a reduction of nothing is defined
  double absolute = 300;  ///< bound on the error, in epsilons
  bool gradient = true;
  bool second_gradient = true;
};

using ReductionCall = Tensor (*)(const Tensor& x, const Ints& axes, bool keepdims);

SampleList reduction_family(ReductionCall f, std::function<Real(const std::vector<Real>&)> exact,
                            const ReductionFamily& family = {});

/// Reduces `a` over the axes (empty: all) with f of the list of elements that go into a result.
HostArray reduce_host(const HostArray& a, const Ints& axes, bool keepdims,
                      const std::function<Real(const std::vector<Real>&)>& f);

}  // namespace sorus::samples
