#pragma once

#include <string>

#include "tests/ops/harness/sample.h"

/// Comparisons of results. Each gives the empty string when all is well, else words that say where and what.
namespace sorus::samples {

/// `got` against exact numbers, within the bounds of the sample.
std::string compare_with_reference(const Tensor& got, const HostArray& want, const Sample& sample);

/// Equal types and equal bits; NaNs count as equal whatever their payload.
std::string compare_bits(const Tensor& got, const Tensor& want);

/// `got` against `want` element by element, within relative and absolute tolerance.
std::string compare_close(const HostArray& got, const HostArray& want, Real relative, Real absolute);

}  // namespace sorus::samples
