#include "sorus/base/told_as.h"
#include "sorus/core/promotion.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/detail/index_range.h"
#include "sorus/ops/index/detail/indices.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

void check_dtypes(const InferContext& c) {
  detail::check_index_dtype(c.name(), c.dtype(1));
  SORUS_CHECK(c.dtype(0) == c.dtype(2), DTypeError,
              "{}: element types differ: got {} and updates of {}, need equal ones", c.name(), c.dtype(0),
              c.dtype(2));
}

TypeList infer_scatter_elements(const InferContext& c) {
  check_dtypes(c);
  const Shape& x = c.shape(0);
  const Shape& indices = c.shape(1);
  int axis = normalize_axis("scatter_elements", c.attrs<ScatterElementsAttrs>().axis, x.rank());
  bool fits = indices.rank() == x.rank() && c.shape(2) == indices;
  for (int i = 0; fits && i < x.rank(); ++i) fits = i == axis || indices.size(i) <= x.size(i);
  SORUS_CHECK(fits, ShapeError,
              "scatter_elements: shapes do not fit: got {}, indices {} and updates {}, need updates of the "
              "shape of the "
              "indices, and no larger than x but on axis {}",
              x, indices, c.shape(2), axis);
  return {c.in(0)};
}

TypeList infer_scatter_nd(const InferContext& c) {
  check_dtypes(c);
  const Shape& x = c.shape(0);
  const Shape& indices = c.shape(1);
  bool fits = indices.rank() >= 1 && indices.size(indices.rank() - 1) <= x.rank();
  Shape need;
  if (fits) {
    for (int i = 0; i + 1 < indices.rank(); ++i) need.push_back(indices[i]);
    for (auto i = static_cast<int>(indices.size(indices.rank() - 1)); i < x.rank(); ++i) need.push_back(x[i]);
    fits = c.shape(2) == need;
  }
  SORUS_CHECK(fits, ShapeError,
              "tensor_scatter: shapes do not fit: got {}, indices {} and updates {}, need indices whose last "
              "axis is at "
              "most {} and updates of shape {}",
              x, indices, c.shape(2), x.rank(), need);
  return {c.in(0)};
}

/// The gradient of a scatter, written over the two ways of addressing elements: by one axis or by several.
template <class Gather, class Scatter>
void vjp_scatter(VjpContext& c, ScatterMode mode, Gather pick, Scatter put) {
  const Tensor& g = c.grad();
  const TensorType& type = c.in_type(0);
  auto set = [&](size_t i, auto make) {
    if (c.needs(i)) c.set(i, make());
  };
  switch (mode) {
    case ScatterMode::kUpdate:
      set(0, [&] { return put(g, zeros_view(c.in_type(2)), ScatterMode::kUpdate); });
      return set(2, [&] { return pick(g); });
    case ScatterMode::kAdd:
      set(0, [&] { return g; });
      return set(2, [&] { return pick(g); });
    case ScatterMode::kSub:
      set(0, [&] { return g; });
      return set(2, [&] { return neg(pick(g)); });
    case ScatterMode::kMul:
      set(0, [&] { return put(g, c.in(2), mode); });
      // Through the result, so that duplicates see each other's factors; zero factors cannot.
      return set(2, [&] {
        Tensor zero = equal(c.in(2), zeros_view(c.in_type(2)));
        Tensor factor = where(zero, full({type.dtype, {}, {}}, 1), c.in(2));
        return where(zero, pick(mul(g, c.in(0))), div(pick(mul(g, c.out(0))), factor));
      });
    case ScatterMode::kDiv:
      set(0, [&] { return put(g, c.in(2), mode); });
      return set(2, [&] { return neg(div(pick(mul(g, c.out(0))), c.in(2))); });
    case ScatterMode::kMax:
    case ScatterMode::kMin:
      break;
  }
  // All that reach the extreme share its gradient.
  Tensor mine = cast(equal(c.in(0), c.out(0)), type.dtype);
  Tensor theirs = cast(equal(c.in(2), pick(c.out(0))), type.dtype);
  // Where a NaN won, none equals the result.
  Tensor count = put(mine, theirs, ScatterMode::kAdd);
  Tensor one = full({type.dtype, {}, {}}, 1);
  Tensor share = div(g, where(equal(count, zeros_view(type)), one, count));
  set(0, [&] { return mul(share, mine); });
  set(2, [&] { return mul(pick(share), theirs); });
}

void vjp_scatter_elements(VjpContext& c) {
  const auto& a = c.attrs<ScatterElementsAttrs>();
  vjp_scatter(
      c, a.mode, [&](const Tensor& x) { return gather_elements(x, c.in(1), a.axis); },
      [&](const Tensor& x, const Tensor& updates, ScatterMode mode) {
        return scatter_elements(x, c.in(1), updates, a.axis, mode);
      });
}

void vjp_scatter_nd(VjpContext& c) {
  vjp_scatter(
      c, c.attrs<ScatterNdAttrs>().mode, [&](const Tensor& x) { return gather_nd(x, c.in(1)); },
      [&](const Tensor& x, const Tensor& updates, ScatterMode mode) {
        return tensor_scatter(x, c.in(1), updates, mode);
      });
}

