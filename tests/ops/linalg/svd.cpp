#include <cmath>

#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/functions.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/harness/sample.h"

namespace sorus::samples {
namespace {

using Column = std::vector<Real>;

Real dot_of(const Column& a, const Column& b) {
  Real total = 0;
  for (size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
  return total;
}

/// Rotates two columns of a pair of matrices.
void rotate(Column& a, Column& b, Real c, Real s) {
  for (size_t i = 0; i < a.size(); ++i) {
    const Real x = a[i];
    a[i] = c * x - s * b[i];
    b[i] = s * x + c * b[i];
  }
}

struct Decomposed {
  std::vector<Real> values;
  std::vector<Column> left, right;
};

/// Jacobi's method from one side (Hestenes 1958): rotates columns until all are orthogonal. m >= n.
Decomposed decompose_tall(const std::vector<Real>& a, size_t m, size_t n) {
  Decomposed d;
  for (size_t j = 0; j < n; ++j) {
    d.left.emplace_back(m);
    d.right.emplace_back(n);
    d.right[j][j] = 1;
    for (size_t i = 0; i < m; ++i) d.left[j][i] = a[i * n + j];
  }
  for (int sweep = 0; sweep < 60; ++sweep)
    for (size_t p = 0; p < n; ++p)
      for (size_t q = p + 1; q < n; ++q) {
        const Real cross = dot_of(d.left[p], d.left[q]);
        if (cross == 0) continue;
        const Real tau = (dot_of(d.left[q], d.left[q]) - dot_of(d.left[p], d.left[p])) / (2 * cross);
        const Real t = (tau < 0 ? -1 : 1) / (std::fabs(tau) + std::sqrt(1 + tau * tau));
        const Real c = 1 / std::sqrt(1 + t * t);
        rotate(d.left[p], d.left[q], c, c * t);
        rotate(d.right[p], d.right[q], c, c * t);
      }
  for (size_t j = 0; j < n; ++j) d.values.push_back(std::sqrt(dot_of(d.left[j], d.left[j])));
  for (size_t j = 0; j < n; ++j)
    for (size_t k = j + 1; k < n; ++k)
      if (d.values[k] > d.values[j]) {
        std::swap(d.values[j], d.values[k]);
        std::swap(d.left[j], d.left[k]);
        std::swap(d.right[j], d.right[k]);
      }
  for (size_t j = 0; j < n; ++j)
    for (Real& v : d.left[j]) v /= d.values[j];
  return d;
}

Decomposed decompose(const std::vector<Real>& a, size_t m, size_t n) {
  Decomposed d;
  if (m >= n) {
    d = decompose_tall(a, m, n);
  } else {
    std::vector<Real> transposed(a.size());
    for (size_t i = 0; i < m; ++i)
      for (size_t j = 0; j < n; ++j) transposed[j * m + i] = a[i * n + j];
    d = decompose_tall(transposed, n, m);
    std::swap(d.left, d.right);
  }
  for (size_t j = 0; j < d.values.size(); ++j) {
    size_t at = 0;
    for (size_t i = 1; i < m; ++i)
      if (std::fabs(d.left[j][i]) > std::fabs(d.left[j][at])) at = i;
    if (d.left[j][at] > 0) continue;
    for (Real& v : d.left[j]) v = -v;
    for (Real& v : d.right[j]) v = -v;
  }
  return d;
}

/// Calls f(decomposition) for each matrix.
template <class F>
void for_each_matrix(const HostArray& x, F f) {
  const auto m = static_cast<size_t>(x.shape.size(x.shape.rank() - 2));
  const auto n = static_cast<size_t>(x.shape.size(x.shape.rank() - 1));
  for (size_t at = 0; at < x.values.size(); at += m * n)
    f(decompose(
        {x.values.begin() + static_cast<int64_t>(at), x.values.begin() + static_cast<int64_t>(at + m * n)}, m,
        n));
}

Shape with_tail(const Shape& x, std::initializer_list<int64_t> tail) {
  Shape s;
  for (int i = 0; i < x.rank() - 2; ++i) s.push_back(x[i]);
  for (int64_t extent : tail) s.push_back(extent);
  return s;
}

void add_columns(HostArray& out, const std::vector<Column>& columns, size_t rows) {
  for (size_t i = 0; i < rows; ++i)
    for (const Column& c : columns) out.values.push_back(c[i]);
}

std::vector<HostArray> reference_svd(const std::vector<HostArray>& in) {
  const Shape& x = in[0].shape;
  const int64_t m = x.size(x.rank() - 2);
  const int64_t n = x.size(x.rank() - 1);
  const int64_t k = std::min(m, n);
  std::vector<HostArray> out = {
      {with_tail(x, {k}), {}}, {with_tail(x, {m, k}), {}}, {with_tail(x, {n, k}), {}}};
  for_each_matrix(in[0], [&](const Decomposed& d) {
    out[0].values.insert(out[0].values.end(), d.values.begin(), d.values.end());
    add_columns(out[1], d.left, static_cast<size_t>(m));
    add_columns(out[2], d.right, static_cast<size_t>(n));
  });
  return out;
}

std::vector<HostArray> reference_pinv(const std::vector<HostArray>& in) {
  const Shape& x = in[0].shape;
  const int64_t m = x.size(x.rank() - 2);
  const int64_t n = x.size(x.rank() - 1);
  HostArray out{with_tail(x, {n, m}), {}};
  for_each_matrix(in[0], [&](const Decomposed& d) {
    for (size_t i = 0; i < static_cast<size_t>(n); ++i)
      for (size_t j = 0; j < static_cast<size_t>(m); ++j) {
        Real total = 0;
        for (size_t k = 0; k < d.values.size(); ++k) total += d.right[k][i] / d.values[k] * d.left[k][j];
        out.values.push_back(total);
      }
  });
  return {out};
}

TensorList call_svd(const TensorList& in) {
  const Svd r = svd(in[0]);
  return {r.values, r.left, r.right};
}

/// The result is exact only to the size of the operand.
Sample inexact(Sample s) {
  s.absolute = 16;
  return s;
}

const std::vector<Shape>& matrix_shapes() {
  static const std::vector<Shape> shapes = {{3, 3}, {5, 2}, {2, 4}, {2, 3, 4, 3}, {1, 1}, {1, 4}};
  return shapes;
}

OP_SAMPLES(svd) {
  SampleList list;
  for (const Shape& shape : matrix_shapes())
    list.push_back(inexact({.name = shape.text(),
                            .inputs = {randn(shape, 11)},
                            .call = call_svd,
                            .reference = reference_svd,
                            .equal_strides = true}));
  list.push_back(inexact({.name = "large enough for divide and conquer",
                          .inputs = {randn({40, 33}, 4)},
                          .call =
                              [](const TensorList& in) {
                                const Svd r = svd(in[0]);
                                return TensorList{
                                    r.values, matmul(r.left * expand_dims(r.values, -2), swap_last(r.right)),
                                    matmul(swap_last(r.left), r.left)};
                              },
                          .reference =
                              [](const std::vector<HostArray>& in) {
                                HostArray unit = full({33, 33}, 0);
                                for (size_t i = 0; i < 33; ++i) unit.values[i * 34] = 1;
                                return std::vector{reference_svd(in)[0], in[0], unit};
                              },
                          .dtypes = wide_floats(),
                          .equal_kernels = false,
                          .second_gradient = false}));
  list.back().absolute = 256;
  for (const Shape& shape : {Shape{4, 2}, Shape{2, 4}, Shape{3, 3}})
    list.push_back(inexact({.name = "square vectors of " + shape.text(),
                            .inputs = {randn(shape, 5)},
                            .call =
                                [](const TensorList& in) {
                                  const Svd r = svd(in[0], true);
                                  return TensorList{r.values, matmul(r.left, swap_last(r.left)),
                                                    matmul(r.right, swap_last(r.right))};
                                },
                            .reference =
                                [](const std::vector<HostArray>& in) {
                                  std::vector<HostArray> out = {reference_svd(in)[0]};
                                  for (int axis : {0, 1}) {
                                    const int64_t n = in[0].shape.size(axis);
                                    out.push_back(full({n, n}, 0));
                                    for (int64_t i = 0; i < n; ++i)
                                      out.back().values[static_cast<size_t>(i * (n + 1))] = 1;
                                  }
                                  return out;
                                },
                            .dtypes = wide_floats(),
                            .equal_kernels = false,
                            .gradient = false}));
  // What does not depend on the choice among equal values has its true gradient there, too.
  list.push_back(inexact({.name = "equal values",
                          .inputs = {HostArray{{2, 2}, {2, 0, 0, 2}}},
                          .call = [](const TensorList& in) { return TensorList{svd(in[0]).values}; },
                          .reference =
                              [](const std::vector<HostArray>&) {
                                return std::vector{items({2, 2})};
                              },
                          .gradient = false}));
  list.push_back({.name = "not finite",
                  .inputs = {HostArray{{2, 2, 2}, {1, NAN, 0, 1, INFINITY, 0, 0, 1}}},
                  .call = call_svd,
                  .reference =
                      [](const std::vector<HostArray>&) {
                        return std::vector{full({2, 2}, NAN), full({2, 2, 2}, NAN), full({2, 2, 2}, NAN)};
                      },
                  .gradient = false});
  for (const Shape& shape : {Shape{0, 3}, Shape{3, 0}, Shape{0, 2, 2}})
    list.push_back({.name = "empty " + shape.text(), .inputs = {full(shape, 0)}, .call = call_svd});
  return list;
}
OP_ERRORS(svd) {
  return {{"rank", [] { (void)svd(Tensor(1.0F)); }, ErrorKind::kShape, "need rank 2 or more"},
          {"dtype",
           [] {
             (void)svd(to_tensor(arange({2, 2}), DType::kInt32));
           },
           ErrorKind::kDType, "got int32"}};
}

OP_SAMPLES(singular_values) {
  SampleList list;
  for (const Shape& shape : matrix_shapes())
    list.push_back(inexact(
        {.name = shape.text(),
         .inputs = {randn(shape, 3)},
         .call = call_of(singular_values),
         .reference = [](const std::vector<HostArray>& in) { return std::vector{reference_svd(in)[0]}; }}));
  for (MatrixNorm kind : {MatrixNorm::kSpectral, MatrixNorm::kLeastSpectral, MatrixNorm::kNuclear})
    list.push_back(
        inexact({.name = "norm", .inputs = {randn({2, 4, 3}, 6)}, .call = [kind](const TensorList& in) {
                   return TensorList{matrix_norm(in[0], kind, 0, 2, true), matrix_norm(in[0], kind)};
                 }}));
  return list;
}
OP_ERRORS(singular_values) {
  return {{"rank", [] { (void)singular_values(Tensor(1.0F)); }, ErrorKind::kShape, "need rank 2 or more"}};
}

OP_SAMPLES(pinv) {
  SampleList list;
  for (const Shape& shape : matrix_shapes()) {
    list.push_back({.name = shape.text(),
                    .inputs = {randn(shape, 8)},
                    .call = [](const TensorList& in) { return TensorList{pinv(in[0])}; },
                    .reference = reference_pinv});
    list.back().absolute = 1024;  // the inverses of small values are large
  }
  // Of rank 1: the second value is zero but for rounding, and must count as zero.
  list.push_back(inexact({.name = "rank 1",
                          .inputs = {HostArray{{2, 2}, {1, 2, 2, 4}}},
                          .call = [](const TensorList& in) { return TensorList{pinv(in[0])}; },
                          .reference =
                              [](const std::vector<HostArray>&) {
                                return std::vector{HostArray{{2, 2}, {0.04L, 0.08L, 0.08L, 0.16L}}};
                              },
                          .gradient = false}));
  list.push_back(
      inexact({.name = "values up to a tolerance are zero",
               .inputs = {HostArray{{2, 2}, {4, 0, 0, 1}}},
               .call =
                   [](const TensorList& in) {
                     return TensorList{pinv(in[0], 2.0), pinv(in[0], {}, 0.5), pinv(in[0], 0.5, 0.1)};
                   },
               .reference =
                   [](const std::vector<HostArray>&) {
                     const HostArray first{{2, 2}, {0.25L, 0, 0, 0}};
                     return std::vector{first, first, HostArray{{2, 2}, {0.25L, 0, 0, 1}}};
                   },
               .gradient = false}));
  return list;
}
OP_ERRORS(pinv) {
  return {{"rank", [] { (void)pinv(Tensor(1.0F)); }, ErrorKind::kShape, "need rank 2 or more"},
          {"tolerance",
           [] {
             (void)pinv(to_tensor(arange({2, 2}), DType::kFloat32), -1.0);
           },
           ErrorKind::kValue, "tolerance is negative"}};
}

}  // namespace
}  // namespace sorus::samples
