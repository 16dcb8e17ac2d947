#include "sorus/ops/index/placing.h"

#include <cmath>
#include <limits>

#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/detail/indices.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/reduce/reduce.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

/// Extents of 1 but for one axis.
Ints along(int rank, int axis, int64_t extent) {
  Ints shape = Ints::filled(rank, 1);
  shape[axis] = extent;
  return shape;
}

/// What a maximum (minimum) over nothing gives: the least (greatest) finite number of the dtype.
double neutral(DType t, bool maximum) {
  return visit_dtype(t, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, Float16>) return maximum ? -65504.0 : 65504.0;
    if constexpr (std::is_same_v<T, BFloat16>) return maximum ? -0x1.fep127 : 0x1.fep127;
    using Limits = std::numeric_limits<std::conditional_t<std::is_arithmetic_v<T>, T, float>>;
    return static_cast<double>(maximum ? Limits::lowest() : Limits::max());
  });
}

/// Takes x into `count` segments that start at one number. A segment more takes what is left out, the slices
/// with negative numbers.
Tensor segments_of(std::string_view op, const Tensor& x, const Tensor& segments, int64_t count, double start,
                   ScatterMode mode) {
  const ToldAs told(op);
  bool fits = segments.rank() <= x.rank();
  for (int i = 0; fits && i < segments.rank(); ++i) fits = segments.size(i) == x.size(i);
  SORUS_CHECK(fits, ShapeError,
              "{}: segments do not fit: got shape {} for shape {}, need its leading extents", op,
              segments.shape(), x.shape());
  SORUS_CHECK(count >= 0, ValueError, "{}: number of segments is negative: got {}, need 0 or more", op,
              count);
  Tensor list = cast(detail::as_indices(op, segments), DType::kInt64);
  Tensor zero = zeros_view({DType::kInt64, {}, {}});
  Tensor left_out = less(list, zero);
  Tensor places = broadcast_to(full({DType::kInt64, {}, {}}, static_cast<double>(count)), list.shape());
  if (list.numel() > 0) {
    // A look-up of the segments' numbers, for its check of them. Without segments no number stands for one.
    bool none = count == 0;
    SORUS_CHECK(!none || all(left_out).item<bool>(), IndexError,
                "{}: segment out of range: got {} segments, need more than the greatest number", op, count);
    Tensor inside = where(left_out, zero, list);
    Tensor numbers = arange(0, static_cast<double>(none ? 1 : count), 1);
    places = where(left_out, places, gather(numbers, inside, 0));
  }
  Shape shape{count + 1};
  for (int i = segments.rank(); i < x.rank(); ++i) shape.push_back(x.size(i));
  Tensor empty = broadcast_to(full({x.dtype(), {}, {}}, start), shape);
  return narrow(scatter(empty, places, x, mode), 0, 0, count);
}

}  // namespace

Tensor index_fill(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& value) {
  const ToldAs told("index_fill");
  SORUS_CHECK(indices.rank() <= 1, ShapeError,
              "index_fill: indices have the wrong rank: got shape {}, need rank 0 or 1", indices.shape());
  SORUS_CHECK(value.numel() == 1, ShapeError,
              "index_fill: value is not one number: got shape {}, need one element", value.shape());
  int at = normalize_axis("index_fill", axis, x.rank());
  Tensor list = reshape(detail::as_indices("index_fill", indices), {-1, 1});
  Tensor mark = tensor_scatter(zeros_view({DType::kBool, {}, {x.size(at)}}), list,
                               broadcast_to(full({DType::kBool, {}, {}}, 1), {list.size(0)}));
  return masked_fill(x, reshape(mark, along(x.rank(), at, x.size(at))), value);
}

Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source) {
  const ToldAs told("masked_scatter");
  SORUS_CHECK(mask.dtype() == DType::kBool, DTypeError, "masked_scatter: mask is not bool: got {}, need bool",
              mask.dtype());
  Tensor places = nonzero(reshape(broadcast_to(mask, x.shape()), {-1}));
  SORUS_CHECK(source.numel() >= places.size(0), ValueError,
              "masked_scatter: source has too few elements: got {}, need {}", source.numel(), places.size(0));
  Tensor values = narrow(reshape(source, {-1}), 0, 0, places.size(0));
  return reshape(tensor_scatter(reshape(x, {-1}), places, values), x.shape().sizes());
}

Tensor select_scatter(const Tensor& x, const Tensor& source, int64_t axis, int64_t index) {
  int at = normalize_axis("select_scatter", axis, x.rank());
  int64_t extent = x.size(at);
  SORUS_CHECK(index >= -extent && index < extent, IndexError,
              "select_scatter: index out of range on axis {}: got {}, need {} <= index < {}", at, index,
              -extent, extent);
  Shape need;
  for (int i = 0; i < x.rank(); ++i)
    if (i != at) need.push_back(x.size(i));
  SORUS_CHECK(source.shape() == need, ShapeError,
              "select_scatter: source does not fit: got shape {}, need {}", source.shape(), need);
  Ints begins = Ints::filled(x.rank(), 0);
  begins[at] = index < 0 ? index + extent : index;
  return slice_update(x, cast(expand_dims(source, at), x.dtype()), begins, Ints::filled(x.rank(), 1));
}

