#pragma once

#include "tests/ops/harness/sample.h"

/// The samples that every elementwise function gets: shapes from empty to large, broadcasting, special
/// values.
namespace sorus::samples {

struct Family {
  std::vector<DType> dtypes = floats();
  Real low =
      -3;  ///< range of ordinary operands; for a second and third operand too unless they say otherwise
  Real high = 3;
  double ulp = 2;
  bool gradient = true;
  bool second_gradient = true;
  bool special = true;    ///< try special values (floating dtypes)
  bool integral = false;  ///< ordinary operands are integers
};

SampleList unary_family(Tensor (*f)(const Tensor&), std::function<Real(Real)> exact,
                        const Family& family = {});
SampleList binary_family(Tensor (*f)(const Tensor&, const Tensor&), std::function<Real(Real, Real)> exact,
                         const Family& family = {});

}  // namespace sorus::samples
