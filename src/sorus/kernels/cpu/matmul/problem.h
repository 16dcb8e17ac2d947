#pragma once

#include <array>
#include <cstdint>

#include "sorus/dispatch/result_piece.h"
#include "sorus/kernels/cpu/onednn/types.h"

namespace sorus::kernels {

inline constexpr int kMaxBatchRank = 6;

/// How an operand of a matmul lies in memory. Element (b..., i, j) is at the sum of index times stride,
/// strides in elements, any sign; 0 in a batch stride repeats a matrix. A transposed operand has its two last
/// strides exchanged.
struct MatrixLayout {
  std::array<int64_t, kMaxBatchRank> batch_stride{};
  int64_t row_stride = 0;
  int64_t col_stride = 1;
  bool operator==(const MatrixLayout&) const = default;
};

/// out[b, i, j] = activation(sum over p of a[b, i, p] * b[b, p, j] + bias[j]), accumulated in float32 and
/// rounded once.
///
/// Any layout of a and b is taken without a copy by the caller, who need not make anything contiguous; a
/// row-major a (row_stride = k, col_stride = 1) costs least. out must have col_stride 1 and overlap no
/// operand. Sizes may be 0; with k = 0 the sum is 0. a and b have the same type; out is of that type or
/// float32.
struct MatmulProblem {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  std::array<int64_t, kMaxBatchRank> batch{1, 1, 1, 1, 1, 1};
  MatrixLayout a;
  MatrixLayout b;
  MatrixLayout out;
  onednn::ElementType type = onednn::ElementType::kFloat32;
  onednn::ElementType out_type = onednn::ElementType::kFloat32;
  /// When true, the product takes a float32 bias of n elements.
  bool has_bias = false;
  onednn::Activation activation = onednn::Activation::kNone;
  /// When true, b is memory that pack_b (matmul/matmul.h) filled for this very problem; of its layout only
  /// the zero batch strides count.
  bool b_is_packed = false;

  /// Matrices of the result.
  [[nodiscard]] int64_t batch_count() const {
    int64_t count = 1;
    for (int64_t size : batch) count *= size;
    return count;
  }
  /// True when all matrices of the result have the same b.
  [[nodiscard]] bool shares_b() const {
    for (int i = 0; i < kMaxBatchRank; ++i) {
      if (batch[i] != 1 && b.batch_stride[i] != 0) return false;
    }
    return true;
  }
  /// Elements before matrix `index` of an operand that lies so.
  [[nodiscard]] int64_t batch_offset(const MatrixLayout& layout, int64_t index) const {
    int64_t at = 0;
    for (int i = kMaxBatchRank - 1; i >= 0 && index != 0; --i) {
      at += index % batch[i] * layout.batch_stride[i];
      index /= batch[i];
    }
    return at;
  }
};

}  // namespace sorus::kernels
