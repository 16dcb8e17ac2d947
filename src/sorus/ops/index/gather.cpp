#include <algorithm>

#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/detail/index_range.h"
#include "sorus/ops/index/detail/indices.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

Tensor gather_backward(const Tensor& grad, const Tensor& indices, const GatherBackwardAttrs& attrs);

TypeList infer_gather(const InferContext& c) {
  detail::check_index_dtype("gather", c.dtype(1));
  const auto& a = c.attrs<GatherAttrs>();
  const Shape& x = c.shape(0);
  const Shape& indices = c.shape(1);
  int axis = normalize_axis("gather", a.axis, x.rank());
  auto batch = static_cast<int>(a.batch_dims);
  SORUS_CHECK(batch >= 0 && batch <= axis && batch <= indices.rank(), ValueError,
              "gather: batch_dims does not fit: got {} for axis {} and indices of shape {}, need 0 to {}",
              batch, axis, indices, std::min(axis, indices.rank()));
  int rank = x.rank() - 1 + indices.rank() - batch;
  SORUS_CHECK(rank <= kMaxRank, ShapeError,
              "gather: too many dimensions: got shapes {} and {}, need a result of at most {}", x, indices,
              kMaxRank);
  for (int i = 0; i < batch; ++i)
    SORUS_CHECK(x[i] == indices[i], ShapeError,
                "gather: batch axes differ: got shapes {} and {}, need {} equal leading extents", x, indices,
                batch);
  Shape out;
  for (int i = 0; i < axis; ++i) out.push_back(x[i]);
  for (int i = batch; i < indices.rank(); ++i) out.push_back(indices[i]);
  for (int i = axis + 1; i < x.rank(); ++i) out.push_back(x[i]);
  return {{c.dtype(0), c.in(0).device, out}};
}

void vjp_gather(VjpContext& c) {
  const auto& a = c.attrs<GatherAttrs>();
  int64_t extent = c.in_type(0).shape.size(static_cast<int>(a.axis));
  if (c.needs(0)) c.set(0, gather_backward(c.grad(), c.in(1), {a.axis, a.batch_dims, extent}));
}

TypeList infer_gather_backward(const InferContext& c) {
  const auto& a = c.attrs<GatherBackwardAttrs>();
  const Shape& g = c.shape(0);
  SORUS_CHECK(
      a.batch_dims >= 0 && a.batch_dims <= a.axis && a.batch_dims <= c.shape(1).rank() && a.axis <= g.rank(),
      ValueError, "gather_backward: axes do not fit: got axis {} and batch_dims {} for shapes {} and {}",
      a.axis, a.batch_dims, g, c.shape(1));
  int rank = c.shape(1).rank() - static_cast<int>(a.batch_dims);
  auto axis = static_cast<int>(a.axis);
  bool fits = axis + rank <= g.rank();
  for (int i = 0; fits && i < rank; ++i) fits = g[axis + i] == c.shape(1)[i + static_cast<int>(a.batch_dims)];
  SORUS_CHECK(fits, ShapeError,
              "gather_backward: shapes do not fit: got {} and indices {} at axis {}, need equal extents", g,
              c.shape(1), axis);
  Shape out;
  for (int i = 0; i < axis; ++i) out.push_back(g[i]);
  out.push_back(a.extent);
  for (int i = axis + rank; i < g.rank(); ++i) out.push_back(g[i]);
  return {{c.dtype(0), c.in(0).device, out}};
}

void vjp_gather_backward(VjpContext& c) {
  const auto& a = c.attrs<GatherBackwardAttrs>();
  if (c.needs(0)) c.set(0, gather(c.grad(), c.in(1), a.axis, a.batch_dims));
}

TypeList infer_gather_elements(const InferContext& c) {
  detail::check_index_dtype("gather_elements", c.dtype(1));
  const Shape& x = c.shape(0);
  const Shape& indices = c.shape(1);
  int axis = normalize_axis("gather_elements", c.attrs<GatherElementsAttrs>().axis, x.rank());
  bool fits = indices.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i) fits = i == axis || indices.size(i) <= x.size(i);
  SORUS_CHECK(fits, ShapeError,
              "gather_elements: shapes do not fit: got {} and indices {}, need equal ranks and extents no "
              "larger than "
              "x's but on axis {}",
              x, indices, axis);
  return {{c.dtype(0), c.in(0).device, indices}};
}

void vjp_gather_elements(VjpContext& c) {
  if (c.needs(0))
    c.set(0, scatter_elements(zeros_view(c.in_type(0)), c.in(1), c.grad(),
                              c.attrs<GatherElementsAttrs>().axis, ScatterMode::kAdd));
}

TypeList infer_gather_nd(const InferContext& c) {
  detail::check_index_dtype("gather_nd", c.dtype(1));
  const Shape& x = c.shape(0);
  const Shape& indices = c.shape(1);
  SORUS_CHECK(indices.rank() >= 1 && indices.size(indices.rank() - 1) <= x.rank(), ShapeError,
              "gather_nd: indices do not fit: got shape {} for shape {}, need a last axis of at most {}",
              indices, x, x.rank());
  Shape out(indices.dims().first(static_cast<size_t>(indices.rank() - 1)));
  auto indexed = static_cast<int>(indices.size(indices.rank() - 1));
  SORUS_CHECK(out.rank() + x.rank() - indexed <= kMaxRank, ShapeError,
              "gather_nd: too many dimensions: got shapes {} and {}, need a result of at most {}", x, indices,
              kMaxRank);
  for (int i = indexed; i < x.rank(); ++i) out.push_back(x[i]);
  return {{c.dtype(0), c.in(0).device, out}};
}

