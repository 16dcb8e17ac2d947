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

int64_t checked_sum(std::string_view op, int64_t a, int64_t b) {
  int64_t sum = 0;
  SORUS_CHECK(!__builtin_add_overflow(a, b, &sum), ValueError,
              "{}: an extent is too large: got {} + {}, need less than 2^63", op, a, b);
  return sum;
}

int64_t checked_product(std::string_view op, int64_t a, int64_t b) {
  int64_t product = 0;
  SORUS_CHECK(!__builtin_mul_overflow(a, b, &product), ValueError,
              "{}: an extent is too large: got {} * {}, need less than 2^63", op, a, b);
  return product;
}

int64_t window_span(std::string_view op, int64_t kernel, int64_t dilation) {
  return checked_sum(op, checked_product(op, dilation, kernel - 1), 1);
}

Dim window_count(std::string_view op, Dim in, int64_t low, int64_t high, int64_t kernel, int64_t stride,
                 int64_t dilation, int axis) {
  int64_t span = window_span(op, kernel, dilation);
  int64_t border = checked_sum(op, low, high);
  if (!in.is_symbol())
    SORUS_CHECK(checked_sum(op, in.value(), border) >= span, ShapeError,
                "{}: the window is longer than spatial axis {}: got {} elements with padding ({}, {}), need "
                "at least {}",
                op, axis, in.value(), low, high, span);
  return floor_divide(in + Dim(border - span), Dim(stride)) + Dim(1);
}

void need_window_attributes(std::string_view op, const Ints& stride, const Ints& dilation,
                            const Ints& padding, int n) {
  bool good = stride.size() == n && dilation.size() == n && padding.size() == 2 * n;
  for (int i = 0; good && i < n; ++i) good = stride[i] >= 1 && dilation[i] >= 1;
  SORUS_CHECK(
      good, ValueError,
      "{}: windows are malformed: got stride {}, dilation {} and padding {}, need for {} axes numbers of "
      "at least 1, and two paddings each",
      op, stride, dilation, padding, n);
}

void need_floating(std::string_view op, std::string_view what, DType dtype) {
  SORUS_CHECK(is_floating(dtype), DTypeError, "{}: '{}' has the wrong dtype: got {}, need a floating dtype",
              op, what, dtype);
}

void need_same_dtype(std::string_view op, std::string_view what, DType got, DType need) {
  SORUS_CHECK(got == need, DTypeError, "{}: dtypes differ: got {} for '{}', need {}", op, got, what, need);
}

}  // namespace sorus::detail
