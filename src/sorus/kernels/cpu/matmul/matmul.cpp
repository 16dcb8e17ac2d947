#include "sorus/kernels/cpu/matmul/matmul.h"

#include "sorus/base/error.h"
#include "sorus/kernels/cpu/gemm/gemm.h"
#include "sorus/kernels/cpu/onednn/matmul.h"

namespace sorus::kernels::matmul {
namespace {

void check_problem(const MatmulProblem& p) {
  SORUS_CHECK(p.m >= 0 && p.n >= 0 && p.k >= 0 && p.batch_count() >= 0, ShapeError,
              "matmul: a size is negative: got m {}, n {}, k {}, need 0 or more", p.m, p.n, p.k);
  SORUS_CHECK(p.out.col_stride == 1 || p.n <= 1, ValueError,
              "matmul: output columns are apart: got stride {}, need 1", p.out.col_stride);
  SORUS_CHECK(p.out_type == p.type || p.out_type == onednn::ElementType::kFloat32, DTypeError,
              "matmul: output type does not fit: got bfloat16 from float32, need float32");
}

/// True for what the own kernels compute. Throws for what the contract excludes.
bool takes_own(const MatmulProblem& p) {
  check_problem(p);
  return p.m > 0 && p.n > 0 && p.k > 0 && p.batch_count() > 0 && gemm::takes(p);
}

}  // namespace

size_t workspace(const MatmulProblem& problem) {
  return takes_own(problem) ? gemm::workspace(problem) : onednn::matmul_workspace(problem);
}

void multiply(const MatmulProblem& problem, const void* a, const void* b, const float* bias, void* out,
              void* space, const PieceTaker* taker) {
  if (!problem.has_bias) bias = nullptr;
  if (!takes_own(problem)) return onednn::matmul(problem, a, b, bias, out, space, taker);
  gemm::multiply(problem, static_cast<const float*>(a), static_cast<const float*>(b), bias,
                 static_cast<float*>(out), space, taker);
}

bool has_pieces(const MatmulProblem& problem) {
  check_problem(problem);
  if (problem.m == 0 || problem.n == 0 || problem.k == 0 || problem.batch_count() == 0) return false;
  return gemm::takes(problem) ? gemm::has_pieces(problem) : onednn::matmul_has_pieces(problem);
}

bool gives_rows(const MatmulProblem& problem) { return takes_own(problem) && gemm::gives_rows(problem); }

void multiply_rows(const MatmulProblem& problem, const void* a, const void* packed_b, const float* bias,
                   int64_t begin, int64_t end, float* to) {
  gemm::multiply_rows(problem, static_cast<const float*>(a), static_cast<const float*>(packed_b),
                      problem.has_bias ? bias : nullptr, begin, end, to);
}

size_t packed_b_bytes(const MatmulProblem& problem) {
  return takes_own(problem) ? gemm::packed_b_bytes(problem) : onednn::packed_matmul_b_bytes(problem);
}

void pack_b(const MatmulProblem& problem, const void* b, void* to) {
  if (!takes_own(problem)) return onednn::pack_matmul_b(problem, b, to);
  gemm::pack_b(problem, static_cast<const float*>(b), static_cast<float*>(to));
}

}  // namespace sorus::kernels::matmul