void vjp_gather_nd(VjpContext& c) {
  if (c.needs(0)) c.set(0, tensor_scatter(zeros_view(c.in_type(0)), c.in(1), c.grad(), ScatterMode::kAdd));
}

void check_gather(const KernelCall& c) {
  auto axis = static_cast<int>(c.attrs<GatherAttrs>().axis);
  detail::check_axis_indices("gather", c.in[1], axis, c.in[0].size(axis));
}
void check_gather_backward(const KernelCall& c) {
  const auto& a = c.attrs<GatherBackwardAttrs>();
  detail::check_axis_indices("gather", c.in[1], static_cast<int>(a.axis), a.extent);
}
void check_gather_elements(const KernelCall& c) {
  auto axis = static_cast<int>(c.attrs<GatherElementsAttrs>().axis);
  detail::check_axis_indices("gather_elements", c.in[1], axis, c.in[0].size(axis));
}
void check_gather_nd(const KernelCall& c) { detail::check_coordinates("gather_nd", c.in[1], *c.in[0].shape); }

const OpDef gather_op{
    .name = "gather",
    .doc =
        "Slices of an axis picked by indices: the axis is replaced by the axes of `indices`. indices: "
        "int32 or int64, negative ones count from the end. Throws IndexError when out of range.",
    .inputs = {{"x"}, {"indices"}},
    .attrs = attrs_def<GatherAttrs>(),
    .infer = infer_gather,
    .vjp = vjp_gather,
    .saves_in = saves({1}),
    .check_values = check_gather,
    .check_reads = saves({1})};
const OpRegistrar registered_gather{gather_op};

const OpDef gather_backward_op{
    .name = "gather_backward",
    .doc = "Zeros with the slices of the operand added to those that the indices name.",
    .inputs = {{"grad"}, {"indices"}},
    .attrs = attrs_def<GatherBackwardAttrs>(),
    .infer = infer_gather_backward,
    .vjp = vjp_gather_backward,
    .saves_in = saves({1}),
    .check_values = check_gather_backward,
    .check_reads = saves({1}),
    .traits = {.backward = true}};
const OpRegistrar registered_gather_backward{gather_backward_op};

const OpDef gather_elements_op{
    .name = "gather_elements",
    .doc =
        "out[.., i, ..] = x[.., indices[.., i, ..], ..] on one axis. indices: int32 or int64 of "
        "x's rank. Throws IndexError when out of range.",
    .inputs = {{"x"}, {"indices"}},
    .attrs = attrs_def<GatherElementsAttrs>(),
    .infer = infer_gather_elements,
    .vjp = vjp_gather_elements,
    .saves_in = saves({1}),
    .check_values = check_gather_elements,
    .check_reads = saves({1})};
const OpRegistrar registered_gather_elements{gather_elements_op};

const OpDef gather_nd_op{
    .name = "gather_nd",
    .doc =
        "out[i..., b...] = x[indices[i..., :], b...]. indices: int32 or int64, its last axis indexes "
        "the leading axes of x. Throws IndexError when out of range.",
    .inputs = {{"x"}, {"indices"}},
    .infer = infer_gather_nd,
    .vjp = vjp_gather_nd,
    .saves_in = saves({1}),
    .check_values = check_gather_nd,
    .check_reads = saves({1})};
const OpRegistrar registered_gather_nd{gather_nd_op};

Tensor gather_backward(const Tensor& grad, const Tensor& indices, const GatherBackwardAttrs& attrs) {
  return apply(gather_backward_op, {&grad, &indices}, attrs);
}

}  // namespace

Tensor gather(const Tensor& x, const Tensor& indices, int64_t axis, int64_t batch_dims) {
  Tensor list = detail::as_indices("gather", indices);
  int at = normalize_axis("gather", axis, x.rank());
  return apply(gather_op, {&x, &list},
               GatherAttrs{at, batch_dims < 0 ? batch_dims + list.rank() : batch_dims});
}

Tensor take(const Tensor& x, const Tensor& indices, std::optional<int64_t> axis) {
  const ToldAs told("take");
  return axis ? gather(x, indices, *axis) : gather(reshape(x, {-1}), indices, 0);
}

Tensor index_select(const Tensor& x, int64_t axis, const Tensor& indices) {
  const ToldAs told("index_select");
  SORUS_CHECK(indices.rank() <= 1, ShapeError,
              "index_select: indices have the wrong rank: got shape {}, need rank 0 or 1", indices.shape());
  return gather(x, reshape(indices, {-1}), axis);
}

Tensor gather_elements(const Tensor& x, const Tensor& indices, int64_t axis) {
  Tensor list = detail::as_indices("gather_elements", indices);
  return apply(gather_elements_op, {&x, &list},
               GatherElementsAttrs{normalize_axis("gather_elements", axis, x.rank())});
}

Tensor gather_nd(const Tensor& x, const Tensor& indices) {
  Tensor list = detail::as_indices("gather_nd", indices);
  return apply(gather_nd_op, {&x, &list});
}

}  // namespace sorus
