#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/shape/shape_ops.h"
#include "tests/ops/harness/sample.h"

namespace sorus::samples {
namespace {

/// Stacks of matrices, batch axes broadcast.
HostArray product(const HostArray& a, const HostArray& b, const Shape& out) {
  int64_t m = out.size(out.rank() - 2);
  int64_t n = out.size(out.rank() - 1);
  int64_t k = a.shape.size(a.shape.rank() - 1);
  HostArray r = full(out, 0);
  auto element = [&](const HostArray& x, int64_t batch, int64_t row, int64_t column) {
    int rank = x.shape.rank();
    int64_t matrix = 0;
    int64_t step = 1;
    for (int i = rank - 2; i-- > 0;) {
      int64_t extent = out.size(i + out.rank() - rank);
      matrix += (x.shape.size(i) == 1 ? 0 : batch % extent) * step;
      step *= x.shape.size(i);
      batch /= extent;
    }
    return x.values[static_cast<size_t>((matrix * x.shape.size(rank - 2) + row) * x.shape.size(rank - 1) +
                                        column)];
  };
  for (size_t at = 0; at < r.values.size(); ++at) {
    auto i = static_cast<int64_t>(at);
    for (int64_t p = 0; p < k; ++p)
      r.values[at] += element(a, i / (m * n), i / n % m, p) * element(b, i / (m * n), p, i % n);
  }
  return r;
}

Sample matrices(const Shape& a, const Shape& b, const Shape& out, bool integral = false) {
  auto data = [&](const Shape& s, uint64_t seed) {
    return integral ? integers(s, 0, 11, seed) : randn(s, seed);
  };
  return {.name = a.text() + " by " + b.text() + (integral ? ", integers" : ""),
          .inputs = {data(a, 1), data(b, 2)},
          .call = call_of(matmul),
          .reference =
              [out](const std::vector<HostArray>& in) { return std::vector{product(in[0], in[1], out)}; },
          .dtypes =
              integral ? std::vector{DType::kInt32, DType::kInt64, DType::kInt16, DType::kUInt64} : floats(),
          .absolute = static_cast<double>(a.size(a.rank() - 1)),
          .equal_kernels = integral};
}

/// Operands of rank 1 are seen as one row and one column.
Sample vectors(const Shape& a, const Shape& b, const Shape& row, const Shape& column, const Shape& wide,
               const Shape& out) {
  return {.name = a.text() + " by " + b.text(),
          .inputs = {randn(a, 3), randn(b, 4)},
          .call = call_of(matmul),
          .reference =
              [=](const std::vector<HostArray>& in) {
                HostArray r = product({row, in[0].values}, {column, in[1].values}, wide);
                return std::vector{HostArray{out, r.values}};
              },
          .absolute = 8,
          .equal_kernels = false};
}

OP_SAMPLES(matmul_bias) {
  SampleList list;
  const auto add = [&](const Shape& a, const Shape& b, const Shape& out) {
    const int64_t n = out.size(out.rank() - 1);
    Sample s = matrices(a, b, out);
    s.inputs.emplace_back(randn({n}, 3));
    s.call = call_of(matmul_bias);
    s.absolute *= 2;
    s.reference = [out, n](const std::vector<HostArray>& in) {
      HostArray r = product(in[0], in[1], out);
      for (size_t i = 0; i < r.values.size(); ++i) r.values[i] += in[2].values[i % static_cast<size_t>(n)];
      return std::vector{r};
    };
    list.push_back(std::move(s));
  };
  add({5, 7}, {7, 3}, {5, 3});
  add({2, 3, 4}, {4, 6}, {2, 3, 6});
  add({3, 2, 9}, {3, 9, 17}, {3, 2, 17});
  add({4, 0}, {0, 3}, {4, 3});
  add({0, 2}, {2, 3}, {0, 3});
  add({70, 130}, {130, 65}, {70, 65});
  list.back().gradient = false;
  return list;
}
OP_ERRORS(matmul_bias) {
  const auto of = [](const Shape& bias, DType dtype) {
    (void)matmul_bias(to_tensor(full({2, 3}, 1), DType::kFloat32),
                      to_tensor(full({3, 4}, 1), DType::kFloat32), to_tensor(full(bias, 1), dtype));
  };
  return {{"shape", [of] { of({3}, DType::kFloat32); }, ErrorKind::kShape, "got shape (3,), need (4,)"},
          {"dtype", [of] { of({4}, DType::kFloat16); }, ErrorKind::kDType, "got float16 beside float32"}};
}

OP_SAMPLES(matmul) {
  return {matrices({3, 4}, {4, 5}, {3, 5}),
          matrices({1, 1}, {1, 1}, {1, 1}),
          matrices({130, 150}, {150, 140}, {130, 140}),
          matrices({2, 3, 4}, {2, 4, 5}, {2, 3, 5}),
          matrices({2, 3, 4}, {4, 5}, {2, 3, 5}),
          matrices({2, 1, 3, 4}, {3, 4, 2}, {2, 3, 3, 2}),
          matrices({3, 4}, {2, 4, 2}, {2, 3, 2}),
          matrices({3, 0}, {0, 2}, {3, 2}),
          matrices({0, 4}, {4, 2}, {0, 2}),
          matrices({0, 2, 3}, {3, 2}, {0, 2, 2}),
          matrices({7, 9}, {9, 33}, {7, 33}, true),
          matrices({2, 5, 140}, {1, 140, 3}, {2, 5, 3}, true),
          vectors({4}, {4}, {1, 4}, {4, 1}, {1, 1}, Shape{}),
          vectors({3, 4}, {4}, {3, 4}, {4, 1}, {3, 1}, {3}),
          vectors({4}, {4, 2}, {1, 4}, {4, 2}, {1, 2}, {2}),
          vectors({2, 3, 4}, {4}, {2, 3, 4}, {4, 1}, {2, 3, 1}, {2, 3})};
}

Tensor ones(const Shape& shape, DType dtype = DType::kFloat32) { return sorus::full({dtype, {}, shape}, 1); }

OP_ERRORS(matmul) {
  return {{"inner",
           [] {
             (void)matmul(ones({2, 3}), ones({2, 3}));
           },
           ErrorKind::kShape, "got shapes (2, 3) and (2, 3)"},
          {"batch",
           [] {
             (void)matmul(ones({2, 1, 3}), ones({3, 3, 1}));
           },
           ErrorKind::kShape, "got (2,) and (3,)"},
          {"scalar", [] { (void)matmul(ones({}), ones({1})); }, ErrorKind::kShape, "got shapes () and (1,)"},
          {"bool",
           [] {
             (void)matmul(ones({1, 1}, DType::kBool), ones({1, 1}, DType::kBool));
           },
           ErrorKind::kDType, "got bool"}};
}

}  // namespace
}  // namespace sorus::samples
