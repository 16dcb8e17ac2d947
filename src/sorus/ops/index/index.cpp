#include <algorithm>
#include <vector>

#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/detail/indices.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"

/// NumPy's indexing, taken apart into a slice, dropped and new axes, and one gather or scatter.
namespace sorus {
namespace {

/// An index tensor and the axis of the sliced tensor that it indexes.
struct TensorIndex {
  int axis;
  Tensor indices;
};

/// What the items say about x. First comes the slice of x; then `dropped` axes of it (integers) go and
/// `fresh` axes (of the result of that) come; then the tensors index the axes that they name.
struct Plan {
  Ints begins, sizes, steps;
  Ints dropped;
  Ints fresh;
  std::vector<TensorIndex> tensors;
  bool together = true;  ///< all tensors and integers stand side by side: their axes stay in place
  bool whole = true;     ///< the slice is all of x
};

int axes_of(const IndexItem& item) {
  if (const auto* t = std::get_if<Tensor>(&item)) return t->dtype() == DType::kBool ? t->rank() : 1;
  return std::holds_alternative<int64_t>(item) || std::holds_alternative<SliceItem>(item) ? 1 : 0;
}

/// Items with full slices after the ellipsis, or at the end if there is none. Throws IndexError for too many
/// axes or two ellipses.
std::vector<IndexItem> spread_items(const Tensor& x, IndexSpan items) {
  int used = 0;
  int ellipses = 0;
  for (const IndexItem& item : items) {
    used += axes_of(item);
    ellipses += std::holds_alternative<EllipsisItem>(item) ? 1 : 0;
  }
  SORUS_CHECK(used <= x.rank(), IndexError, "index: too many indices: got {} for shape {}, need at most {}",
              used, x.shape(), x.rank());
  SORUS_CHECK(ellipses <= 1, IndexError, "index: more than one ellipsis: got {}, need at most 1", ellipses);
  std::vector<IndexItem> out;
  auto fill = [&] { out.insert(out.end(), static_cast<size_t>(x.rank() - used), SliceItem{}); };
  for (const IndexItem& item : items) {
    out.push_back(item);
    if (std::holds_alternative<EllipsisItem>(item)) fill();
  }
  if (ellipses == 0) fill();
  return out;
}

/// Reads the items one after the other.
class Planner {
 public:
  Planner(const Tensor& x, const std::vector<IndexItem>& items) : x_(x) {
    for (const IndexItem& item : items) has_tensor_ |= std::holds_alternative<Tensor>(item);
    for (const IndexItem& item : items) std::visit([&](const auto& i) { read(i); }, item);
  }
  Plan take() { return std::move(plan_); }

 private:
  void read(int64_t i) {
    int64_t extent = x_.size(axis_);
    SORUS_CHECK(i >= -extent && i < extent, IndexError,
                "index: index out of range on axis {}: got {}, need {} <= index < {}", axis_, i, -extent,
                extent);
    plan_.dropped.push_back(axis_);
    add_range({i < 0 ? i + extent : i, 1, 1});
    if (has_tensor_) stand();
  }
  void read(const SliceItem& s) {
    add_range(resolve_slice(s.start, s.stop, s.step.value_or(1), x_.size(axis_)));
    ++result_axis_;
    separate();
  }
  void read(const NewAxisItem&) {
    plan_.fresh.push_back(result_axis_++);
    separate();
  }
  void read(const EllipsisItem&) { separate(); }  // also one that stands for no axis
  void read(const Tensor& t) {
    stand();
    if (t.dtype() != DType::kBool) return add_tensor(detail::as_indices("index", t));
    read_mask(t);
  }
  void read_mask(const Tensor& mask) {
    if (mask.rank() == 0) {
      // A scalar mask is a new axis of extent 1 or 0.
      plan_.tensors.push_back({result_axis_, reshape(nonzero(reshape(mask, {1})), {-1})});
      plan_.fresh.push_back(result_axis_++);
      return;
    }
    for (int i = 0; i < mask.rank(); ++i)
      SORUS_CHECK(mask.size(i) == x_.size(axis_ + i), IndexError,
                  "index: mask does not fit: got mask {} for shape {} at axis {}, need equal extents",
                  mask.shape(), x_.shape(), axis_);
    for (Tensor& t : nonzero_tuple(mask)) add_tensor(t);
  }
  void add_tensor(const Tensor& indices) {
    plan_.tensors.push_back({result_axis_++, indices});
    add_range({0, x_.size(axis_), 1});
  }
  void add_range(const SliceRange& r) {
    plan_.whole &= r.size == x_.size(axis_) && r.step == 1;
    plan_.begins.push_back(r.begin);
    plan_.sizes.push_back(r.size);
    plan_.steps.push_back(r.step);
    ++axis_;
  }
  /// An item that picks stands here: side by side with those before, unless something came between.
  void stand() {
    if (seen_ && separated_) plan_.together = false;
    seen_ = true;
    separated_ = false;
  }
  void separate() { separated_ = seen_; }

