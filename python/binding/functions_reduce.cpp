#include "binding/functions.h"
#include "sorus/ops/linalg/linalg.h"
#include "sorus/ops/reduce/reduce.h"

namespace sorus::python {

template <>
struct EnumWords<MatrixNorm> {
  static constexpr const char* words[] = {"frobenius",    "largest_column", "smallest_column", "largest_row",
                                          "smallest_row", "spectral",       "least_spectral",  "nuclear"};
};

namespace {

std::pair<Tensor, Tensor> pair_of(ValuesAndIndices&& r) {
  return {std::move(r.values), std::move(r.indices)};
}

auto bound_max_with_index(const Tensor& x, int64_t axis, bool keepdims) {
  return pair_of(max_with_index(x, axis, keepdims));
}
auto bound_min_with_index(const Tensor& x, int64_t axis, bool keepdims) {
  return pair_of(min_with_index(x, axis, keepdims));
}
auto bound_cummax(const Tensor& x, int64_t axis) { return pair_of(cummax(x, axis)); }
auto bound_cummin(const Tensor& x, int64_t axis) { return pair_of(cummin(x, axis)); }
auto bound_sort(const Tensor& x, int64_t axis, bool descending) { return pair_of(sort(x, axis, descending)); }
auto bound_topk(const Tensor& x, int64_t k, int64_t axis, bool largest) {
  return pair_of(topk(x, k, axis, largest));
}
auto bound_median(const Tensor& x, int64_t axis, bool keepdims) { return pair_of(median(x, axis, keepdims)); }
std::tuple<Tensor, Tensor, Tensor> bound_svd(const Tensor& x, bool full_matrices) {
  Svd r = svd(x, full_matrices);
  return {std::move(r.values), std::move(r.left), std::move(r.right)};
}

}  // namespace

std::vector<Function> reduce_functions() {
  return {
      function("sum", &sum, "x, axes=(), keepdims=False"),
      function("mean", &mean, "x, axes=(), keepdims=False"),
      function("prod", &prod, "x, axes=(), keepdims=False"),
      function("sum_to", &sum_to, "x, shape"),
      function("amax", &amax, "x, axes=(), keepdims=False"),
      function("amin", &amin, "x, axes=(), keepdims=False"),
      function("any", &any, "x, axes=(), keepdims=False"),
      function("all", &all, "x, axes=(), keepdims=False"),
      function("argmax", &argmax, "x, axis, keepdims=False"),
      function("argmin", &argmin, "x, axis, keepdims=False"),
      function("max_with_index", &bound_max_with_index, "x, axis, keepdims=False"),
      function("min_with_index", &bound_min_with_index, "x, axis, keepdims=False"),
      function("var", &var, "x, axes=(), correction=1, keepdims=False"),
      function("std", &std, "x, axes=(), correction=1, keepdims=False"),
      function("logsumexp", &logsumexp, "x, axes=(), keepdims=False"),
      function("norm", &norm, "x, order=2, axes=(), keepdims=False"),
      function("cumsum", &cumsum, "x, axis, exclusive=False, reverse=False"),
      function("cumprod", &cumprod, "x, axis, exclusive=False, reverse=False"),
      function("cummax", &bound_cummax, "x, axis"),
      function("cummin", &bound_cummin, "x, axis"),
      function("sort", &bound_sort, "x, axis=-1, descending=False"),
      function("argsort", &argsort, "x, axis=-1, descending=False"),
      function("topk", &bound_topk, "x, k, axis=-1, largest=True"),
      function("median", &bound_median, "x, axis, keepdims=False"),
  };
}

std::vector<Function> linalg_functions() {
  using Numbers = Tensor (*)(const Tensor&, const Tensor&, const Ints&, const Ints&);
  return {
      function("matmul", &matmul, "a, b"),
      function("dot", &dot, "a, b"),
      function("mv", &mv, "a, x"),
      function("mm", &mm, "a, b"),
      function("bmm", &bmm, "a, b"),
      function("outer", &outer, "a, b"),
      function("inner", &inner, "a, b"),
      function("addmm", &addmm, "input, a, b, beta=1, alpha=1"),
      function("addmv", &addmv, "input, a, x, beta=1, alpha=1"),
      function("addr", &addr, "input, a, b, beta=1, alpha=1"),
      function("baddbmm", &baddbmm, "input, a, b, beta=1, alpha=1"),
      function("addbmm", &addbmm, "input, a, b, beta=1, alpha=1"),
      function("tensordot", static_cast<Numbers>(&tensordot), "a, b, axes_a, axes_b"),
      function("einsum", &einsum, "equation, operands"),
      function("kron", &kron, "a, b"),
      function("trace", &trace, "x, offset=0"),
      function("matrix_norm", &matrix_norm, "x, kind, row_axis=-2, column_axis=-1, keepdims=False"),
      function("svd", &bound_svd, "x, full_matrices=False"),
      function("singular_values", &singular_values, "x"),
      function("pinv", &pinv, "x, absolute=None, relative=None"),
      function("matrix_power", &matrix_power, "a, n"),
      function("cross", &cross, "a, b, axis=-1"),
  };
}

}  // namespace sorus::python