Tensor slice_scatter(const Tensor& x, const Tensor& source, int64_t axis, int64_t start, int64_t stop,
                     int64_t step) {
  int at = normalize_axis("slice_scatter", axis, x.rank());
  SliceRange r = resolve_slice(start, stop, step, x.size(at));
  Shape shape = x.shape();
  shape[at] = r.size;
  SORUS_CHECK(source.shape() == shape, ShapeError,
              "slice_scatter: source does not fit: got shape {}, need {}", source.shape(), shape);
  Ints begins = Ints::filled(x.rank(), 0);
  Ints steps = Ints::filled(x.rank(), 1);
  begins[at] = r.begin;
  steps[at] = r.step;
  return slice_update(x, cast(source, x.dtype()), begins, steps);
}

Tensor diagonal_scatter(const Tensor& x, const Tensor& source, int64_t offset, int64_t axis1, int64_t axis2) {
  const ToldAs told("diagonal_scatter");
  // The positions of the diagonal among all, then one flat scatter.
  Tensor positions = reshape(arange(0, static_cast<double>(x.numel()), 1), x.shape().sizes());
  Tensor places = diagonal(positions, offset, axis1, axis2);
  SORUS_CHECK(source.shape() == places.shape(), ShapeError,
              "diagonal_scatter: source does not fit: got shape {}, need {}", source.shape(), places.shape());
  Tensor flat = tensor_scatter(reshape(x, {-1}), reshape(places, {-1, 1}), reshape(source, {-1}));
  return reshape(flat, x.shape().sizes());
}

Tensor unsorted_segment_sum(const Tensor& x, const Tensor& segments, int64_t count) {
  return segments_of("unsorted_segment_sum", x, segments, count, 0, ScatterMode::kAdd);
}
Tensor unsorted_segment_prod(const Tensor& x, const Tensor& segments, int64_t count) {
  return segments_of("unsorted_segment_prod", x, segments, count, 1, ScatterMode::kMul);
}
Tensor unsorted_segment_max(const Tensor& x, const Tensor& segments, int64_t count) {
  return segments_of("unsorted_segment_max", x, segments, count, neutral(x.dtype(), true), ScatterMode::kMax);
}
Tensor unsorted_segment_min(const Tensor& x, const Tensor& segments, int64_t count) {
  return segments_of("unsorted_segment_min", x, segments, count, neutral(x.dtype(), false),
                     ScatterMode::kMin);
}

Tensor reverse_sequence(const Tensor& x, const Tensor& lengths, int64_t sequence_axis, int64_t batch_axis) {
  int along_axis = normalize_axis("reverse_sequence", sequence_axis, x.rank());
  int batch = normalize_axis("reverse_sequence", batch_axis, x.rank());
  SORUS_CHECK(along_axis != batch, ValueError,
              "reverse_sequence: the axes are the same: got {} twice, need two axes", batch);
  SORUS_CHECK(lengths.rank() == 1 && lengths.size(0) == x.size(batch), ShapeError,
              "reverse_sequence: lengths do not fit: got shape {}, need ({},)", lengths.shape(),
              x.size(batch));
  Tensor count = cast(detail::as_indices("reverse_sequence", lengths), DType::kInt64);
  count = reshape(count, along(x.rank(), batch, x.size(batch)));
  int64_t extent = x.size(along_axis);
  Tensor at = reshape(arange(0, static_cast<double>(extent), 1), along(x.rank(), along_axis, extent));
  Tensor one = full({DType::kInt64, {}, {}}, 1);
  Tensor places = where(less(at, count), sub(sub(count, one), at), at);
  return gather_elements(x, broadcast_to(places, x.shape()), along_axis);
}

Tensor sequence_mask(const Tensor& lengths, int64_t length) {
  SORUS_CHECK(length >= 0, ValueError, "sequence_mask: length is negative: got {}, need 0 or more", length);
  Tensor list = detail::as_indices("sequence_mask", lengths);
  return less(arange(0, static_cast<double>(length), 1, list.dtype()), expand_dims(list, -1));
}

Tensor unravel_index(const Tensor& positions, const Shape& shape) {
  Tensor list = detail::as_indices("unravel_index", positions);
  int64_t numel = shape.numel();
  for (int64_t p : cast(list, DType::kInt64).to_vector<int64_t>())
    SORUS_CHECK(p >= 0 && p < numel, IndexError,
                "unravel_index: position out of range: got {}, need 0 <= position < {}", p, numel);
  TensorList axes;
  int64_t step = numel;
  for (int i = 0; i < shape.rank(); ++i) {
    int64_t extent = shape.size(i);
    step = extent > 0 ? step / extent : 1;
    Tensor rows = floor_div(list, full({list.dtype(), {}, {}}, static_cast<double>(step)));
    axes.push_back(mod(rows, full({list.dtype(), {}, {}}, static_cast<double>(extent))));
  }
  return stack({axes.data(), axes.size()}, -1);
}

}  // namespace sorus