  const Tensor& x_;
  Plan plan_;
  int axis_ = 0;         ///< of x
  int result_axis_ = 0;  ///< after dropping and adding axes
  bool has_tensor_ = false;
  bool seen_ = false;
  bool separated_ = false;
};

Plan make_plan(const Tensor& x, IndexSpan items) { return Planner(x, spread_items(x, items)).take(); }

/// x after the slice, without the dropped and with the fresh axes.
Tensor basic_part(const Tensor& x, const Plan& p) {
  Tensor y = p.whole ? x : slice(x, p.begins, p.sizes, p.steps);
  if (!p.dropped.empty()) y = squeeze(y, p.dropped);
  return p.fresh.empty() ? y : expand_dims(y, p.fresh);
}

/// The index tensors in one, side by side on a new last axis, and the axes that they index.
struct Joint {
  Shape shape;  ///< what the tensors broadcast to
  Tensor indices;
  Ints axes;
};

Joint join_tensors(const Plan& p) {
  Joint j;
  for (const TensorIndex& t : p.tensors) {
    try {
      j.shape = broadcast_shapes("index", j.shape, t.indices.shape());
    } catch (const ShapeError& e) {
      throw IndexError(e.what());
    }
  }
  TensorList columns;
  for (const TensorIndex& t : p.tensors) {
    columns.push_back(broadcast_to(t.indices, j.shape));
    j.axes.push_back(t.axis);
  }
  j.indices = stack({columns.data(), columns.size()}, j.shape.rank());
  return j;
}

/// Axes 0.. of the same number as `axes`, for movedim.
Ints leading(int count, int from = 0) {
  Ints r;
  for (int i = 0; i < count; ++i) r.push_back(from + i);
  return r;
}

/// Axis of the result at which the tensors' axes stand.
int place_of(const Plan& p) { return p.together ? p.tensors[0].axis : 0; }

/// `value` in the shape of a selection; NumPy lets it have more leading axes of extent 1.
Tensor fit_value(const Tensor& value, const Shape& shape, DType dtype) {
  Tensor v = cast(value, dtype);
  while (v.rank() > shape.rank() && v.size(0) == 1) v = squeeze(v, {0});
  bool fits = v.rank() <= shape.rank();
  for (int i = 0; fits && i < v.rank(); ++i)
    fits = v.size(i) == 1 || v.size(i) == shape.size(shape.rank() - v.rank() + i);
  SORUS_CHECK(fits, ShapeError,
              "index_update: value does not fit: got shape {}, need one that broadcasts to {}", value.shape(),
              shape);
  return broadcast_to(v, shape);
}

/// The part of x after `basic_part` with the elements that the tensors name replaced or added to.
Tensor scatter_part(const Tensor& part, const Plan& p, const Tensor& value, ScatterMode mode) {
  Joint j = join_tensors(p);
  int indexed = j.axes.size();
  Tensor front = movedim(part, j.axes, leading(indexed));
  Shape shape;
  int place = place_of(p);
  for (int i = indexed; i < indexed + place; ++i) shape.push_back(front.size(i));
  for (Dim d : j.shape.dims()) shape.push_back(d);
  for (int i = indexed + place; i < front.rank(); ++i) shape.push_back(front.size(i));
  Tensor v = fit_value(value, shape, part.dtype());
  int rank = j.shape.rank();
  Tensor updates = movedim(v, leading(rank, place), leading(rank));
  return movedim(tensor_scatter(front, j.indices, updates, mode), leading(indexed), j.axes);
}

/// Puts a part changed by scatter_part, or a value, back into x.
Tensor restore(const Tensor& x, const Plan& p, Tensor part) {
  if (!p.fresh.empty()) part = squeeze(part, p.fresh);
  if (!p.dropped.empty()) part = expand_dims(part, p.dropped);
  return p.whole ? part : slice_update(x, part, p.begins, p.steps);
}

/// A mask over the leading axes with one number needs no list of its elements: the mask, else null.
const Tensor* simple_mask(const Tensor& x, IndexSpan items, const Tensor& value) {
  if (items.size() != 1 || value.numel() != 1) return nullptr;
  const auto* mask = std::get_if<Tensor>(&items[0]);
  if (!mask || mask->dtype() != DType::kBool || mask->rank() == 0 || mask->rank() > x.rank()) return nullptr;
  for (int i = 0; i < mask->rank(); ++i)
    if (mask->size(i) != x.size(i)) return nullptr;
  return mask;
}

Tensor update(const Tensor& x, IndexSpan items, const Tensor& value, ScatterMode mode) {
  Plan p = make_plan(x, items);
  if (!p.tensors.empty()) return restore(x, p, scatter_part(basic_part(x, p), p, value, mode));
  if (mode == ScatterMode::kAdd) {
    Tensor part = basic_part(x, p);
    return restore(x, p, add(part, fit_value(value, part.shape(), x.dtype())));
  }
  // No view of x is held while it is updated: then its memory may be written over (dispatch/in_place.h).
  const Shape shape = basic_part(x, p).shape();
  return restore(x, p, fit_value(value, shape, x.dtype()));
}

}  // namespace

Tensor index(const Tensor& x, IndexSpan items) {
  Plan p = make_plan(x, items);
  Tensor part = basic_part(x, p);
  if (p.tensors.empty()) return part;
  int place = place_of(p);
  if (p.tensors.size() == 1) {
    const TensorIndex& t = p.tensors[0];
    Tensor out = gather(part, t.indices, t.axis);
    int rank = t.indices.rank();
    return place == t.axis || rank == 0 ? out : movedim(out, leading(rank, t.axis), leading(rank));
  }
  Joint j = join_tensors(p);
  Tensor out = gather_nd(movedim(part, j.axes, leading(j.axes.size())), j.indices);
  int rank = j.shape.rank();
  return place == 0 || rank == 0 ? out : movedim(out, leading(rank), leading(rank, place));
}

Tensor index_update(const Tensor& x, IndexSpan items, const Tensor& value) {
  if (const Tensor* mask = simple_mask(x, items, value)) {
    Ints shape = mask->shape().sizes();
    while (shape.size() < x.rank()) shape.push_back(1);
    return where(reshape(*mask, shape), reshape(cast(value, x.dtype()), {}), x);
  }
  return update(x, items, value, ScatterMode::kUpdate);
}

Tensor index_put(const Tensor& x, std::span<const Tensor> indices, const Tensor& values, bool accumulate) {
  const ToldAs told("index_put");
  std::vector<IndexItem> items(indices.begin(), indices.end());
  return update(x, items, values, accumulate ? ScatterMode::kAdd : ScatterMode::kUpdate);
}

}  // namespace sorus
