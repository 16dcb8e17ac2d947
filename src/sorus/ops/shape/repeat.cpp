#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"

/// Repetitions as broadcasts that are then seen in another shape, and folds of axes.
namespace sorus {
namespace {

/// Each axis repeated as a whole: an axis of extent n becomes (times, n), then times * n.
Tensor tile_axes(const Tensor& x, const Ints& times) {
  Ints fresh;
  Shape wide;
  Ints shape;
  for (int i = 0; i < x.rank(); ++i) {
    if (times[i] != 1) {
      fresh.push_back(wide.rank());
      wide.push_back(times[i]);
    }
    wide.push_back(x.size(i));
    shape.push_back(times[i] * x.size(i));
  }
  return reshape(broadcast_to(expand_dims(x, fresh), wide), shape);
}

}  // namespace

Tensor tile(const Tensor& x, const Ints& times) {
  for (int64_t t : times)
    SORUS_CHECK(t >= 0, ValueError, "tile: a number of repetitions is negative: got {}, need 0 or more",
                times);
  Tensor out = x;
  if (times.size() > x.rank()) {
    Ints fresh;
    for (int i = 0; i < times.size() - x.rank(); ++i) fresh.push_back(i);
    out = expand_dims(x, fresh);
  }
  int missing = out.rank() - times.size();
  Ints all = Ints::filled(missing, 1);
  int repeated = 0;
  for (int64_t t : times) {
    all.push_back(t);
    repeated += t != 1 ? 1 : 0;
  }
  if (repeated == 0) return out;
  if (out.rank() + repeated <= kMaxRank) return tile_axes(out, all);
  // Too many axes at once for a broadcast: one after the other.
  for (int i = 0; i < out.rank(); ++i) {
    if (all[i] == 1) continue;
    TensorList copies(static_cast<size_t>(all[i]), out);
    out = all[i] > 0 ? concat({copies.data(), copies.size()}, i) : narrow(out, i, 0, 0);
  }
  return out;
}

Tensor repeat_interleave(const Tensor& x, int64_t repeats, int64_t axis) {
  int at = normalize_axis("repeat_interleave", axis, x.rank());
  SORUS_CHECK(repeats >= 0, ValueError,
              "repeat_interleave: number of repetitions is negative: got {}, need 0 or more", repeats);
  if (repeats == 1) return x;
  if (x.rank() == kMaxRank) {
    Tensor indices =
        reshape(repeat_interleave(arange(0, static_cast<double>(x.size(at)), 1), repeats, 0), {-1});
    return gather(x, indices, at);
  }
  Shape wide;
  Ints shape;
  for (int i = 0; i < x.rank(); ++i) {
    wide.push_back(x.size(i));
    if (i == at) wide.push_back(repeats);
    shape.push_back(i == at ? repeats * x.size(i) : x.size(i));
  }
  return reshape(broadcast_to(expand_dims(x, at + 1), wide), shape);
}

Tensor repeat_interleave(const Tensor& x, std::span<const int64_t> repeats, int64_t axis) {
  int at = normalize_axis("repeat_interleave", axis, x.rank());
  if (repeats.size() == 1) return repeat_interleave(x, repeats[0], at);
  SORUS_CHECK(
      static_cast<int64_t>(repeats.size()) == x.size(at), ShapeError,
      "repeat_interleave: number of repeats does not fit: got {} for axis {} of shape {}, need 1 or {}",
      repeats.size(), at, x.shape(), x.size(at));
  std::vector<int64_t> indices;
  for (size_t i = 0; i < repeats.size(); ++i) {
    SORUS_CHECK(repeats[i] >= 0, ValueError,
                "repeat_interleave: number of repetitions is negative: got {}, need 0 or more", repeats[i]);
    indices.insert(indices.end(), static_cast<size_t>(repeats[i]), static_cast<int64_t>(i));
  }
  Tensor list(std::span<const int64_t>(indices), Shape{static_cast<int64_t>(indices.size())});
  return gather(x, list, at);
}

Tensor flatten(const Tensor& x, int64_t start_axis, int64_t end_axis) {
  if (x.rank() == 0) return reshape(x, {1});
  int start = normalize_axis("flatten", start_axis, x.rank());
  int end = normalize_axis("flatten", end_axis, x.rank());
  SORUS_CHECK(start <= end, ValueError,
              "flatten: axes are in the wrong order: got {} and {}, need start <= end", start_axis, end_axis);
  Ints shape;
  for (int i = 0; i < x.rank(); ++i) {
    if (i <= start || i > end)
      shape.push_back(x.size(i));
    else
      shape[start] *= x.size(i);
  }
  return reshape(x, shape);
}

TensorList meshgrid(std::span<const Tensor> tensors, bool matrix_indexing) {
  Shape shape;
  for (const Tensor& t : tensors) {
    SORUS_CHECK(t.rank() <= 1, ShapeError, "meshgrid: wrong rank: got shape {}, need rank 0 or 1", t.shape());
    shape.push_back(t.numel());
  }
  bool swap = !matrix_indexing && tensors.size() >= 2;
  if (swap) std::swap(shape[0], shape[1]);
  TensorList out;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Ints place = Ints::filled(static_cast<int>(tensors.size()), 1);
    size_t axis = swap && i < 2 ? 1 - i : i;
    place[static_cast<int>(axis)] = tensors[i].numel();
    out.push_back(broadcast_to(reshape(tensors[i], place), shape));
  }
  return out;
}

}  // namespace sorus
