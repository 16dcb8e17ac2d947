#pragma once

#include <array>

#include "sorus/dispatch/kernel.h"

namespace sorus {

/// A call of matmul taken apart: sizes of one product, batch axes of the result, and how each operand lies in
/// memory, in elements. Axes along which an operand is broadcast have stride 0.
struct MatmulCall {
  static constexpr int kBatchRank = kMaxRank - 2;
  struct Matrix {
    std::array<int64_t, kBatchRank> batch{};
    int64_t row = 0;
    int64_t column = 0;
  };
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  std::array<int64_t, kBatchRank> batch{1, 1, 1, 1, 1, 1};
  Matrix a;
  Matrix b;
  Matrix out;

  MatmulCall() = default;
  explicit MatmulCall(const KernelCall& call) {
    const Array& x = call.in[0];
    const Array& y = call.out[0];
    m = y.size(y.rank() - 2);
    n = y.size(y.rank() - 1);
    k = x.size(x.rank() - 1);
    for (int i = 0; i + 2 < y.rank(); ++i) batch[place(i, y)] = y.size(i);
    a = matrix_of(x);
    b = matrix_of(call.in[1]);
    out = matrix_of(y);
  }

  [[nodiscard]] int64_t batches() const {
    int64_t count = 1;
    for (int64_t extent : batch) count *= extent;
    return count;
  }
  /// Where the matrix of a batch index begins.
  [[nodiscard]] int64_t offset(const Matrix& x, int64_t index) const {
    int64_t at = 0;
    for (size_t i = kBatchRank; i-- > 0; index /= batch[i]) at += index % batch[i] * x.batch[i];
    return at;
  }

 private:
  /// Batch axes stand at the end of the list.
  static size_t place(int axis, const Array& x) { return static_cast<size_t>(axis + kMaxRank - x.rank()); }
  static Matrix matrix_of(const Array& x) {
    Matrix r;
    for (int i = 0; i + 2 < x.rank(); ++i) r.batch[place(i, x)] = x.size(i) == 1 ? 0 : x.strides[i];
    r.row = x.strides[x.rank() - 2];
    r.column = x.strides[x.rank() - 1];
    return r;
  }
};

/// out = a b in float64 as `matmul` has it; rows of `out` are elements side by side.
void multiply_blocked(const MatmulCall& call, const double* a, const double* b, double* out);

}  // namespace sorus