constexpr std::string_view kElementsDoc =
    "x with updates[.., i, ..] taken into element indices[.., i, ..] of one axis. indices: int32 or int64. "
    "Of several "
    "updates of one element the last one stays, or all are taken in order. Throws IndexError.";
constexpr std::string_view kNdDoc =
    "x with updates[i..., b...] taken into x[indices[i..., :], b...]. indices: int32 or int64. Of several "
    "updates of "
    "one element the last one stays, or all are taken in order. Throws IndexError.";

/// Updates, sums and differences are linear: their gradient needs the indices alone. The others are ops of
/// their own, because they save more.
bool is_linear(ScatterMode mode) {
  return mode == ScatterMode::kUpdate || mode == ScatterMode::kAdd || mode == ScatterMode::kSub;
}

void check_scatter_elements(const KernelCall& c) {
  auto axis = static_cast<int>(c.attrs<ScatterElementsAttrs>().axis);
  detail::check_axis_indices("scatter_elements", c.in[1], axis, c.in[0].size(axis));
}
void check_tensor_scatter(const KernelCall& c) {
  detail::check_coordinates("tensor_scatter", c.in[1], *c.in[0].shape);
}

OpDef scatter_elements_def(std::string_view name, SaveMask saves_in, SaveMask saves_out) {
  return {.name = name,
          .doc = kElementsDoc,
          .inputs = {{"x"}, {"indices"}, {"updates"}},
          .attrs = attrs_def<ScatterElementsAttrs>(),
          .infer = infer_scatter_elements,
          .vjp = vjp_scatter_elements,
          .saves_in = saves_in,
          .saves_out = saves_out,
          .check_values = check_scatter_elements,
          .check_reads = saves({1})};
}

OpDef tensor_scatter_def(std::string_view name, SaveMask saves_in, SaveMask saves_out) {
  return {.name = name,
          .doc = kNdDoc,
          .inputs = {{"x"}, {"indices"}, {"updates"}},
          .attrs = attrs_def<ScatterNdAttrs>(),
          .infer = infer_scatter_nd,
          .vjp = vjp_scatter_nd,
          .saves_in = saves_in,
          .saves_out = saves_out,
          .check_values = check_tensor_scatter,
          .check_reads = saves({1})};
}

const OpDef scatter_elements_op = scatter_elements_def("scatter_elements", saves({1}), kSaveNone);
const OpDef scatter_elements_reduce_op = scatter_elements_def("scatter_elements_reduce", kSaveAll, kSaveAll);
const OpDef tensor_scatter_op = tensor_scatter_def("tensor_scatter", saves({1}), kSaveNone);
const OpDef tensor_scatter_reduce_op = tensor_scatter_def("tensor_scatter_reduce", kSaveAll, kSaveAll);
const OpRegistrar registered[] = {OpRegistrar(scatter_elements_op), OpRegistrar(scatter_elements_reduce_op),
                                  OpRegistrar(tensor_scatter_op), OpRegistrar(tensor_scatter_reduce_op)};

}  // namespace

Tensor scatter_elements(const Tensor& x, const Tensor& indices, const Tensor& updates, int64_t axis,
                        ScatterMode mode) {
  Tensor list = detail::as_indices("scatter_elements", indices);
  Tensor values = cast(updates, x.dtype());
  return apply(is_linear(mode) ? scatter_elements_op : scatter_elements_reduce_op, {&x, &list, &values},
               ScatterElementsAttrs{normalize_axis("scatter_elements", axis, x.rank()), mode});
}

Tensor tensor_scatter(const Tensor& x, const Tensor& indices, const Tensor& updates, ScatterMode mode) {
  Tensor list = detail::as_indices("tensor_scatter", indices);
  Tensor values = cast(updates, x.dtype());
  return apply(is_linear(mode) ? tensor_scatter_op : tensor_scatter_reduce_op, {&x, &list, &values},
               ScatterNdAttrs{mode});
}

Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape) {
  const ToldAs told("scatter_nd");
  return tensor_scatter(zeros_view({updates.dtype(), updates.device(), shape}), indices, updates,
                        ScatterMode::kAdd);
}

Tensor scatter(const Tensor& x, const Tensor& indices, const Tensor& updates, ScatterMode mode) {
  const ToldAs told("scatter");
  return tensor_scatter(x, expand_dims(indices, -1), updates, mode);
}

Tensor index_add(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source) {
  const ToldAs told("index_add");
  SORUS_CHECK(indices.rank() == 1, ShapeError,
              "index_add: indices have the wrong rank: got shape {}, need rank 1", indices.shape());
  int at = normalize_axis("index_add", axis, x.rank());
  if (at == 0) return scatter(x, indices, source, ScatterMode::kAdd);
  return movedim(scatter(movedim(x, {at}, {0}), indices, movedim(source, {at}, {0}), ScatterMode::kAdd), {0},
                 {at});
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value) {
  const ToldAs told("masked_fill");
  SORUS_CHECK(value.numel() == 1, ShapeError,
              "masked_fill: value is not one number: got shape {}, need one element", value.shape());
  return where(mask, reshape(cast(value, x.dtype()), {}), x);
}

}  // namespace sorus
