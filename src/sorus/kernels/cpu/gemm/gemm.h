#pragma once

#include <cstddef>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/matmul/problem.h"

/// Float32 matrix products by kernels of our own. Contract, layouts, workspace and packed operands are those
/// of matmul/matmul.h, whose functions come here for what this takes.
///
/// Every sum runs over k in order, one fused multiply-add after the other, on its own: its bits depend on
/// neither tiles, threads, strides, vector length nor what else is computed. Only sums of at least
/// kLongestSum are cut, by the shape, into parts that are added in order.
namespace sorus::kernels::gemm {

inline constexpr int64_t kLongestSum = 4096;

/// True for float32 on a CPU with AVX2 or more.
[[nodiscard]] SORUS_API bool takes(const MatmulProblem& problem);

/// The functions of matmul/matmul.h for problems that takes() accepts, with no size 0.
[[nodiscard]] SORUS_API size_t workspace(const MatmulProblem& problem);
SORUS_API void multiply(const MatmulProblem& problem, const float* a, const float* b, const float* bias,
                        float* out, void* workspace, const PieceTaker* taker = nullptr);
[[nodiscard]] bool has_pieces(const MatmulProblem& problem);
[[nodiscard]] SORUS_API size_t packed_b_bytes(const MatmulProblem& problem);
SORUS_API void pack_b(const MatmulProblem& problem, const float* b, float* to);
[[nodiscard]] SORUS_API bool gives_rows(const MatmulProblem& problem);
SORUS_API void multiply_rows(const MatmulProblem& problem, const float* a, const float* packed_b,
                             const float* bias, int64_t begin, int64_t end, float* to);

}  // namespace sorus::kernels::gemm
