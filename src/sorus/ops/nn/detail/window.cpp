#include "sorus/ops/nn/detail/window.h"

namespace sorus::detail {

Ints per_axis(std::string_view op, std::string_view what, const Ints& list, int n, int64_t fallback,
              int64_t least) {
  Ints out = list.empty() ? Ints::filled(n, fallback) : list.size() == 1 ? Ints::filled(n, list[0]) : list;
  SORUS_CHECK(out.size() == n, ValueError, "{}: '{}' has the wrong length: got {}, need 1 or {} numbers", op,
              what, list, n);
  for (int64_t v : out)
    SORUS_CHECK(v >= least, ValueError, "{}: '{}' is too small: got {}, need numbers of at least {}", op,
                what, list, least);
  return out;
}

Ints low_high(std::string_view op, const Ints& padding, int n) {
  Ints out;
  if (padding.size() == 2 * n && n > 0) {
    out = padding;
  } else {
    SORUS_CHECK(padding.size() <= 1 || padding.size() == n, ValueError,
                "{}: 'padding' has the wrong length: got {}, need 1, {} or {} numbers", op, padding, n,
                2 * n);
    for (int i = 0; i < n; ++i) {
      int64_t p = padding.empty() ? 0 : padding.size() == 1 ? padding[0] : padding[i];
      out.push_back(p);
      out.push_back(p);
    }
  }
  for (int64_t v : out)
    SORUS_CHECK(v >= 0, ValueError, "{}: 'padding' is negative: got {}, need numbers of at least 0", op,
                padding);
  return out;
}

Dim window_count(std::string_view op, Dim in, int64_t low, int64_t high, int64_t kernel, int64_t stride,
                 int64_t dilation, int axis) {
  int64_t span = dilation * (kernel - 1) + 1;
  if (!in.is_symbol())
    SORUS_CHECK(in.value() + low + high >= span, ShapeError,
                "{}: the window is longer than spatial axis {}: got {} elements with padding ({}, {}), need "
                "at least {}",
                op, axis, in.value(), low, high, span);
  return floor_divide(in + Dim(low + high - span), Dim(stride)) + Dim(1);
}

void need_floating(std::string_view op, std::string_view what, DType dtype) {
  SORUS_CHECK(is_floating(dtype), DTypeError, "{}: '{}' has the wrong dtype: got {}, need a floating dtype",
              op, what, dtype);
}

void need_same_dtype(std::string_view op, std::string_view what, DType got, DType need) {
  SORUS_CHECK(got == need, DTypeError, "{}: dtypes differ: got {} for '{}', need {}", op, got, what, need);
}

}  // namespace sorus::detail
