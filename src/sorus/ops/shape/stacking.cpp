#include "sorus/ops/shape/stacking.h"

#include <algorithm>
#include <vector>

#include "sorus/base/told_as.h"
#include "sorus/ops/elementwise/elementwise.h"
#include "sorus/ops/index/index_ops.h"
#include "sorus/ops/shape/shape_ops.h"

namespace sorus {
namespace {

/// concat of f(t) for every tensor.
template <class F>
Tensor concat_each(std::string_view op, std::span<const Tensor> tensors, int64_t axis, F f) {
  SORUS_CHECK(!tensors.empty(), ValueError, "{}: no tensors: got an empty list, need at least one", op);
  TensorList parts;
  for (const Tensor& t : tensors) parts.push_back(f(t));
  return concat({parts.data(), parts.size()}, axis);
}

/// Places of a vector's elements in all choices of `count` of them, one choice after the other.
void choose(int64_t n, int64_t count, bool replacement, int64_t from, std::vector<int64_t>& prefix,
            std::vector<int64_t>& out) {
  if (static_cast<int64_t>(prefix.size()) == count) {
    out.insert(out.end(), prefix.begin(), prefix.end());
    return;
  }
  for (int64_t i = from; i < n; ++i) {
    prefix.push_back(i);
    choose(n, count, replacement, replacement ? i : i + 1, prefix, out);
    prefix.pop_back();
  }
}

Tensor triangle_indices(std::string_view op, int64_t rows, int64_t columns, DType dtype, auto cut) {
  SORUS_CHECK(rows >= 0 && columns >= 0, ValueError,
              "{}: an extent is negative: got ({}, {}), need 0 or more", op, rows, columns);
  Tensor places = nonzero(cut(full({DType::kBool, {}, {rows, columns}}, 1)));
  return cast(contiguous(swap_last(places)), dtype);
}

}  // namespace

Tensor atleast_1d(const Tensor& x) { return x.rank() >= 1 ? x : reshape(x, {1}); }
Tensor atleast_2d(const Tensor& x) { return x.rank() >= 2 ? x : expand_dims(atleast_1d(x), 0); }
Tensor atleast_3d(const Tensor& x) { return x.rank() >= 3 ? x : expand_dims(atleast_2d(x), 2); }

Tensor hstack(std::span<const Tensor> tensors) {
  const ToldAs told("hstack");
  bool vectors = !tensors.empty() && tensors[0].rank() <= 1;
  return concat_each("hstack", tensors, vectors ? 0 : 1, atleast_1d);
}
Tensor vstack(std::span<const Tensor> tensors) {
  const ToldAs told("vstack");
  return concat_each("vstack", tensors, 0, atleast_2d);
}
Tensor dstack(std::span<const Tensor> tensors) {
  const ToldAs told("dstack");
  return concat_each("dstack", tensors, 2, atleast_3d);
}
Tensor column_stack(std::span<const Tensor> tensors) {
  const ToldAs told("column_stack");
  return concat_each("column_stack", tensors, 1,
                     [](const Tensor& t) { return t.rank() >= 2 ? t : expand_dims(atleast_1d(t), 1); });
}

Tensor block_diag(std::span<const Tensor> tensors) {
  int64_t columns = 0;
  for (const Tensor& t : tensors) {
    SORUS_CHECK(t.rank() <= 2, ShapeError, "block_diag: wrong rank: got shape {}, need at most 2", t.shape());
    columns += atleast_2d(t).size(1);
  }
  int64_t at = 0;
  return concat_each("block_diag", tensors, 0, [&](const Tensor& t) {
    Tensor block = atleast_2d(t);
    Tensor row = pad(block, {0, at}, {0, columns - at - block.size(1)});
    at += block.size(1);
    return row;
  });
}

TensorList tensor_split(const Tensor& x, int64_t sections, int64_t axis) {
  int at = normalize_axis("tensor_split", axis, x.rank());
  constexpr int64_t kMostPieces = 65536;  // more than the elements there are only gives empty ones
  int64_t most = std::max(x.size(at), kMostPieces);
  SORUS_CHECK(sections > 0 && sections <= most, ValueError,
              "tensor_split: number of pieces is out of range: got {}, need 1 to {}", sections, most);
  std::vector<int64_t> sizes(static_cast<size_t>(sections), x.size(at) / sections);
  std::fill_n(sizes.begin(), x.size(at) % sections, x.size(at) / sections + 1);
  return split_sizes(x, sizes, at);
}

TensorList tensor_split_at(const Tensor& x, std::span<const int64_t> positions, int64_t axis) {
  int at = normalize_axis("tensor_split", axis, x.rank());
  int64_t extent = x.size(at);
  TensorList out;
  int64_t begin = 0;
  auto add = [&](int64_t end) {
    SliceRange r = resolve_slice(begin, end, 1, extent);
    out.push_back(narrow(x, at, r.begin, r.size));
    begin = end;
  };
  for (int64_t position : positions) add(position);
  add(extent);
  return out;
}

Tensor rot90(const Tensor& x, int64_t times, int64_t axis0, int64_t axis1) {
  int a = normalize_axis("rot90", axis0, x.rank());
  int b = normalize_axis("rot90", axis1, x.rank());
  SORUS_CHECK(a != b, ValueError, "rot90: the axes are the same: got {} twice, need two axes", a);
  switch ((times % 4 + 4) % 4) {
    case 1:
      return swapaxes(flip(x, {b}), a, b);
    case 2:
      return flip(x, {a, b});
    case 3:
      return flip(swapaxes(x, a, b), {b});
    default:
      return x;
  }
}

Tensor unfold_axis(const Tensor& x, int64_t axis, int64_t size, int64_t step) {
  int at = normalize_axis("unfold", axis, x.rank());
  SORUS_CHECK(
      size > 0 && size <= x.size(at) && step > 0, ValueError,
      "unfold: windows do not fit: got size {} and step {} for extent {}, need 0 < size <= extent and a "
      "positive step",
      size, step, x.size(at));
  int64_t windows = (x.size(at) - size) / step + 1;
  Tensor first =
      reshape(arange(0, static_cast<double>(windows * step), static_cast<double>(step)), {windows, 1});
  Tensor within = arange(0, static_cast<double>(size), 1);
  return movedim(gather(x, add(first, within), at), {at + 1}, {-1});
}

Tensor tril_indices(int64_t rows, int64_t columns, int64_t diagonal, DType dtype) {
  return triangle_indices("tril_indices", rows, columns, dtype,
                          [=](const Tensor& x) { return tril(x, diagonal); });
}

Tensor triu_indices(int64_t rows, int64_t columns, int64_t diagonal, DType dtype) {
  return triangle_indices("triu_indices", rows, columns, dtype,
                          [=](const Tensor& x) { return triu(x, diagonal); });
}

Tensor cartesian_prod(std::span<const Tensor> vectors) {
  const ToldAs told("cartesian_prod");
  for (const Tensor& v : vectors)
    SORUS_CHECK(v.rank() == 1, ShapeError, "cartesian_prod: wrong rank: got shape {}, need rank 1",
                v.shape());
  if (vectors.size() == 1) return vectors[0];
  TensorList columns = meshgrid(vectors);
  for (Tensor& c : columns) c = reshape(c, {-1});
  return stack({columns.data(), columns.size()}, 1);
}

Tensor combinations(const Tensor& vector, int64_t count, bool replacement) {
  SORUS_CHECK(vector.rank() == 1, ShapeError, "combinations: wrong rank: got shape {}, need rank 1",
              vector.shape());
  SORUS_CHECK(count >= 0, ValueError, "combinations: count is negative: got {}, need 0 or more", count);
  if (count == 0) return reshape(narrow(vector, 0, 0, 0), {0, 0});
  std::vector<int64_t> prefix;
  std::vector<int64_t> places;
  choose(vector.size(0), count, replacement, 0, prefix, places);
  auto rows = static_cast<int64_t>(places.size()) / count;
  return gather(vector, Tensor(std::span<const int64_t>(places), Shape{rows, count}), 0);
}

}  // namespace sorus
