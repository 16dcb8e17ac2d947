#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/onednn/types.h"

namespace sorus::kernels::onednn {

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
  ElementType type = ElementType::kFloat32;
  ElementType out_type = ElementType::kFloat32;
  /// When true, run() takes a float32 bias of n elements.
  bool has_bias = false;
  Activation activation = Activation::kNone;
  /// When true, b is memory that pack_matmul_b filled for this very problem; of its layout only the zero
  /// batch strides count.
  bool b_is_packed = false;
};

/// Bytes of workspace, aligned to kWorkspaceAlignment, that matmul() needs; 0 when none. Depends on the
/// problem alone.
[[nodiscard]] SORUS_API size_t matmul_workspace(const MatmulProblem& problem);

/// Computes the product. `bias` may be null unless the problem has one; `workspace` may be null when none is
/// needed. Throws DTypeError or ValueError for what the problem's contract excludes, NotSupportedError for
/// bfloat16 on a CPU for which oneDNN has no such kernel.
SORUS_API void matmul(const MatmulProblem& problem, const void* a, const void* b, const float* bias,
                      void* out, void* workspace);

/// Bytes that pack_matmul_b writes.
[[nodiscard]] SORUS_API size_t packed_matmul_b_bytes(const MatmulProblem& problem);

/// Packs b once for many products (constant weights). The result is the same product, bit for bit. What is
/// packed belongs to this process and CPU: it must not be stored.
SORUS_API void pack_matmul_b(const MatmulProblem& problem, const void* b, void* to);

}  // namespace sorus::kernels::onednn
