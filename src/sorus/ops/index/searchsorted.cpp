#include "sorus/core/promotion.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"

namespace sorus {
namespace {

TypeList infer_searchsorted(const InferContext& c) {
  const Shape& sorted = c.shape(0);
  const Shape& values = c.shape(1);
  SORUS_CHECK(c.dtype(0) == c.dtype(1), DTypeError,
              "searchsorted: element types differ: got {} and {}, need equal ones", c.dtype(0), c.dtype(1));
  bool fits = sorted.rank() == 1 || sorted.rank() == values.rank();
  for (int i = 0; fits && i + 1 < sorted.rank(); ++i) fits = sorted[i] == values[i];
  SORUS_CHECK(fits && sorted.rank() >= 1, ShapeError,
              "searchsorted: shapes do not fit: got {} and values {}, need rank 1 or equal extents but on "
              "the last axis",
              sorted, values);
  return {{DType::kInt64, c.in(0).device, values}};
}

const OpDef searchsorted_op{
    .name = "searchsorted",
    .doc =
        "Place at which each value would go into the sorted last axis: int64, before equal "
        "elements or after them. NaN sorts last.",
    .inputs = {{"sorted"}, {"values"}},
    .attrs = attrs_def<SearchSortedAttrs>(),
    .infer = infer_searchsorted,
    .traits = {.differentiable = false}};
const OpRegistrar registered{searchsorted_op};

}  // namespace

Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right) {
  DType dtype = promote(sorted.dtype(), values.dtype());
  Tensor a = cast(sorted, dtype);
  Tensor b = cast(values, dtype);
  return apply(searchsorted_op, {&a, &b}, SearchSortedAttrs{right});
}

}  // namespace sorus
