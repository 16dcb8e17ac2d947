"""Composites of rows: special functions of one element, integers' divisors, windows.

Series and recurrences run in float64; results have the operand's dtype, float32 for integers.
Sources of the formulas: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, chapters 6 and 9.
"""

from __future__ import annotations

import math

from .. import _functions as F
from .._core import Tensor
from ._common import _d, _float32

_float64 = _d["float64"]
_SHIFT = 10  # Stirling's series starts at 10, where its terms fall below 1e-17
# B(2k) / (2k (2k - 1)) of log(gamma) and B(2k) / (2k) of its derivative.
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12)
_BESSEL_SPLIT = 14.0  # series below, asymptotic expansion above


def _in_double(x: Tensor, function):
    dtype = x.dtype if x.dtype.is_floating_point else _float32
    return F.cast(function(F.cast(x, _float64)), dtype)


def _horner(x: Tensor, coefficients):
    total = F.full_like(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        total = F.add(F.mul(total, x), c)
    return total


def _lgamma_positive(x):
    product = x
    for i in range(1, _SHIFT):
        product = F.mul(product, F.add(x, i))
    far = F.greater(x, 1e25)  # the product overflows, and the shift changes nothing
    product = F.where(far, 1.0, product)
    z = F.where(far, x, F.add(x, _SHIFT))
    inverse = F.reciprocal(z)
    series = F.mul(inverse, _horner(F.square(inverse), _STIRLING))
    logs = F.sub(F.mul(F.sub(z, 0.5), F.log(z)), z)
    return F.sub(F.add(F.add(logs, 0.5 * math.log(2 * math.pi)), series), F.log(product))


def lgamma(x: Tensor):
    """log(abs(gamma(x))); infinite at 0, -1, -2 ..."""

    def of(x):
        low = F.less(x, 0.5)
        positive = _lgamma_positive(F.where(low, F.sub(1.0, x), x))
        sines = F.abs(F.sin(F.mul(F.sub(x, F.round(x)), math.pi)))
        reflected = F.sub(F.sub(math.log(math.pi), F.log(F.where(low, sines, 1.0))), positive)
        found = F.where(low, reflected, positive)
        return F.where(F.isinf(x), F.abs(x), found)

    return _in_double(x, of)


def digamma(x: Tensor):
    """The derivative of lgamma; NaN at 0, -1, -2 ..."""

    def of(x):
        low = F.less(x, 0.5)
        z = F.where(low, F.sub(1.0, x), x)
        total = F.full_like(z, 0.0)
        for i in range(_SHIFT):
            total = F.add(total, F.reciprocal(F.add(z, i)))
        z = F.add(z, _SHIFT)
        inverse = F.square(F.reciprocal(z))
        positive = F.sub(F.sub(F.log(z), F.div(0.5, z)), F.mul(inverse, _horner(inverse, _DIGAMMA)))
        positive = F.sub(positive, total)
        fraction = F.sub(x, F.round(x))
        safe = F.where(low, fraction, 0.25)
        cotangents = F.div(math.pi, F.tan(F.mul(safe, math.pi)))
        cotangents = F.where(F.equal(safe, 0), math.nan, cotangents)
        return F.where(low, F.sub(positive, cotangents), positive)

    return _in_double(x, of)


def _bessel_series(x: Tensor, sign):
    """sum of (sign x^2 / 4)^k / (k!)^2."""
    coefficients = [1.0]
    for k in range(1, 45):
        coefficients.append(coefficients[-1] * sign / (4.0 * k * k))
    return _horner(F.square(x), coefficients)


def _hankel(count):
    """(1^2 3^2 ... (2k - 1)^2) / (k! 8^k), the coefficients of the expansions of order 0."""
    found = [1.0]
    for k in range(1, count):
        found.append(found[-1] * (2 * k - 1) ** 2 / (8.0 * k))
    return found


def bessel_i0(x: Tensor):
    """The modified Bessel function of the first kind of order 0."""

    def of(x):
        size = F.abs(x)
        far = F.greater(size, _BESSEL_SPLIT)
        near = _bessel_series(F.where(far, 0.0, size), 1)
        large = F.where(far, size, _BESSEL_SPLIT)
        expansion = _horner(F.reciprocal(large), _hankel(20))
        scaled = F.div(expansion, F.sqrt(F.mul(large, 2 * math.pi)))
        return F.where(far, F.mul(F.exp(large), scaled), near)

    return _in_double(x, of)


def bessel_j0(x: Tensor):
    """The Bessel function of the first kind of order 0."""

    def of(x):
        size = F.abs(x)
        far = F.greater(size, _BESSEL_SPLIT)
        near = _bessel_series(F.where(far, 0.0, size), -1)
        large = F.where(far, size, _BESSEL_SPLIT)
        signed = [c * (-1) ** (k // 2) for k, c in enumerate(_hankel(20))]
        inverse = F.reciprocal(large)
        even = _horner(F.square(inverse), signed[0::2])
        odd = F.mul(inverse, _horner(F.square(inverse), signed[1::2]))
        angle = F.sub(large, math.pi / 4)
        waves = F.add(F.mul(F.cos(angle), even), F.mul(F.sin(angle), odd))
        return F.where(far, F.mul(F.sqrt(F.div(2 / math.pi, large)), waves), near)

    return _in_double(x, of)


def gcd(x, other) -> Tensor:
    """Greatest common divisor of integers, never negative where its dtype can hold it."""
    common = F.add(x, other)
    if common.dtype.is_floating_point or common.dtype is _d["bool_"]:
        raise TypeError(f"gcd: dtype is not supported: got {common.dtype}, need an integer")
    zero = F.full_like(common, 0)
    a, b = F.add(x, zero), F.add(other, zero)
    signed = not common.dtype.name.startswith("u")
    if signed:  # the least integer has no positive one: remainders of negative numbers are exact
        a, b = (F.where(F.greater(v, 0), F.neg(v), v) for v in (a, b))
    # Euclid's algorithm takes the longest for neighbours among Fibonacci's numbers.
    for _ in range(math.ceil(8 * common.dtype.itemsize * math.log(2) / math.log((1 + 5**0.5) / 2))):
        done = F.equal(b, 0)
        a, b = F.where(done, a, b), F.where(done, 0, F.fmod(a, F.where(done, 1, b)))
    return F.neg(a) if signed else a


def lcm(x, other):
    """Least common multiple of integers, never negative; zero with zero."""
    divisor = gcd(x, other)
    return F.abs(F.mul(F.floor_div(x, F.where(F.equal(divisor, 0), 1, divisor)), other))


def real_of(x) -> Tensor:
    """The real part: the tensor itself, as dtypes are real."""
    return x


def imag_of(x: Tensor):
    """The imaginary part: zeros, as dtypes are real."""
    return F.full_like(x, 0)


def window(kind, length: int, periodic, dtype, default, *shape):
    """A window of `length` samples by name; periodic ones lack the last of a symmetric one."""
    made = getattr(F, kind + "_window")
    return made(int(length), bool(periodic), *map(float, shape), default if dtype is None else dtype)
