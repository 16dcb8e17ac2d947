#include <algorithm>

#include "sorus/base/told_as.h"
#include "sorus/dispatch/apply.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/shape/attributes.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

/// Throws unless the slice lies within `x`.
void check_slice(std::string_view op, const Shape& x, const Ints& begins, const Ints& sizes,
                 const Ints& steps) {
  SORUS_CHECK(
      begins.size() == x.rank() && sizes.size() == x.rank() && steps.size() == x.rank(), ValueError,
      "{}: slice does not fit: got begins {}, sizes {}, steps {} for shape {}, need one of each per axis", op,
      begins, sizes, steps, x);
  for (int i = 0; i < x.rank(); ++i) {
    if (sizes[i] == 0) continue;
    int64_t last = begins[i] + (sizes[i] - 1) * steps[i];
    SORUS_CHECK(sizes[i] > 0 && steps[i] != 0 && begins[i] >= 0 && begins[i] < x.size(i) && last >= 0 &&
                    last < x.size(i),
                ValueError,
                "{}: slice leaves the tensor on axis {}: got begin {}, size {}, step {}, need 0 to {}", op, i,
                begins[i], sizes[i], steps[i], x.size(i) - 1);
  }
}

TypeList infer_slice(const InferContext& c) {
  const auto& a = c.attrs<SliceAttrs>();
  check_slice("slice", c.shape(0), a.begins, a.sizes, a.steps);
  return {{c.dtype(0), c.in(0).device, Shape(a.sizes)}};
}

Views view_slice(const InferContext& c, const Strides& strides, int64_t offset) {
  const auto& a = c.attrs<SliceAttrs>();
  View v{{}, offset};
  bool empty = std::find(a.sizes.begin(), a.sizes.end(), 0) != a.sizes.end();
  for (int i = 0; i < a.begins.size(); ++i) {
    v.strides[i] = strides[i] * a.steps[i];
    if (!empty) v.offset += a.begins[i] * strides[i];
  }
  return {v};
}

Tensor slice_backward(const Tensor& grad, const Ints& begins, const Ints& steps, const Ints& shape);

void vjp_slice(VjpContext& c) {
  const auto& a = c.attrs<SliceAttrs>();
  if (c.needs(0)) c.set(0, slice_backward(c.grad(), a.begins, a.steps, c.in_type(0).shape.sizes()));
}

TypeList infer_slice_backward(const InferContext& c) {
  const auto& a = c.attrs<SliceBackwardAttrs>();
  check_slice("slice_backward", Shape(a.shape), a.begins, c.shape(0).sizes(), a.steps);
  return {{c.dtype(0), c.in(0).device, Shape(a.shape)}};
}

void vjp_slice_backward(VjpContext& c) {
  const auto& a = c.attrs<SliceBackwardAttrs>();
  if (c.needs(0)) c.set(0, slice(c.grad(), a.begins, c.in_type(0).shape.sizes(), a.steps));
}

TypeList infer_slice_update(const InferContext& c) {
  const auto& a = c.attrs<SliceUpdateAttrs>();
  SORUS_CHECK(c.dtype(0) == c.dtype(1), DTypeError,
              "slice_update: element types differ: got {} and {}, need equal ones", c.dtype(0), c.dtype(1));
  check_slice("slice_update", c.shape(0), a.begins, c.shape(1).sizes(), a.steps);
  return {c.in(0)};
}

void vjp_slice_update(VjpContext& c) {
  const auto& a = c.attrs<SliceUpdateAttrs>();
  const TensorType& value = c.in_type(1);
  if (c.needs(0)) c.set(0, slice_update(c.grad(), zeros_view(value), a.begins, a.steps));
  if (c.needs(1)) c.set(1, slice(c.grad(), a.begins, value.shape.sizes(), a.steps));
}

TypeList infer_flip(const InferContext& c) {
  (void)normalize_axes("flip", c.attrs<AxesAttrs>().axes, c.shape(0).rank());
  return {c.in(0)};
}

Views view_flip(const InferContext& c, const Strides& strides, int64_t offset) {
  View v{strides, offset};
  if (c.shape(0).numel() == 0) return {v};
  for (int64_t axis : c.attrs<AxesAttrs>().axes) {
    int i = static_cast<int>(axis);
    v.offset += (c.shape(0).size(i) - 1) * strides[i];
    v.strides[i] = -strides[i];
  }
  return {v};
}

void vjp_flip(VjpContext& c) {
  if (c.needs(0)) c.set(0, flip(c.grad(), c.attrs<AxesAttrs>().axes));
}

const OpDef slice_op{
    .name = "slice",
    .doc =
        "Every step-th element from begin on, `size` of them, per axis; steps may be negative. A "
        "view. Throws ValueError when an element lies outside.",
    .inputs = {{"x"}},
    .attrs = attrs_def<SliceAttrs>(),
    .infer = infer_slice,
    .vjp = vjp_slice,
    .view = view_slice};
const OpRegistrar registered_slice{slice_op};

const OpDef slice_backward_op{.name = "slice_backward",
                              .doc = "Zeros of a shape but for a slice, which holds the operand.",
                              .inputs = {{"grad"}},
                              .attrs = attrs_def<SliceBackwardAttrs>(),
                              .infer = infer_slice_backward,
                              .vjp = vjp_slice_backward,
                              .traits = {.backward = true}};
const OpRegistrar registered_slice_backward{slice_backward_op};

