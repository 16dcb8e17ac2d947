#pragma once

#include <cstddef>

#include "sorus/kernels/cpu/matmul/problem.h"

/// Matrix products by oneDNN, in pieces. Contract and errors are those of matmul/matmul.h, which comes here
/// for what the own kernels do not take and checks problems first. All functions depend on the problem alone.
namespace sorus::kernels::onednn {

[[nodiscard]] size_t matmul_workspace(const MatmulProblem& problem);
/// `bias` is null unless the problem has one.
void matmul(const MatmulProblem& problem, const void* a, const void* b, const float* bias, void* out,
            void* workspace, const PieceTaker* taker);
[[nodiscard]] bool matmul_has_pieces(const MatmulProblem& problem);
[[nodiscard]] size_t packed_matmul_b_bytes(const MatmulProblem& problem);
void pack_matmul_b(const MatmulProblem& problem, const void* b, void* to);

}  // namespace sorus::kernels::onednn
