#pragma once

#include <algorithm>
#include <tuple>
#include <type_traits>

#include "sorus/dispatch/attributes.h"
#include "sorus/dispatch/op_def.h"

/// Attributes of the ops of this folder, and the small arithmetic on them that inference and kernels share.
/// The only header here that kernels include. Axes are counted from the front.
namespace sorus {

/// reshape, broadcast_to: the extents wanted; reshape takes one -1.
struct ShapeAttrs {
  Ints shape;
  static constexpr auto fields() { return std::tuple{field("shape", &ShapeAttrs::shape)}; }
};

/// transpose, expand_dims, squeeze, flip.
struct AxesAttrs {
  Ints axes;
  static constexpr auto fields() { return std::tuple{field("axes", &AxesAttrs::axes)}; }
};

/// concat.
struct AxisAttrs {
  int64_t axis = 0;
  static constexpr auto fields() { return std::tuple{field("axis", &AxisAttrs::axis)}; }
};

/// split: pieces of the extents `sizes`, or, when there are none, of extent `piece` but for a shorter last
/// one.
struct SplitAttrs {
  int64_t axis = 0;
  int64_t piece = 0;
  Ints sizes;
  static constexpr auto fields() {
    return std::tuple{field("axis", &SplitAttrs::axis), field("piece", &SplitAttrs::piece),
                      field("sizes", &SplitAttrs::sizes)};
  }
};

/// slice: element i of an axis of the result is element begin + i * step, i < size.
struct SliceAttrs {
  Ints begins;
  Ints sizes;
  Ints steps;
  static constexpr auto fields() {
    return std::tuple{field("begins", &SliceAttrs::begins), field("sizes", &SliceAttrs::sizes),
                      field("steps", &SliceAttrs::steps)};
  }
};

/// slice_update: as SliceAttrs, the sizes being those of the value.
struct SliceUpdateAttrs {
  Ints begins;
  Ints steps;
  static constexpr auto fields() {
    return std::tuple{field("begins", &SliceUpdateAttrs::begins), field("steps", &SliceUpdateAttrs::steps)};
  }
};

/// slice_backward: the slice, and the extents of what it was cut from.
struct SliceBackwardAttrs {
  Ints begins;
  Ints steps;
  Ints shape;
  static constexpr auto fields() {
    return std::tuple{field("begins", &SliceBackwardAttrs::begins),
                      field("steps", &SliceBackwardAttrs::steps), field("shape", &SliceBackwardAttrs::shape)};
  }
};

/// diagonal: elements whose index on axis2 is their index on axis1 plus the offset.
struct DiagonalAttrs {
  int64_t offset = 0;
  int64_t axis1 = 0;
  int64_t axis2 = 1;
  static constexpr auto fields() {
    return std::tuple{field("offset", &DiagonalAttrs::offset), field("axis1", &DiagonalAttrs::axis1),
                      field("axis2", &DiagonalAttrs::axis2)};
  }
};

/// diagonal_backward: the diagonal, and the extents of what it was taken from.
struct DiagonalBackwardAttrs {
  int64_t offset = 0;
  int64_t axis1 = 0;
  int64_t axis2 = 1;
  Ints shape;
  static constexpr auto fields() {
    return std::tuple{
        field("offset", &DiagonalBackwardAttrs::offset), field("axis1", &DiagonalBackwardAttrs::axis1),
        field("axis2", &DiagonalBackwardAttrs::axis2), field("shape", &DiagonalBackwardAttrs::shape)};
  }
};

/// pad: elements added before and after each axis, negative to remove some, and the number they hold.
struct PadAttrs {
  Ints before;
  Ints after;
  double value = 0;
  static constexpr auto fields() {
    return std::tuple{field("before", &PadAttrs::before), field("after", &PadAttrs::after),
                      field("value", &PadAttrs::value)};
  }
};

/// triangle: keeps the elements with column - row <= diagonal (lower) or >= diagonal, zeroes the others.
struct TriangleAttrs {
  bool lower = true;
  int64_t diagonal = 0;
  static constexpr auto fields() {
    return std::tuple{field("lower", &TriangleAttrs::lower), field("diagonal", &TriangleAttrs::diagonal)};
  }
};

/// full: element type, extents and the number.
struct FullAttrs {
  DType dtype = DType::kFloat32;
  Ints shape;
  double value = 0;
  static constexpr auto fields() {
    return std::tuple{field("dtype", &FullAttrs::dtype), field("shape", &FullAttrs::shape),
                      field("value", &FullAttrs::value)};
  }
};

/// arange: start, start + step, ... of the given count.
struct ArangeAttrs {
  DType dtype = DType::kInt64;
  double start = 0;
  double step = 1;
  int64_t count = 0;
  static constexpr auto fields() {
    return std::tuple{field("dtype", &ArangeAttrs::dtype), field("start", &ArangeAttrs::start),
                      field("step", &ArangeAttrs::step), field("count", &ArangeAttrs::count)};
  }
};

/// The number as an element of type T: floats rounded, integers truncated and wrapped.
template <class T>
[[nodiscard]] T number_as(double value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return static_cast<T>(static_cast<int64_t>(value));
  else
    return static_cast<T>(static_cast<ComputeType<T>>(value));
}

/// Where the diagonal of a tensor with these strides lies: the other axes in order, then the diagonal.
[[nodiscard]] inline View diagonal_view(const Strides& strides, int rank, const DiagonalAttrs& a) {
  View v;
  int to = 0;
  for (int i = 0; i < rank; ++i)
    if (i != a.axis1 && i != a.axis2) v.strides[to++] = strides[i];
  int64_t step1 = strides[static_cast<int>(a.axis1)];
  int64_t step2 = strides[static_cast<int>(a.axis2)];
  v.strides[to] = step1 + step2;
  v.offset = a.offset >= 0 ? a.offset * step2 : -a.offset * step1;
  return v;
}

}  // namespace sorus
