#pragma once

#include "sorus/core/tensor.h"

/// Mathematical functions, elementwise. Those of one operand take integers and bools as float32; those of
/// several broadcast and promote. Special values are those of IEEE 754; errors are at most 2 units in the
/// last place unless said otherwise. See elementwise.h for the arithmetic operators, exp, log and sqrt.
namespace sorus {

[[nodiscard]] SORUS_API Tensor exp2(const Tensor& x);   ///< 2^x
[[nodiscard]] SORUS_API Tensor expm1(const Tensor& x);  ///< e^x - 1, accurate near 0
[[nodiscard]] SORUS_API Tensor log2(const Tensor& x);   ///< to base 2; NaN below 0
[[nodiscard]] SORUS_API Tensor log10(const Tensor& x);  ///< to base 10; NaN below 0
[[nodiscard]] SORUS_API Tensor log1p(const Tensor& x);  ///< log(1 + x), accurate near 0; NaN below -1
/// 1 / sqrt(x).
[[nodiscard]] SORUS_API Tensor rsqrt(const Tensor& x);
[[nodiscard]] SORUS_API Tensor cbrt(const Tensor& x);  ///< cube root, of negative numbers too
/// 1 / x.
[[nodiscard]] SORUS_API Tensor reciprocal(const Tensor& x);

[[nodiscard]] SORUS_API Tensor sin(const Tensor& x);    ///< of radians; NaN for infinities
[[nodiscard]] SORUS_API Tensor cos(const Tensor& x);    ///< of radians; NaN for infinities
[[nodiscard]] SORUS_API Tensor tan(const Tensor& x);    ///< of radians; NaN for infinities
[[nodiscard]] SORUS_API Tensor asin(const Tensor& x);   ///< in [-pi/2, pi/2]; NaN outside [-1, 1]
[[nodiscard]] SORUS_API Tensor acos(const Tensor& x);   ///< in [0, pi]; NaN outside [-1, 1]
[[nodiscard]] SORUS_API Tensor atan(const Tensor& x);   ///< in [-pi/2, pi/2]
[[nodiscard]] SORUS_API Tensor sinh(const Tensor& x);   ///< hyperbolic sine
[[nodiscard]] SORUS_API Tensor cosh(const Tensor& x);   ///< hyperbolic cosine
[[nodiscard]] SORUS_API Tensor asinh(const Tensor& x);  ///< inverse of sinh
[[nodiscard]] SORUS_API Tensor acosh(const Tensor& x);  ///< inverse of cosh; NaN below 1
[[nodiscard]] SORUS_API Tensor atanh(const Tensor& x);  ///< inverse of tanh; NaN outside [-1, 1]
[[nodiscard]] SORUS_API Tensor erf(const Tensor& x);    ///< error function
[[nodiscard]] SORUS_API Tensor erfc(const Tensor& x);   ///< 1 - erf(x), accurate for large x
/// Inverse of erf on [-1, 1].
[[nodiscard]] SORUS_API Tensor erfinv(const Tensor& x);

/// To an integral value; integers and bools come back as they are. round goes to the nearest even.
[[nodiscard]] SORUS_API Tensor floor(const Tensor& x);
[[nodiscard]] SORUS_API Tensor ceil(const Tensor& x);
[[nodiscard]] SORUS_API Tensor trunc(const Tensor& x);
[[nodiscard]] SORUS_API Tensor round(const Tensor& x);
/// -1, 0 or 1 in the dtype of x; NaN stays NaN.
[[nodiscard]] SORUS_API Tensor sign(const Tensor& x);

/// Remainder with the sign of the dividend.
[[nodiscard]] SORUS_API Tensor fmod(const Tensor& a, const Tensor& b);
/// Of a number and a NaN the number.
[[nodiscard]] SORUS_API Tensor fmax(const Tensor& a, const Tensor& b);
[[nodiscard]] SORUS_API Tensor fmin(const Tensor& a, const Tensor& b);
/// The number of the dtype (float32 or float64) next to a in the direction of b; b where they are equal.
/// Without a gradient.
[[nodiscard]] SORUS_API Tensor nextafter(const Tensor& a, const Tensor& b);
/// Angle of the point (x, y), in (-pi, pi].
[[nodiscard]] SORUS_API Tensor atan2(const Tensor& y, const Tensor& x);
/// sqrt(a^2 + b^2) without overflow.
[[nodiscard]] SORUS_API Tensor hypot(const Tensor& a, const Tensor& b);
/// log(exp(a) + exp(b)).
[[nodiscard]] SORUS_API Tensor logaddexp(const Tensor& a, const Tensor& b);
/// log2(2^a + 2^b).
[[nodiscard]] SORUS_API Tensor logaddexp2(const Tensor& a, const Tensor& b);
/// x * log(y), and 0 where x is 0 unless y is NaN.
[[nodiscard]] SORUS_API Tensor xlogy(const Tensor& x, const Tensor& y);
/// start + weight * (end - start).
[[nodiscard]] SORUS_API Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight);
/// x + value * a * b.
[[nodiscard]] SORUS_API Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1);
/// x + value * a / b.
[[nodiscard]] SORUS_API Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1);
/// x within [low, high]; high where the bounds cross. NaN stays NaN. Integers keep their dtype when the
/// bounds are integers or infinite; bools become int64 then.
[[nodiscard]] SORUS_API Tensor clip(const Tensor& x, double low, double high);
/// The same with bounds that broadcast; NaN in any operand gives NaN.
[[nodiscard]] SORUS_API Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high);

}  // namespace sorus
