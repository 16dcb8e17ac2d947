#define EIGEN_MPL2_ONLY
#define EIGEN_DONT_PARALLELIZE

#include <Eigen/Core>
#include <Eigen/SVD>
#include <algorithm>
#include <limits>
#include <vector>

#include "sorus/base/thread_pool.h"
#include "sorus/dispatch/kernel.h"
#include "sorus/ops/linalg/attributes.h"

// Decompositions by Eigen, matrix by matrix in double. Eigen is built for the least common processor and
// without its threads here, so that bits depend on the operands alone.
namespace sorus::reference {
namespace {

using Matrix = Eigen::MatrixXd;
using Decomposition = Eigen::BDCSVD<Matrix>;

constexpr int64_t kGrain = 4096;  // elements a piece

template <class T>
Matrix matrix_at(const Array& x, int64_t number) {
  const int64_t m = x.size(x.rank() - 2);
  const int64_t n = x.size(x.rank() - 1);
  const T* at = x.as<T>() + number * m * n;
  Matrix a(m, n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) a(i, j) = static_cast<double>(at[i * n + j]);
  return a;
}

template <class T>
void put(const Matrix& a, const Array& out, int64_t number) {
  T* at = out.as<T>() + number * a.rows() * a.cols();
  for (int64_t i = 0; i < a.rows(); ++i)
    for (int64_t j = 0; j < a.cols(); ++j) at[i * a.cols() + j] = static_cast<T>(a(i, j));
}

/// Flips the pairs of columns whose greatest element on the left is negative; columns without a partner
/// alone.
void choose_signs(Matrix& left, Matrix& right, int64_t pairs) {
  auto greatest_is_negative = [](const Matrix& q, int64_t column) {
    int64_t at = 0;
    for (int64_t i = 1; i < q.rows(); ++i)
      if (std::abs(q(i, column)) > std::abs(q(at, column))) at = i;
    return q.rows() > 0 && q(at, column) < 0;
  };
  for (int64_t j = 0; j < left.cols(); ++j) {
    if (!greatest_is_negative(left, j)) continue;
    left.col(j) *= -1;
    if (j < pairs) right.col(j) *= -1;
  }
  for (int64_t j = pairs; j < right.cols(); ++j)
    if (greatest_is_negative(right, j)) right.col(j) *= -1;
}

struct Parts {
  Eigen::VectorXd values;
  Matrix left, right;
};

Parts decompose(const Matrix& a, bool vectors, bool full) {
  const int64_t k = std::min(a.rows(), a.cols());
  const int64_t left = full ? a.rows() : k;
  const int64_t right = full ? a.cols() : k;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (!a.allFinite())
    return {Eigen::VectorXd::Constant(k, kNan), Matrix::Constant(a.rows(), left, kNan),
            Matrix::Constant(a.cols(), right, kNan)};
  if (k == 0)
    return {Eigen::VectorXd(0), Matrix::Identity(a.rows(), left), Matrix::Identity(a.cols(), right)};
  if (!vectors) return {Decomposition(a).singularValues(), {}, {}};
  const int options =
      full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
  const Decomposition d(a, static_cast<unsigned>(options));
  Parts parts{d.singularValues(), d.matrixU(), d.matrixV()};
  choose_signs(parts.left, parts.right, k);
  return parts;
}

/// Calls f(T, number) for every matrix of the operand.
template <class F>
void for_each_matrix(const Array& x, F f) {
  int64_t count = 1;
  for (int i = 0; i < x.rank() - 2; ++i) count *= x.size(i);
  const int64_t elements = std::max<int64_t>(x.size(x.rank() - 2) * x.size(x.rank() - 1), 1);
  parallel_ranges(count, std::max<int64_t>(kGrain / elements, 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (x.dtype == DType::kFloat64)
        f(double{}, i);
      else
        f(float{}, i);
    }
  });
}

void run_svd(const KernelCall& call) {
  const bool full = call.attrs<SvdAttrs>().full_matrices;
  for_each_matrix(call.in[0], [&]<class T>(T, int64_t i) {
    const Parts parts = decompose(matrix_at<T>(call.in[0], i), true, full);
    put<T>(parts.values, call.out[0], i);
    put<T>(parts.left, call.out[1], i);
    put<T>(parts.right, call.out[2], i);
  });
}

void run_singular_values(const KernelCall& call) {
  for_each_matrix(call.in[0], [&]<class T>(T, int64_t i) {
    put<T>(decompose(matrix_at<T>(call.in[0], i), false, false).values, call.out[0], i);
  });
}

void run_pinv(const KernelCall& call) {
  const auto& a = call.attrs<PinvAttrs>();
  for_each_matrix(call.in[0], [&]<class T>(T, int64_t i) {
    Parts parts = decompose(matrix_at<T>(call.in[0], i), true, false);
    const double greatest = parts.values.size() > 0 ? parts.values(0) : 0;
    const double least = std::max(a.absolute, a.relative * greatest);
    for (int64_t k = 0; k < parts.values.size(); ++k)
      parts.right.col(k) *= parts.values(k) <= least ? 0 : 1 / parts.values(k);
    put<T>(parts.right * parts.left.transpose(), call.out[0], i);
  });
}

const KernelRegistrar registered[] = {
    {"svd", Kernel{.name = "reference", .run = run_svd}, kReferenceRank},
    {"singular_values", Kernel{.name = "reference", .run = run_singular_values}, kReferenceRank},
    {"pinv", Kernel{.name = "reference", .run = run_pinv}, kReferenceRank},
};

}  // namespace
}  // namespace sorus::reference
