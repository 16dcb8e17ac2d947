#include "sorus/kernels/cpu/nn/step_product.h"

#include "sorus/kernels/cpu/gemm/gemm.h"
#include "sorus/kernels/cpu/linalg/matmul_call.h"
#include "sorus/kernels/cpu/matmul/matmul.h"

namespace sorus {
namespace {

kernels::MatmulProblem problem_of(int64_t rows, int64_t n, int64_t k, int64_t a_row, int64_t b_row,
                                  int64_t b_column) {
  kernels::MatmulProblem p;
  p.m = rows;
  p.n = n;
  p.k = k;
  p.a.row_stride = a_row;
  p.b.row_stride = b_row;
  p.b.col_stride = b_column;
  p.out.row_stride = n;
  return p;
}

/// Of any number of rows.
kernels::MatmulProblem packed_problem(int64_t n, int64_t k, int64_t b_row, int64_t b_column) {
  kernels::MatmulProblem p = problem_of(1, n, k, k, b_row, b_column);
  p.b_is_packed = true;
  return p;
}

}  // namespace

template <class S>
size_t StepProduct<S>::packed_bytes(int64_t n, int64_t k) {
  if constexpr (std::is_same_v<S, float>) {
    const kernels::MatmulProblem p = packed_problem(n, k, n, 1);
    if (kernels::gemm::takes(p)) return kernels::gemm::packed_b_bytes(p);
  }
  return 0;
}

template <class S>
void StepProduct<S>::pack(int64_t n, int64_t k, const S* b, int64_t b_row, int64_t b_column, void* to) {
  if constexpr (std::is_same_v<S, float>)
    kernels::gemm::pack_b(packed_problem(n, k, b_row, b_column), b, static_cast<float*>(to));
}

template <class S>
StepProduct<S>::StepProduct(int64_t n, int64_t k, const S* b, int64_t b_row, int64_t b_column, int64_t steps,
                            const void* packed)
    : n_(n), k_(k), b_(b), b_row_(b_row), b_column_(b_column), packed_(packed) {
  if (packed || steps < kManySteps) return;
  const size_t bytes = packed_bytes(n, k);
  if (bytes == 0) return;
  own_packed_ = Storage::allocate(bytes);
  packed_ = own_packed_->data();
  pack(n, k, b, b_row, b_column, own_packed_->data());
}

template <>
void StepProduct<float>::run(int64_t rows, const float* a, int64_t a_row, float* out) const {
  kernels::MatmulProblem p = problem_of(rows, n_, k_, a_row, b_row_, b_column_);
  p.b_is_packed = packed_ != nullptr;
  Ref<Storage> workspace;
  if (size_t bytes = kernels::matmul::workspace(p)) workspace = Storage::allocate(bytes);
  kernels::matmul::multiply(p, a, packed_ ? packed_ : b_, nullptr, out,
                            workspace ? workspace->data() : nullptr);
}

template <>
void StepProduct<double>::run(int64_t rows, const double* a, int64_t a_row, double* out) const {
  MatmulCall call;
  call.m = rows;
  call.n = n_;
  call.k = k_;
  call.a.row = a_row;
  call.a.column = 1;
  call.b.row = b_row_;
  call.b.column = b_column_;
  call.out.row = n_;
  call.out.column = 1;
  multiply_blocked(call, a, b_, out);
}

template class StepProduct<float>;
template class StepProduct<double>;

}  // namespace sorus
