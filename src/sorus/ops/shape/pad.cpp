#include "sorus/dispatch/apply.h"
#include "sorus/ops/shape/attributes.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

constexpr int64_t kWidest = int64_t{1} << 61;

/// Widths within bounds can be negated and added to one another.
void check_widths(const Ints& widths) {
  for (int64_t w : widths)
    SORUS_CHECK(-kWidest <= w && w <= kWidest, ValueError,
                "pad: a width is out of range: got {}, need at most 2^61 either way", widths);
}

TypeList infer_pad(const InferContext& c) {
  const auto& a = c.attrs<PadAttrs>();
  const Shape& x = c.shape(0);
  SORUS_CHECK(
      a.before.size() == x.rank() && a.after.size() == x.rank(), ValueError,
      "pad: number of widths does not fit: got {} before and {} after for shape {}, need one per axis",
      a.before, a.after, x);
  check_widths(a.before);
  check_widths(a.after);
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    int64_t extent = 0;
    SORUS_CHECK(!__builtin_add_overflow(x.size(i), a.before[i] + a.after[i], &extent), ValueError,
                "pad: axis {} becomes too long: got widths {} and {} for shape {}, need less than 2^63 "
                "elements",
                i, a.before[i], a.after[i], x);
    SORUS_CHECK(extent >= 0, ShapeError,
                "pad: axis {} is cropped by more than it has: got widths {} and {} for shape {}, need a "
                "result of 0 or "
                "more",
                i, a.before[i], a.after[i], x);
    out.push_back(extent);
  }
  return {{c.dtype(0), c.in(0).device, out}};
}

Ints negated(const Ints& widths) {
  Ints r;
  for (int64_t w : widths) r.push_back(-w);
  return r;
}

void vjp_pad(VjpContext& c) {
  const auto& a = c.attrs<PadAttrs>();
  if (c.needs(0)) c.set(0, pad(c.grad(), negated(a.before), negated(a.after)));
}

const OpDef pad_op{
    .name = "pad",
    .doc =
        "x with elements of one number before and after each axis; negative widths remove elements. "
        "Throws ShapeError when an extent would become negative.",
    .inputs = {{"x"}},
    .attrs = attrs_def<PadAttrs>(),
    .infer = infer_pad,
    .vjp = vjp_pad};
const OpRegistrar registered{pad_op};

/// `length` elements of axis `axis` before (or after) the tensor as the mode continues it.
Tensor continuation(const Tensor& x, int axis, int64_t length, bool before, PadMode mode) {
  int64_t extent = x.size(axis);
  switch (mode) {
    case PadMode::kReflect:
      return flip(narrow(x, axis, before ? 1 : extent - 1 - length, length), {axis});
    case PadMode::kSymmetric:
      return flip(narrow(x, axis, before ? 0 : extent - length, length), {axis});
    case PadMode::kCircular:
      return narrow(x, axis, before ? extent - length : 0, length);
    default:
      break;
  }
  Shape shape = x.shape();
  shape[axis] = length;
  return broadcast_to(narrow(x, axis, before ? 0 : extent - 1, 1), shape);
}

/// Throws unless a border of that width can be made from an axis of that extent.
void check_border(int axis, int64_t width, int64_t extent, PadMode mode) {
  int64_t limit = mode == PadMode::kReflect ? extent - 1 : mode == PadMode::kReplicate ? width : extent;
  SORUS_CHECK(extent > 0 && width <= limit, ShapeError,
              "pad: border of axis {} is too wide: got {} for extent {}, need at most {}", axis, width,
              extent, std::max<int64_t>(extent > 0 ? limit : 0, 0));
}

}  // namespace

Tensor pad(const Tensor& x, const Ints& before, const Ints& after, double value) {
  return apply(pad_op, {&x}, PadAttrs{before, after, value});
}

Tensor pad(const Tensor& x, const Ints& before, const Ints& after, PadMode mode, double value) {
  if (mode == PadMode::kConstant) return pad(x, before, after, value);
  SORUS_CHECK(
      before.size() == x.rank() && after.size() == x.rank(), ValueError,
      "pad: number of widths does not fit: got {} before and {} after for shape {}, need one per axis",
      before, after, x.shape());
  check_widths(before);
  check_widths(after);
  Tensor out = x;
  for (int axis = 0; axis < x.rank(); ++axis) {
    int64_t front = std::max<int64_t>(before[axis], 0);
    int64_t back = std::max<int64_t>(after[axis], 0);
    int64_t begin = std::max<int64_t>(-before[axis], 0);
    int64_t length = out.size(axis) - begin - std::max<int64_t>(-after[axis], 0);
    SORUS_CHECK(length >= 0, ShapeError,
                "pad: axis {} is cropped by more than it has: got widths {} and {} for shape {}, need a "
                "result of 0 or "
                "more",
                axis, before[axis], after[axis], x.shape());
    if (length != out.size(axis)) out = narrow(out, axis, begin, length);
    if (front == 0 && back == 0) continue;
    check_border(axis, std::max(front, back), length, mode);
    TensorList parts;
    if (front > 0) parts.push_back(continuation(out, axis, front, true, mode));
    parts.push_back(out);
    if (back > 0) parts.push_back(continuation(out, axis, back, false, mode));
    out = concat({parts.data(), parts.size()}, axis);
  }
  return out;
}

}  // namespace sorus