const OpDef slice_update_op{
    .name = "slice_update",
    .doc = "x but for a slice, which holds `value`. Throws ValueError when the slice leaves x.",
    .inputs = {{"x"}, {"value"}},
    .attrs = attrs_def<SliceUpdateAttrs>(),
    .infer = infer_slice_update,
    .vjp = vjp_slice_update};
const OpRegistrar registered_slice_update{slice_update_op};

const OpDef flip_op{.name = "flip",
                    .doc = "Elements in reverse order along the axes. A view.",
                    .inputs = {{"x"}},
                    .attrs = attrs_def<AxesAttrs>(),
                    .infer = infer_flip,
                    .vjp = vjp_flip,
                    .view = view_flip};
const OpRegistrar registered_flip{flip_op};

Tensor slice_backward(const Tensor& grad, const Ints& begins, const Ints& steps, const Ints& shape) {
  return apply(slice_backward_op, {&grad}, SliceBackwardAttrs{begins, steps, shape});
}

}  // namespace

SliceRange resolve_slice(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t step,
                         int64_t extent) {
  SORUS_CHECK(step != 0, ValueError, "slice: step is zero: got 0, need another number");
  int64_t low = step > 0 ? 0 : -1;
  int64_t high = step > 0 ? extent : extent - 1;
  auto bound = [&](std::optional<int64_t> at, int64_t absent) {
    if (!at) return absent;
    return std::clamp(*at < 0 ? *at + extent : *at, low, high);
  };
  int64_t begin = bound(start, step > 0 ? low : high);
  int64_t end = bound(stop, step > 0 ? high : low);
  int64_t span = step > 0 ? end - begin : begin - end;
  int64_t stride = step > 0 ? step : -step;
  int64_t size = span > 0 ? (span - 1) / stride + 1 : 0;
  // An empty range starts within the axis, so that its begin is always a valid index or the end.
  return {size > 0 ? begin : 0, size, size > 0 ? step : 1};
}

Tensor slice(const Tensor& x, const Ints& begins, const Ints& sizes, const Ints& steps) {
  return apply(slice_op, {&x}, SliceAttrs{begins, sizes, steps});
}

Tensor strided_slice(const Tensor& x, const Ints& starts, const Ints& stops, const Ints& steps,
                     const Ints& axes) {
  const ToldAs told("strided_slice");
  SORUS_CHECK(starts.size() == stops.size() && (steps.empty() || steps.size() == starts.size()) &&
                  (axes.empty() || axes.size() == starts.size()) && starts.size() <= x.rank(),
              ValueError,
              "strided_slice: numbers of bounds differ: got starts {}, stops {}, steps {}, axes {} for shape "
              "{}, need "
              "as many of each, at most one per axis",
              starts, stops, steps, axes, x.shape());
  SliceAttrs a{Ints::filled(x.rank(), 0), x.shape().sizes(), Ints::filled(x.rank(), 1)};
  for (int i = 0; i < starts.size(); ++i) {
    int axis = axes.empty() ? i : normalize_axis("strided_slice", axes[i], x.rank());
    SliceRange r = resolve_slice(starts[i], stops[i], steps.empty() ? 1 : steps[i], x.size(axis));
    a.begins[axis] = r.begin;
    a.sizes[axis] = r.size;
    a.steps[axis] = r.step;
  }
  return apply(slice_op, {&x}, a);
}

Tensor narrow(const Tensor& x, int64_t axis, int64_t start, int64_t length) {
  int i = normalize_axis("narrow", axis, x.rank());
  int64_t extent = x.size(i);
  int64_t begin = start < 0 ? start + extent : start;
  SORUS_CHECK(begin >= 0 && length >= 0 && begin + length <= extent, IndexError,
              "narrow: range leaves axis {}: got start {} and length {}, need a range within extent {}", i,
              start, length, extent);
  SliceAttrs a{Ints::filled(x.rank(), 0), x.shape().sizes(), Ints::filled(x.rank(), 1)};
  a.begins[i] = begin;
  a.sizes[i] = length;
  return apply(slice_op, {&x}, a);
}

Tensor slice_update(const Tensor& x, const Tensor& value, const Ints& begins, const Ints& steps) {
  return apply(slice_update_op, {&x, &value}, SliceUpdateAttrs{begins, steps});
}

Tensor flip(const Tensor& x, const Ints& axes) {
  return apply(flip_op, {&x}, AxesAttrs{normalize_axes("flip", axes, x.rank())});
}

Tensor roll(const Tensor& x, const Ints& shifts, const Ints& axes) {
  if (axes.empty()) {
    SORUS_CHECK(shifts.size() == 1, ValueError,
                "roll: number of shifts does not fit: got {}, need 1 without axes", shifts);
    return reshape(roll(reshape(x, {-1}), shifts, {0}), x.shape().sizes());
  }
  SORUS_CHECK(shifts.size() == axes.size(), ValueError,
              "roll: numbers of shifts and axes differ: got {} and {}, need as many of both", shifts, axes);
  Tensor out = x;
  for (int i = 0; i < axes.size(); ++i) {
    int axis = normalize_axis("roll", axes[i], x.rank());
    int64_t extent = x.size(axis);
    int64_t shift = extent > 0 ? (shifts[i] % extent + extent) % extent : 0;
    if (shift == 0) continue;
    Tensor parts[2] = {narrow(out, axis, extent - shift, shift), narrow(out, axis, 0, extent - shift)};
    out = concat(parts, axis);
  }
  return out;
}

}  // namespace sorus
