#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/reduce/attributes.h"
#include "sorus/ops/reduce/detail/rules.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

using namespace reduce;

TypeList infer_sort(const InferContext& c) {
  (void)normalize_axis("sort", c.attrs<SortAttrs>().axis, c.shape(0).rank());
  return {c.in(0), {DType::kInt64, c.in(0).device, c.shape(0)}};
}

/// Each result came from one element, and no element gave two.
void put_back(VjpContext& c, int64_t axis) {
  if (!c.grad(0).defined()) return;
  c.set(0, scatter_elements(full(c.in_type(0), 0), c.out(1), c.grad(0), axis, ScatterMode::kAdd));
}

const OpDef sort_op{.name = "sort",
                    .doc =
                        "Elements in order along an axis, and the index (int64) of each before. Any dtype. "
                        "Equal elements keep "
                        "their order; NaN counts as the greatest, -0 equals 0.",
                    .inputs = {{"x"}},
                    .attrs = attrs_def<SortAttrs>(),
                    .infer = infer_sort,
                    .vjp = [](VjpContext& c) { put_back(c, c.attrs<SortAttrs>().axis); },
                    .saves_out = saves({1}),
                    .cost = reduce_cost};

TypeList infer_topk(const InferContext& c) {
  const auto& a = c.attrs<TopkAttrs>();
  const int axis = normalize_axis("topk", a.axis, c.shape(0).rank());
  TensorType values = c.in(0);
  const Dim extent = values.shape[axis];
  SORUS_CHECK(a.k >= 0 && (extent.is_symbol() || a.k <= extent.value()), ValueError,
              "topk: k is out of range: got {}, need 0 <= k <= {}", a.k, extent.text());
  values.shape[axis] = a.k;
  return {values, {DType::kInt64, values.device, values.shape}};
}
const OpDef topk_op{.name = "topk",
                    .doc =
                        "The k greatest (or least) elements along an axis in order, and the index (int64) of "
                        "each. Any dtype. Of "
                        "equal elements the earlier come first; NaN counts as the greatest. Throws "
                        "ValueError unless 0 <= k <= extent.",
                    .inputs = {{"x"}},
                    .attrs = attrs_def<TopkAttrs>(),
                    .infer = infer_topk,
                    .vjp = [](VjpContext& c) { put_back(c, c.attrs<TopkAttrs>().axis); },
                    .saves_out = saves({1}),
                    .cost = reduce_cost};

const OpRegistrar registered[] = {OpRegistrar(sort_op), OpRegistrar(topk_op)};

/// A scalar is sorted as a vector of one.
bool is_scalar(const Tensor& x) { return x.rank() == 0; }

}  // namespace

ValuesAndIndices sort(const Tensor& x, int64_t axis, bool descending) {
  if (is_scalar(x)) {
    auto [values, indices] = sort(reshape(x, {1}), axis, descending);
    return {reshape(values, {}), reshape(indices, {})};
  }
  TensorList out = apply_all(sort_op, {&x}, SortAttrs{axis, descending});
  return {std::move(out[0]), std::move(out[1])};
}
Tensor argsort(const Tensor& x, int64_t axis, bool descending) {
  const ToldAs told("argsort");
  return sort(x, axis, descending).indices;
}
ValuesAndIndices topk(const Tensor& x, int64_t k, int64_t axis, bool largest) {
  TensorList out = apply_all(topk_op, {&x}, TopkAttrs{k, axis, largest});
  return {std::move(out[0]), std::move(out[1])};
}

}  // namespace sorus
