"""Composites of rows: functions that few programs use."""

from __future__ import annotations

import math

from .. import _functions as F
from .._core import Tensor
from ._common import _as_tensor, _d, _float32, _int32, _int64, _is_int, _numbers
from .matrices import qr, solved
from .random import randperm


def angle(x: Tensor) -> Tensor:
    """The angle of real numbers: pi below zero."""
    x = x if x.dtype.is_floating_point else F.cast(x, _float32)
    return F.where(F.isnan(x), x, F.where(F.less(x, 0.0), Tensor(math.pi, x.dtype), Tensor(0.0, x.dtype)))


def dist(x: Tensor, other: Tensor, p: float) -> Tensor:
    """Norm of order p of the difference."""
    apart = F.sub(x, other)
    return F.norm(apart if apart.dtype.is_floating_point else F.cast(apart, _float32), float(p))


def intopk(x: Tensor, target: Tensor, k: int) -> Tensor:
    """Whether fewer than k elements of each row of (N, C) are above that of the target class."""
    if x.ndim != 2 or target.shape != x.shape[:1]:
        raise ValueError(f"intopk: shapes do not fit: got {x.shape} and {target.shape}, need (N, C) and (N,)")
    chosen = F.gather_elements(x, F.expand_dims(target, 1), 1)
    above = F.sum(F.cast(F.greater(x, chosen), _int32), 1)
    return F.logical_and(F.less(above, k), F.reshape(F.isfinite(chosen), -1))


def is_complex(_x: Tensor) -> bool:
    """False: numbers are real."""
    return False


def is_signed(x: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return x.dtype.is_floating_point or x.dtype in (_d["int8"], _d["int16"], _int32, _int64)


def isreal(x: Tensor) -> Tensor:
    """True everywhere: numbers are real."""
    return F.full(x.shape, True, _d["bool_"])


def laplace(shape, mean, scale, seed) -> Tensor:
    """Laplace distributed around a mean."""
    u = F.sub(F.random_uniform(tuple(_numbers(shape)), _float32, seed), 0.5)
    away = F.mul(F.sign(u), F.log1p(F.mul(F.abs(u), -2.0)))
    return F.sub(mean, F.mul(scale, away))


def ldexp(x, other) -> Tensor:
    """x times 2 to the power of other."""
    x, other = _as_tensor(x), _as_tensor(other)
    x = x if x.dtype.is_floating_point else F.cast(x, _float32)
    return F.mul(x, F.cast(F.exp2(F.cast(other, _d["float64"])), x.dtype))


def matrix_band_part(x: Tensor, lower, upper) -> Tensor:
    """Matrices with zeros outside of a band of so many diagonals; negative numbers keep all."""
    if x.ndim < 2:
        raise ValueError(f"matrix_band_part: too few axes: got shape {x.shape}, need 2 or more")
    lower, upper = int(lower), int(upper)
    x = x if lower < 0 else F.triu(x, -lower)
    return x if upper < 0 else F.tril(x, upper)


def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint) -> Tensor:
    """x with matrix x = rhs."""
    matrix = F.swapaxes(matrix, -1, -2) if adjoint else matrix
    return solved(matrix, rhs)


def padding(x: Tensor, size: int) -> Tensor:
    """The last axis, of extent 1, made longer with zeros."""
    if x.ndim < 2 or x.shape[-1] != 1:
        raise ValueError(f"padding: last axis does not fit: got shape {x.shape}, need an extent of 1")
    if size < 1:
        raise ValueError(f"padding: 'pad_dim_size' is out of range: got {size}, need 1 or more")
    return F.pad(x, (0,) * x.ndim, (0,) * (x.ndim - 1) + (size - 1,))


def quantile(x: Tensor, q, axis, keepdims, ignore_nan) -> Tensor:
    """Quantiles by linear interpolation; an axis for several q comes first."""
    if not x.dtype.is_floating_point:
        raise TypeError(f"quantile: 'input' has the wrong dtype: got {x.dtype}, need floats")
    several = isinstance(q, Tensor) and q.ndim > 0
    shares = [float(v) for v in (q.asnumpy().reshape(-1) if isinstance(q, Tensor) else [q])]
    if any(not 0 <= v <= 1 for v in shares):
        raise ValueError(f"quantile: 'q' is out of range: got {shares}, need 0 to 1")
    flat = axis is None
    values = F.reshape(x, -1) if flat else F.movedim(x, (axis,), (-1,))
    values = F.sort(values, -1)[0]
    there = F.sum(F.cast(F.logical_not(F.isnan(values)), _int64), -1, True)  # NaN sorts last
    extent = values.shape[-1]
    found = []
    for share in shares:
        place = F.mul(F.cast(F.maximum(F.sub(there, 1), 0), _d["float64"]), share)
        below = F.floor(place)
        low, high = (F.cast(F.clip(v, 0, extent - 1), _int64) for v in (below, F.ceil(place)))
        a, b = F.gather_elements(values, low, -1), F.gather_elements(values, high, -1)
        made = F.lerp(a, b, F.cast(F.sub(place, below), x.dtype))
        if not ignore_nan:
            made = F.where(F.equal(there, extent), made, Tensor(float("nan"), x.dtype))
        if flat:
            made = F.reshape(made, (1,) * x.ndim if keepdims else ())
        else:
            made = F.movedim(made, (-1,), (axis,)) if keepdims else F.squeeze(made, (-1,))
        found.append(made)
    return F.stack(found, 0) if several else found[0]


def qr_some(x: Tensor, some):
    """qr with as few columns as needed, or with all."""
    return qr(x, "reduced" if some else "complete")


def sequence_mask_by(lengths: Tensor, length) -> Tensor:
    """True at the first places of each row, of a length given or the greatest."""
    length = int(F.amax(lengths)) if length is None else int(length)
    return F.sequence_mask(lengths, length)


def shuffled(x: Tensor, seed) -> Tensor:
    """The parts along the first axis in random order."""
    return F.gather(x, randperm(x.shape[0], 0 if seed is None else seed, _int64), 0) if x.ndim else x


def sum_to_any(x: Tensor, size) -> Tensor:
    """Sums that give a shape which broadcasts to that of x."""
    shape = tuple(size[0]) if len(size) == 1 and not _is_int(size[0]) else tuple(size)
    return F.sum_to(x, shape)


def swiglu(x: Tensor, axis: int) -> Tensor:
    """silu of the first half along an axis, times the second."""
    if not -x.ndim <= axis < x.ndim or x.shape[axis] % 2:
        raise ValueError(f"swiglu: axis does not fit: got shape {x.shape} along {axis}, need an even extent")
    first, second = F.chunk(x, 2, axis)
    return F.mul(F.silu(first), second)


def uniform_like(x: Tensor, low: float, high: float, seed=None) -> Tensor:
    """Uniform numbers in the shape and dtype of x."""
    drawn = F.random_uniform(x.shape, _float32, seed)
    return F.cast(F.add(F.mul(drawn, float(high) - float(low)), float(low)), x.dtype)
