#include "binding/functions.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/elementwise/windows.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/index/placing.h"
#include "sorus/ops/shape/shape_ops.h"
#include "sorus/ops/shape/stacking.h"

namespace sorus::python {

template <>
struct EnumWords<PadMode> {
  static constexpr const char* words[] = {"constant", "reflect", "symmetric", "replicate", "circular"};
};
template <>
struct EnumWords<ScatterMode> {
  static constexpr const char* words[] = {"update", "add", "sub", "mul", "div", "max", "min"};
};

template <>
struct EnumWords<UniqueOrder> {
  static constexpr const char* words[] = {"sorted", "first", "runs"};
};

namespace {

std::tuple<Tensor, Tensor, Tensor> bound_unique(const Tensor& x, UniqueOrder order) {
  UniqueResult r = unique(x, order);
  return {std::move(r.values), std::move(r.inverse), std::move(r.counts)};
}

using Sizes = std::span<const int64_t>;

/// Filled with a number.
Tensor full_of(const Shape& shape, double value, DType dtype) { return full({dtype, {}, shape}, value); }
/// Filled with a number, in the shape of x and its dtype unless another is given.
Tensor full_like(const Tensor& x, double value, std::optional<DType> dtype) {
  return full({dtype.value_or(x.dtype()), {}, x.shape()}, value);
}
Tensor cast_if(const Tensor& x, std::optional<DType> dtype) { return dtype ? cast(x, *dtype) : x; }
Tensor transpose_or_reverse(const Tensor& x, const Ints& axes) {
  if (!axes.empty()) return transpose(x, axes);
  Ints reversed;
  for (int i = x.rank(); i-- > 0;) reversed.push_back(i);
  return transpose(x, reversed);
}
/// broadcast_to with -1 for "as it is".
Tensor expand(const Tensor& x, const Ints& shape) {
  Shape full_shape;
  for (int i = 0; i < shape.size(); ++i) {
    int own = x.rank() - shape.size() + i;
    SORUS_CHECK(
        shape[i] >= 0 || (shape[i] == -1 && own >= 0), ValueError,
        "broadcast_to: extent is out of range: got {} on axis {}, need 0 or more, or -1 for an axis that is "
        "there",
        shape[i], i);
    full_shape.push_back(shape[i] == -1 ? x.shape().size(own) : shape[i]);
  }
  return broadcast_to(x, full_shape);
}
Tensor pad_with(const Tensor& x, const Ints& before, const Ints& after, PadMode mode, double value) {
  return pad(x, before, after, mode, value);
}

}  // namespace

std::vector<Function> shape_functions() {
  return {
      function("reshape", &reshape, "x, shape"),
      function("transpose", &transpose_or_reverse, "x, axes=()"),
      function("swap_last", &swap_last, "x"),
      function("swapaxes", &swapaxes, "x, axis0, axis1"),
      function("movedim", &movedim, "x, source, destination"),
      function("broadcast_to", &broadcast_to, "x, shape"),
      function("expand", &expand, "x, shape"),
      function<Tensor, const Tensor&, const Ints&>("expand_dims", &expand_dims, "x, axes"),
      function("squeeze", &squeeze, "x, axes=()"),
      function("flatten", &flatten, "x, start_axis=0, end_axis=-1"),
      function("contiguous", &contiguous, "x"),
      function("concat", &concat, "tensors, axis=0"),
      function("stack", &stack, "tensors, axis=0"),
      function("split", &split, "x, piece, axis=0"),
      function("split_sizes", &split_sizes, "x, sizes, axis=0"),
      function("chunk", &chunk, "x, chunks, axis=0"),
      function("unstack", &unstack, "x, axis=0"),
      function("slice", &slice, "x, begins, sizes, steps"),
      function("strided_slice", &strided_slice, "x, starts, stops, steps=(), axes=()"),
      function("narrow", &narrow, "x, axis, start, length"),
      function("flip", &flip, "x, axes=()"),
      function("roll", &roll, "x, shifts, axes=()"),
      function("tile", &tile, "x, times"),
      function<Tensor, const Tensor&, int64_t, int64_t>("repeat_interleave", &repeat_interleave,
                                                        "x, repeats, axis"),
      function<Tensor, const Tensor&, Sizes, int64_t>("repeat_each", &repeat_interleave, "x, repeats, axis"),
      function("pad", &pad_with, "x, before, after, mode='constant', value=0"),
      function("diagonal", &diagonal, "x, offset=0, axis1=0, axis2=1"),
      function("diag_embed", &diag_embed, "x, offset=0, axis1=-2, axis2=-1"),
      function("diag", &diag, "x, offset=0"),
      function("cartesian_prod", &cartesian_prod, "vectors"),
      function("combinations", &combinations, "vector, count=2, replacement=False"),
      function("block_diag", &block_diag, "tensors"),
      function("unfold_axis", &unfold_axis, "x, axis, size, step"),
      function("tril", &tril, "x, diagonal=0"),
      function("triu", &triu, "x, diagonal=0"),
      function("meshgrid", &meshgrid, "tensors, matrix_indexing=True"),
      function("full", &full_of, "shape, value, dtype=float32"),
      function("full_like", &full_like, "x, value, dtype=None"),
      function("cast_if", &cast_if, "x, dtype=None"),
      function("arange", &arange, "start, stop, step=1, dtype=int64"),
      function("linspace", &linspace, "start, stop, count, dtype=float32, endpoint=True"),
      function("logspace", &logspace, "start, stop, count, base=10, dtype=float32, endpoint=True"),
      function("hann_window", &hann_window, "length, periodic=True, dtype=float32"),
      function("hamming_window", &hamming_window,
               "length, periodic=True, alpha=0.54, beta=0.46, dtype=float32"),
      function("blackman_window", &blackman_window, "length, periodic=True, dtype=float32"),
      function("bartlett_window", &bartlett_window, "length, periodic=True, dtype=float32"),
      function("kaiser_window", &kaiser_window, "length, periodic=True, beta=12, dtype=float32"),
      function("eye", &eye, "rows, columns, dtype=float32"),
  };
}

std::vector<Function> index_functions() {
  return {
      function("gather", &gather, "x, indices, axis, batch_dims=0"),
      function("take", &take, "x, indices, axis=None"),
      function("index_select", &index_select, "x, axis, indices"),
      function("gather_elements", &gather_elements, "x, indices, axis"),
      function("gather_nd", &gather_nd, "x, indices"),
      function("scatter_elements", &scatter_elements, "x, indices, updates, axis=0, mode='update'", 5),
      function("tensor_scatter", &tensor_scatter, "x, indices, updates, mode='update'"),
      function("scatter_nd", &scatter_nd, "indices, updates, shape"),
      function("scatter", &scatter, "x, indices, updates, mode='update'"),
      function("index_add", &index_add, "x, axis, indices, source"),
      function("masked_fill", &masked_fill, "x, mask, value", 5),
      function("nonzero", &nonzero, "x"),
      function("nonzero_tuple", &nonzero_tuple, "x"),
      function("masked_select", &masked_select, "x, mask"),
      function("unique", &bound_unique, "x, order='sorted'"),
      function("bincount", &bincount, "x, weights=None, minimum_length=0"),
      function("one_hot", &one_hot, "indices, depth, on, off, axis=-1", 12),
      function("searchsorted", &searchsorted, "sorted, values, right=False"),
      function("unsorted_segment_sum", &unsorted_segment_sum, "x, segments, count"),
      function("unsorted_segment_prod", &unsorted_segment_prod, "x, segments, count"),
      function("unsorted_segment_max", &unsorted_segment_max, "x, segments, count"),
      function("unsorted_segment_min", &unsorted_segment_min, "x, segments, count"),
      function("reverse_sequence", &reverse_sequence, "x, lengths, sequence_axis, batch_axis=0"),
      function("sequence_mask", &sequence_mask, "lengths, length"),
      function("diagonal_scatter", &diagonal_scatter, "x, source, offset=0, axis1=0, axis2=1"),
      function("index_put", &index_put, "x, indices, values, accumulate=False", 5),
  };
}

}  // namespace sorus::python
