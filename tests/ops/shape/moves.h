#pragma once

#include "tests/ops/harness/sample.h"

/// Samples of functions that move elements: the reference says for each element of a result where it comes
/// from.
namespace sorus::samples {

using Index = std::vector<int64_t>;

/// Row-major position of an index, and back.
int64_t position_of(const Shape& shape, const Index& index);
Index index_at(const Shape& shape, int64_t position);

/// Gives the row-major position in the (concatenated) inputs of the element at an index of the result, or -1
/// for zero.
using Source = std::function<int64_t(const Index&)>;
struct Result {
  Shape shape;
  Source source;
};

/// A sample in every dtype over inputs of these shapes, whose elements are 1, 2, ... throughout.
Sample moves(const std::string& name, const std::vector<Shape>& shapes, Call call,
             std::vector<Result> results);
/// The same of one input and one result.
Sample move(const std::string& name, const Shape& shape, std::function<Tensor(const Tensor&)> f,
            Result result);

/// Non-negative remainder.
inline int64_t wrap(int64_t i, int64_t n) { return (i % n + n) % n; }

}  // namespace sorus::samples
