#include <algorithm>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/attributes.h"
#include "sorus/ops/shape/shape_ops.h"

/// transpose, expand_dims, squeeze and broadcast_to: always views.
namespace sorus {
namespace {

const Ints& axes_of(const InferContext& c) { return c.attrs<AxesAttrs>().axes; }

TypeList infer_transpose(const InferContext& c) {
  const Shape& x = c.shape(0);
  const Ints& axes = axes_of(c);
  SORUS_CHECK(axes.size() == x.rank(), ValueError,
              "transpose: number of axes does not fit: got {} for shape {}, need {} axes", axes, x, x.rank());
  (void)normalize_axes("transpose", axes, x.rank());
  Shape out;
  for (int64_t axis : axes) out.push_back(x[static_cast<int>(axis)]);
  return {{c.dtype(0), c.in(0).device, out}};
}

Views view_transpose(const InferContext& c, const Strides& strides, int64_t offset) {
  View v{{}, offset};
  for (int i = 0; i < axes_of(c).size(); ++i) v.strides[i] = strides[static_cast<int>(axes_of(c)[i])];
  return {v};
}

void vjp_transpose(VjpContext& c) {
  if (!c.needs(0)) return;
  const Ints& axes = c.attrs<AxesAttrs>().axes;
  Ints inverse = Ints::filled(axes.size(), 0);
  for (int i = 0; i < axes.size(); ++i) inverse[static_cast<int>(axes[i])] = i;
  c.set(0, transpose(c.grad(), inverse));
}

/// Calls each(i, from) for every axis i of expand_dims' result; from is its axis in x, -1 for a new one.
template <class Each>
void walk_expanded(const InferContext& c, Each each) {
  int from = 0;
  int next = 0;
  const Ints& axes = axes_of(c);
  for (int i = 0; i < c.shape(0).rank() + axes.size(); ++i) {
    bool fresh = next < axes.size() && axes[next] == i;
    each(i, fresh ? -1 : from++);
    if (fresh) ++next;
  }
}

TypeList infer_expand_dims(const InferContext& c) {
  int rank = c.shape(0).rank() + axes_of(c).size();
  SORUS_CHECK(rank <= kMaxRank, ShapeError, "expand_dims: too many dimensions: got {}, need at most {}", rank,
              kMaxRank);
  Shape out;
  walk_expanded(c, [&](int, int from) { out.push_back(from < 0 ? Dim(1) : c.shape(0)[from]); });
  return {{c.dtype(0), c.in(0).device, out}};
}

Views view_expand_dims(const InferContext& c, const Strides& strides, int64_t offset) {
  View v{{}, offset};
  walk_expanded(c, [&](int i, int from) { v.strides[i] = from < 0 ? 1 : strides[from]; });
  return {v};
}

void vjp_expand_dims(VjpContext& c) {
  if (c.needs(0)) c.set(0, squeeze(c.grad(), c.attrs<AxesAttrs>().axes));
}

bool listed(const Ints& axes, int axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

TypeList infer_squeeze(const InferContext& c) {
  const Shape& x = c.shape(0);
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    if (!listed(axes_of(c), i)) {
      out.push_back(x[i]);
      continue;
    }
    SORUS_CHECK(x[i] == Dim(1), ShapeError, "squeeze: axis {} is not of extent 1: got shape {}, need 1", i,
                x);
  }
  return {{c.dtype(0), c.in(0).device, out}};
}

Views view_squeeze(const InferContext& c, const Strides& strides, int64_t offset) {
  View v{{}, offset};
  int to = 0;
  for (int i = 0; i < c.shape(0).rank(); ++i)
    if (!listed(axes_of(c), i)) v.strides[to++] = strides[i];
  return {v};
}

void vjp_squeeze(VjpContext& c) {
  if (!c.needs(0)) return;
  const Ints& axes = c.attrs<AxesAttrs>().axes;
  c.set(0, axes.empty() ? c.grad() : expand_dims(c.grad(), axes));
}

TypeList infer_broadcast_to(const InferContext& c) {
  const Shape& x = c.shape(0);
  Shape out(c.attrs<ShapeAttrs>().shape);
  int shift = out.rank() - x.rank();
  bool fits = shift >= 0;
  for (int i = 0; fits && i < x.rank(); ++i) fits = x[i] == Dim(1) || x[i] == out[i + shift];
  SORUS_CHECK(fits, ShapeError,
              "broadcast_to: shape does not broadcast: got {} for shape {}, need each extent equal or from 1",
              out, x);
  return {{c.dtype(0), c.in(0).device, out}};
}

Views view_broadcast_to(const InferContext& c, const Strides& strides, int64_t offset) {
  const Shape& x = c.shape(0);
  const Ints& out = c.attrs<ShapeAttrs>().shape;
  int shift = out.size() - x.rank();
  View v{{}, offset};
  for (int i = 0; i < x.rank(); ++i) v.strides[i + shift] = x.size(i) == out[i + shift] ? strides[i] : 0;
  return {v};
}

void vjp_broadcast_to(VjpContext& c) {
  if (c.needs(0)) c.set(0, sum_to(c.grad(), c.in_type(0).shape));
}

const OpDef transpose_op{
    .name = "transpose",
    .doc =
        "Axes in another order: out.shape[i] = x.shape[axes[i]]. A view. Throws ValueError "
        "unless axes name each axis once.",
    .inputs = {{"x"}},
    .attrs = attrs_def<AxesAttrs>(),
    .infer = infer_transpose,
    .vjp = vjp_transpose,
    .view = view_transpose};
const OpRegistrar registered_transpose{transpose_op};

const OpDef expand_dims_op{.name = "expand_dims",
                           .doc = "New axes of extent 1 at the places `axes` of the result. A view.",
                           .inputs = {{"x"}},
                           .attrs = attrs_def<AxesAttrs>(),
                           .infer = infer_expand_dims,
                           .vjp = vjp_expand_dims,
                           .view = view_expand_dims};
const OpRegistrar registered_expand_dims{expand_dims_op};

const OpDef squeeze_op{.name = "squeeze",
                       .doc = "Without the axes given, which must be of extent 1 (ShapeError). A view.",
                       .inputs = {{"x"}},
                       .attrs = attrs_def<AxesAttrs>(),
                       .infer = infer_squeeze,
                       .vjp = vjp_squeeze,
                       .view = view_squeeze};
const OpRegistrar registered_squeeze{squeeze_op};

const OpDef broadcast_to_op{
    .name = "broadcast_to",
    .doc =
        "Repeated along axes of extent 1 and new leading axes to `shape`. A view. Throws "
        "ShapeError when an extent is neither equal nor 1.",
    .inputs = {{"x"}},
    .attrs = attrs_def<ShapeAttrs>(),
    .infer = infer_broadcast_to,
    .vjp = vjp_broadcast_to,
    .view = view_broadcast_to};
const OpRegistrar registered_broadcast_to{broadcast_to_op};

/// Axes counted from the front in the order given.
Ints front_axes(std::string_view op, const Ints& axes, int rank) {
  Ints r;
  for (int64_t axis : axes) r.push_back(normalize_axis(op, axis, rank));
  return r;
}

}  // namespace

Tensor transpose(const Tensor& x, const Ints& axes) {
  return apply(transpose_op, {&x}, AxesAttrs{front_axes("transpose", axes, x.rank())});
}

Tensor swapaxes(const Tensor& x, int64_t axis0, int64_t axis1) {
  Ints order;
  for (int i = 0; i < x.rank(); ++i) order.push_back(i);
  std::swap(order[normalize_axis("swapaxes", axis0, x.rank())],
            order[normalize_axis("swapaxes", axis1, x.rank())]);
  return apply(transpose_op, {&x}, AxesAttrs{order});
}

Tensor swap_last(const Tensor& x) {
  SORUS_CHECK(x.rank() >= 2, ShapeError, "swap_last: too few dimensions: got shape {}, need rank 2 or more",
              x.shape());
  return swapaxes(x, -2, -1);
}

Tensor movedim(const Tensor& x, const Ints& from, const Ints& to) {
  SORUS_CHECK(from.size() == to.size(), ValueError,
              "movedim: numbers of axes differ: got {} and {}, need as many of both", from, to);
  Ints source = front_axes("movedim", from, x.rank());
  Ints target = front_axes("movedim", to, x.rank());
  (void)(source.empty() ? Ints{} : normalize_axes("movedim", source, x.rank()));
  (void)(target.empty() ? Ints{} : normalize_axes("movedim", target, x.rank()));
  Ints order = Ints::filled(x.rank(), -1);
  for (int i = 0; i < source.size(); ++i) order[static_cast<int>(target[i])] = source[i];
  int next = 0;
  for (int64_t& axis : order) {
    if (axis >= 0) continue;
    while (listed(source, next)) ++next;
    axis = next++;
  }
  return apply(transpose_op, {&x}, AxesAttrs{order});
}

Tensor expand_dims(const Tensor& x, const Ints& axes) {
  if (axes.empty()) return x;
  return apply(expand_dims_op, {&x}, AxesAttrs{normalize_axes("expand_dims", axes, x.rank() + axes.size())});
}

Tensor expand_dims(const Tensor& x, int64_t axis) { return expand_dims(x, Ints{axis}); }

Tensor squeeze(const Tensor& x, const Ints& axes) {
  Ints removed;
  if (axes.empty()) {
    for (int i = 0; i < x.rank(); ++i)
      if (x.shape()[i] == Dim(1)) removed.push_back(i);
  } else {
    removed = normalize_axes("squeeze", axes, x.rank());
  }
  return apply(squeeze_op, {&x}, AxesAttrs{removed});
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  return apply(broadcast_to_op, {&x}, ShapeAttrs{shape.sizes()});
}

}  // namespace sorus
