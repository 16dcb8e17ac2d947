#include <algorithm>

#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/detail/indices.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"

/// Ops whose result's shape depends on values. A primitive counts first; the count is read, which ends a
/// recorded segment, and becomes an attribute of the primitive that fills the result, or cuts it to size.
namespace sorus {
namespace {

TypeList infer_nonzero_count(const InferContext& c) { return {{DType::kInt64, c.in(0).device, {}}}; }

TypeList infer_nonzero(const InferContext& c) {
  return {{DType::kInt64, c.in(0).device, Shape{c.attrs<NonzeroAttrs>().count, c.shape(0).rank()}}};
}

TypeList infer_unique(const InferContext& c) {
  SORUS_CHECK(c.shape(0).rank() == 1, ShapeError, "unique: wrong rank: got shape {}, need rank 1",
              c.shape(0));
  TensorType counts{DType::kInt64, c.in(0).device, c.shape(0)};
  return {c.in(0), counts, counts, {DType::kInt64, c.in(0).device, {}}};
}

const OpDef nonzero_count_op{.name = "nonzero_count",
                             .doc = "How many elements are not zero: an int64 scalar.",
                             .inputs = {{"x"}},
                             .infer = infer_nonzero_count,
                             .traits = {.differentiable = false}};
const OpRegistrar registered_nonzero_count{nonzero_count_op};

// The kernel is total: a count that is too small leaves out the last indices, one too large adds rows of
// zeros.
const OpDef nonzero_op{
    .name = "nonzero",
    .doc =
        "Indices of the elements that are not zero, row-major: int64 (count, rank). count: their "
        "number, from nonzero_count.",
    .inputs = {{"x"}},
    .attrs = attrs_def<NonzeroAttrs>(),
    .infer = infer_nonzero,
    .traits = {.differentiable = false}};
const OpRegistrar registered_nonzero{nonzero_op};

const OpDef unique_op{
    .name = "unique",
    .doc =
        "The distinct values of a vector (sorted, as they first occur, or of runs of equal "
        "neighbours), the place of each element among them, how often each occurs, and their "
        "number; values and counts are padded to the vector's length.",
    .inputs = {{"x"}},
    .attrs = attrs_def<UniqueAttrs>(),
    .infer = infer_unique,
    .traits = {.differentiable = false}};
const OpRegistrar registered_unique{unique_op};

}  // namespace

Tensor nonzero(const Tensor& x) {
  auto count = apply(nonzero_count_op, {&x}).item<int64_t>();
  return apply(nonzero_op, {&x}, NonzeroAttrs{count});
}

TensorList nonzero_tuple(const Tensor& x) {
  Tensor places = nonzero(x.rank() == 0 ? reshape(x, {1}) : x);
  TensorList out;
  for (int64_t i = 0; i < places.size(1); ++i) out.push_back(squeeze(narrow(places, 1, i, 1), {1}));
  return out;
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  SORUS_CHECK(mask.dtype() == DType::kBool, DTypeError, "masked_select: mask is not bool: got {}, need bool",
              mask.dtype());
  Shape shape = broadcast_shapes("masked_select", x.shape(), mask.shape());
  Tensor places = nonzero(reshape(broadcast_to(mask, shape), {-1}));
  return gather(reshape(broadcast_to(x, shape), {-1}), reshape(places, {-1}), 0);
}

UniqueResult unique(const Tensor& x, UniqueOrder order) {
  Tensor flat = reshape(x, {-1});
  TensorList found = apply_all(unique_op, {&flat}, UniqueAttrs{order});
  auto count = found[3].item<int64_t>();
  return {narrow(found[0], 0, 0, count), reshape(found[1], x.shape().sizes()), narrow(found[2], 0, 0, count)};
}

Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minimum_length) {
  SORUS_CHECK(x.rank() == 1, ShapeError, "bincount: wrong rank: got shape {}, need rank 1", x.shape());
  SORUS_CHECK(minimum_length >= 0, ValueError, "bincount: minimum length is negative: got {}, need 0 or more",
              minimum_length);
  Tensor indices = cast(detail::as_indices("bincount", x), DType::kInt64);
  int64_t length = minimum_length;
  for (int64_t item : indices.to_vector<int64_t>()) {
    SORUS_CHECK(item >= 0, ValueError, "bincount: a number is negative: got {}, need 0 or more", item);
    length = std::max(length, item + 1);
  }
  Tensor amounts =
      weights.defined() ? weights : broadcast_to(full({DType::kInt64, x.device(), {}}, 1), x.shape());
  SORUS_CHECK(amounts.shape() == x.shape(), ShapeError,
              "bincount: shapes differ: got {} and weights {}, need equal ones", x.shape(), amounts.shape());
  return scatter_nd(expand_dims(indices, 1), amounts, {length});
}

Tensor one_hot(const Tensor& indices, int64_t depth, const Tensor& on, const Tensor& off, int64_t axis) {
  const ToldAs told("one_hot");
  SORUS_CHECK(depth >= 0, ValueError, "one_hot: depth is negative: got {}, need 0 or more", depth);
  Tensor list = detail::as_indices("one_hot", indices);
  int at = normalize_axis("one_hot", axis, list.rank() + 1);
  Ints place = Ints::filled(list.rank() + 1, 1);
  place[at] = depth;
  Tensor positions = reshape(arange(0, static_cast<double>(depth), 1, list.dtype()), place);
  return where(equal(expand_dims(list, at), positions), on, off);
}

}  // namespace sorus
