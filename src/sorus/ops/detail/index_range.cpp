#include "sorus/ops/detail/index_range.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace sorus::detail {

int64_t offset_of(const Array& a, int64_t number) {
  int64_t offset = 0;
  for (int axis = a.rank(); axis-- > 0; number /= a.size(axis))
    offset += number % a.size(axis) * a.strides[axis];
  return offset;
}

namespace {

/// Limits in the type of the indices: both included.
template <class T>
struct Range {
  T low;
  T last;
  T ignored;
  Range(int64_t from, int64_t to, std::optional<int64_t> except)
      : low(static_cast<T>(std::max<int64_t>(from, std::numeric_limits<T>::min()))),
        last(static_cast<T>(std::min<int64_t>(to - 1, std::numeric_limits<T>::max()))),
        // One that is in range changes nothing.
        ignored(except && *except == static_cast<T>(*except) ? static_cast<T>(*except) : low) {}
  [[nodiscard]] bool takes(T index) const { return (index >= low && index <= last) || index == ignored; }
};

/// True when all of a run are in range; false may be a false alarm. Only subtractions and bits, which
/// vectorize for every width: the sign bit of a difference says on which side an index is.
template <class T>
bool surely_inside(const T* indices, int64_t n, const Range<T>& range) {
  using U = std::make_unsigned_t<T>;
  U outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    U index = static_cast<U>(indices[i]);
    U other = index ^ static_cast<U>(range.ignored);
    outside |= ((index - static_cast<U>(range.low)) | (static_cast<U>(range.last) - index)) &
               (other | (U{0} - other));
  }
  return outside >> (sizeof(T) * 8 - 1) == 0;
}

template <class T>
std::optional<Outlier> find(const Array& indices, const Range<T>& range) {
  const T* p = indices.as<T>();
  int64_t n = indices.numel();
  bool dense = is_contiguous(*indices.shape, indices.strides);
  if (dense && range.low <= range.last && surely_inside(p, n, range)) return std::nullopt;
  // Rows of the last axis, so that strided indices cost little more.
  int64_t row = indices.rank() > 0 ? indices.size(indices.rank() - 1) : 1;
  int64_t step = indices.rank() > 0 ? indices.strides[indices.rank() - 1] : 1;
  bool empty = range.low > range.last;
  for (int64_t begin = 0; begin < n; begin += row) {
    const T* at = p + (dense ? begin : offset_of(indices, begin));
    for (int64_t i = 0; i < row; ++i)
      if (T index = at[i * step]; empty || !range.takes(index)) return Outlier{begin + i, index};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Outlier> find_outside(const Array& indices, int64_t low, int64_t high,
                                    std::optional<int64_t> ignored) {
  if (indices.numel() == 0) return std::nullopt;
  if (indices.dtype == DType::kInt32) return find<int32_t>(indices, {low, high, ignored});
  return find<int64_t>(indices, {low, high, ignored});
}

namespace {

[[noreturn]] void refuse(std::string_view op, int axis, int64_t index, int64_t extent) {
  raise<IndexError>("{}: index out of range on axis {}: got {}, need {} <= index < {}", op, axis, index,
                    -extent, extent);
}

}  // namespace

void check_axis_indices(std::string_view op, const Array& indices, int axis, int64_t extent) {
  if (auto wrong = find_outside(indices, -extent, extent)) refuse(op, axis, wrong->index, extent);
}

void check_coordinates(std::string_view op, const Array& indices, const Shape& shape) {
  int last = indices.rank() - 1;
  Shape points(indices.shape->dims().first(static_cast<size_t>(last)));
  Array column{nullptr, indices.dtype, &points, {}};
  for (int i = 0; i < last; ++i) column.strides[i] = indices.strides[i];
  std::optional<Outlier> first;
  int on_axis = 0;
  for (int axis = 0; axis < static_cast<int>(indices.size(last)); ++axis) {
    column.data =
        indices.data + axis * indices.strides[last] * static_cast<int64_t>(dtype_size(indices.dtype));
    auto wrong = find_outside(column, -shape.size(axis), shape.size(axis));
    if (!wrong || (first && first->position <= wrong->position)) continue;
    first = wrong;
    on_axis = axis;
  }
  if (first) refuse(op, on_axis, first->index, shape.size(on_axis));
}

}  // namespace sorus::detail
