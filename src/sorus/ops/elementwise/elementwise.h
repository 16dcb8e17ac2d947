#pragma once

#include "sorus/core/scalar.h"
#include "sorus/core/tensor.h"

/// Elementwise ops. Binary ones broadcast as NumPy does and promote dtypes as
/// docs/reference/type_promotion.md says; a Scalar promotes weakly. Results are rounded to the output dtype
/// once; 16-bit floats compute in float32.
namespace sorus {

/// A rank-0 tensor of the dtype that `s` has beside a tensor of dtype `beside`. Always a fresh value.
[[nodiscard]] SORUS_API Tensor scalar_beside(Scalar s, DType beside);

[[nodiscard]] SORUS_API Tensor add(const Tensor& a, const Tensor& b);  ///< a + b
[[nodiscard]] SORUS_API Tensor sub(const Tensor& a, const Tensor& b);  ///< a - b
[[nodiscard]] SORUS_API Tensor mul(const Tensor& a, const Tensor& b);  ///< a * b
/// True division: integers and bools become float32.
[[nodiscard]] SORUS_API Tensor div(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor floor_div(const Tensor& a, const Tensor& b);  ///< a / b rounded down
/// Remainder with the sign of the divisor.
[[nodiscard]] SORUS_API Tensor mod(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor pow(const Tensor& a, const Tensor& b);      ///< a^b
[[nodiscard]] SORUS_API Tensor maximum(const Tensor& a, const Tensor& b);  ///< the greater; NaN if either is
[[nodiscard]] SORUS_API Tensor minimum(const Tensor& a, const Tensor& b);  ///< the lesser; NaN if either is
/// Comparisons: bool; false beside NaN, but for not_equal.
[[nodiscard]] SORUS_API Tensor equal(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor not_equal(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor less(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor less_equal(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor greater(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor greater_equal(const Tensor& a, const Tensor& b);

[[nodiscard]] SORUS_API Tensor neg(const Tensor& x);      ///< -x
[[nodiscard]] SORUS_API Tensor abs(const Tensor& x);      ///< |x|; the gradient at 0 is 0
[[nodiscard]] SORUS_API Tensor exp(const Tensor& x);      ///< e^x; integers become float32
[[nodiscard]] SORUS_API Tensor log(const Tensor& x);      ///< natural logarithm; NaN below 0
[[nodiscard]] SORUS_API Tensor sqrt(const Tensor& x);     ///< square root; NaN below 0
[[nodiscard]] SORUS_API Tensor square(const Tensor& x);   ///< x * x
[[nodiscard]] SORUS_API Tensor tanh(const Tensor& x);     ///< hyperbolic tangent
[[nodiscard]] SORUS_API Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + e^-x)
[[nodiscard]] SORUS_API Tensor relu(const Tensor& x);     ///< max(x, 0); the gradient at 0 is 0

/// condition ? a : b, elementwise; `condition` is bool.
[[nodiscard]] SORUS_API Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
/// Converts the element type. Float to integer truncates; the same dtype returns `x` itself.
[[nodiscard]] SORUS_API Tensor cast(const Tensor& x, DType dtype);
/// The same value, through which no gradient flows.
[[nodiscard]] SORUS_API Tensor stop_gradient(const Tensor& x);
/// Arithmetic with the functions above; a number promotes weakly.
[[nodiscard]] inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
[[nodiscard]] inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
[[nodiscard]] inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
[[nodiscard]] inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
[[nodiscard]] inline Tensor operator-(const Tensor& a) { return neg(a); }
[[nodiscard]] inline Tensor operator+(const Tensor& a, Scalar b) {
  return add(a, scalar_beside(b, a.dtype()));
}
[[nodiscard]] inline Tensor operator-(const Tensor& a, Scalar b) {
  return sub(a, scalar_beside(b, a.dtype()));
}
[[nodiscard]] inline Tensor operator*(const Tensor& a, Scalar b) {
  return mul(a, scalar_beside(b, a.dtype()));
}
[[nodiscard]] inline Tensor operator/(const Tensor& a, Scalar b) {
  return div(a, scalar_beside(b, a.dtype()));
}
[[nodiscard]] inline Tensor operator+(Scalar a, const Tensor& b) {
  return add(scalar_beside(a, b.dtype()), b);
}
[[nodiscard]] inline Tensor operator-(Scalar a, const Tensor& b) {
  return sub(scalar_beside(a, b.dtype()), b);
}
[[nodiscard]] inline Tensor operator*(Scalar a, const Tensor& b) {
  return mul(scalar_beside(a, b.dtype()), b);
}
[[nodiscard]] inline Tensor operator/(Scalar a, const Tensor& b) {
  return div(scalar_beside(a, b.dtype()), b);
}

}  // namespace sorus
