#pragma once

#include <cstddef>

#include "sorus/base/export.h"
#include "sorus/kernels/cpu/matmul/problem.h"

/// The matrix product of the CPU: in float32 the own kernels of cpu/gemm where the processor has AVX2, all
/// else oneDNN in pieces. The choice depends on types and sizes alone.
///
/// All functions throw ShapeError, DTypeError or ValueError for what the problem's contract excludes, and
/// NotSupportedError for bfloat16 on a CPU for which oneDNN has no such kernel.
namespace sorus::kernels::matmul {

/// Bytes of workspace, aligned to onednn::kWorkspaceAlignment, that multiply() needs; 0 when none. Depends on
/// the problem alone.
[[nodiscard]] SORUS_API size_t workspace(const MatmulProblem& problem);

/// Computes the product. `bias` may be null unless the problem has one; `space` may be null when none is
/// needed. A taker gets the result piece by piece as well, rows of all its matrices being counted through;
/// `out` may then be null, and nothing may be empty.
SORUS_API void multiply(const MatmulProblem& problem, const void* a, const void* b, const float* bias,
                        void* out, void* space, const PieceTaker* taker = nullptr);

/// Whether a taker may be given: the result comes in whole rows. Products cut by columns do not: what follows
/// them would read and write a few cache lines of each row, which took longer than a pass of its own (8 % of
/// 1024 x 768 x 3072 with gelu).
[[nodiscard]] SORUS_API bool has_pieces(const MatmulProblem& problem);

/// Bytes that pack_b writes.
[[nodiscard]] SORUS_API size_t packed_b_bytes(const MatmulProblem& problem);

/// Packs b once for many products (constant weights). The result is the same product, bit for bit. What is
/// packed belongs to this process and CPU: it must not be stored.
SORUS_API void pack_b(const MatmulProblem& problem, const void* b, void* to);

/// Whether multiply_rows() takes the problem: one float32 matrix by the own kernels, whose sums are not cut.
[[nodiscard]] SORUS_API bool gives_rows(const MatmulProblem& problem);
/// Computes rows [begin, end) of the product on the calling thread, one after the other from `to` on; the
/// bits are those of multiply(). b comes packed.
SORUS_API void multiply_rows(const MatmulProblem& problem, const void* a, const void* packed_b,
                             const float* bias, int64_t begin, int64_t end, float* to);

}  // namespace sorus::kernels::matmul
