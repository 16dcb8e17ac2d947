#include <algorithm>

#include "sorus/dispatch/apply.h"
#include "sorus/ops/shape/attributes.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

constexpr int64_t kMostPieces = 1 << 20;

TypeList infer_split(const InferContext& c) {
  const auto& a = c.attrs<SplitAttrs>();
  const Shape& x = c.shape(0);
  const int axis = normalize_axis("split", a.axis, x.rank());
  int64_t extent = x.size(axis);
  TypeList types;
  auto add = [&](int64_t size) {
    Shape s = x;
    s[axis] = size;
    types.push_back({c.dtype(0), c.in(0).device, s});
  };
  int64_t total = 0;
  for (int64_t size : a.sizes) {
    SORUS_CHECK(size >= 0, ShapeError, "split: a size is negative: got {}, need 0 or more", a.sizes);
    add(size);
    total += size;
  }
  if (a.sizes.empty()) {
    SORUS_CHECK(a.piece > 0, ValueError, "split: size of the pieces is not positive: got {}, need 1 or more",
                a.piece);
    SORUS_CHECK(extent / a.piece < kMostPieces, ValueError,
                "split: too many pieces: got {} elements in pieces of {}, need at most {} pieces", extent,
                a.piece, kMostPieces);
    for (int64_t at = 0; at < extent; at += a.piece) add(std::min(a.piece, extent - at));
    if (extent == 0) add(0);
    total = extent;
  }
  SORUS_CHECK(total == extent, ShapeError,
              "split: sizes do not add up: got {} for axis {} of shape {}, need a sum of {}", a.sizes, axis,
              x, extent);
  return types;
}

Views view_split(const InferContext& c, const Strides& strides, int64_t offset) {
  const auto& a = c.attrs<SplitAttrs>();
  auto axis = static_cast<int>(a.axis);
  Views views;
  for (int64_t size : a.sizes) {
    views.push_back({strides, offset});
    offset += size * strides[axis];
  }
  if (!a.sizes.empty()) return views;
  const int64_t pieces = std::max<int64_t>((c.shape(0).size(axis) + a.piece - 1) / a.piece, 1);
  for (int64_t i = 0; i < pieces; ++i) views.push_back({strides, offset + i * a.piece * strides[axis]});
  return views;
}

void vjp_split(VjpContext& c) {
  if (!c.needs(0)) return;
  TensorList parts;
  for (size_t i = 0; i < c.output_count(); ++i)
    parts.push_back(c.grad(i).defined() ? c.grad(i) : zeros_view(c.out_type(i)));
  c.set(0, concat({parts.data(), parts.size()}, c.attrs<SplitAttrs>().axis));
}

const OpDef split_op{
    .name = "split",
    .doc =
        "Pieces of x along an axis: of the sizes given, or all of one size but for a shorter last. "
        "Views. Throws ShapeError when the sizes do not add up to the extent.",
    .inputs = {{"x"}},
    .attrs = attrs_def<SplitAttrs>(),
    .infer = infer_split,
    .vjp = vjp_split,
    .view = view_split};
const OpRegistrar registered{split_op};

}  // namespace

TensorList split(const Tensor& x, int64_t piece, int64_t axis) {
  return apply_all(split_op, {&x}, SplitAttrs{normalize_axis("split", axis, x.rank()), piece, {}});
}

TensorList split_sizes(const Tensor& x, std::span<const int64_t> sizes, int64_t axis) {
  int at = normalize_axis("split", axis, x.rank());
  SORUS_CHECK(!sizes.empty(), ValueError, "split: no sizes: got an empty list, need at least one");
  constexpr size_t kMany = 2 * kMaxRank;
  if (sizes.size() <= kMany) return apply_all(split_op, {&x}, SplitAttrs{at, 0, Ints(sizes)});
  // More sizes than an attribute holds: cut into groups of neighbours first.
  size_t group = (sizes.size() + kMany - 1) / kMany;
  Ints totals;
  for (size_t i = 0; i < sizes.size(); i += group) {
    totals.push_back(0);
    for (int64_t size : sizes.subspan(i, std::min(group, sizes.size() - i)))
      totals[totals.size() - 1] += size;
  }
  TensorList out;
  size_t next = 0;
  for (const Tensor& part : apply_all(split_op, {&x}, SplitAttrs{at, 0, totals})) {
    size_t count = std::min(group, sizes.size() - next);
    for (Tensor& piece : split_sizes(part, sizes.subspan(next, count), at)) out.push_back(std::move(piece));
    next += count;
  }
  return out;
}

TensorList chunk(const Tensor& x, int64_t chunks, int64_t axis) {
  int at = normalize_axis("chunk", axis, x.rank());
  SORUS_CHECK(chunks > 0, ValueError, "chunk: number of chunks is not positive: got {}, need 1 or more",
              chunks);
  return split(x, std::max<int64_t>((x.size(at) + chunks - 1) / chunks, 1), at);
}

TensorList unstack(const Tensor& x, int64_t axis) {
  int at = normalize_axis("unstack", axis, x.rank());
  TensorList out;
  if (x.size(at) == 0) return out;
  for (const Tensor& piece : split(x, 1, at)) out.push_back(squeeze(piece, {at}));
  return out;
}

}  // namespace sorus
