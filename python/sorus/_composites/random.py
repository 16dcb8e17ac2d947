"""Composites of rows: random."""

from __future__ import annotations

from .. import _functions as F
from .._core import Tensor
from ..common.generator import Generator
from ._common import _as_tensor, _d, _float32, _int32, _int64, _is_int, _numbers


def stream_of(generator):
    """The number of a Generator's stream, as functions take it in place of a seed."""
    if generator is None:
        return None
    if not isinstance(generator, Generator):
        raise TypeError(f"'generator' has the wrong type: got {type(generator).__name__}, need a Generator")
    return generator._number


def rand_by(size, dtype, seed):
    """Uniform on [0, 1)."""
    size = (size,) if _is_int(size) else tuple(size)
    dtype = _float32 if dtype is None else dtype
    return F.random_uniform(size, dtype, seed)


def randn_by(size, dtype, seed):
    """Standard normal."""
    size = (size,) if _is_int(size) else tuple(size)
    dtype = _float32 if dtype is None else dtype
    return F.random_normal(size, dtype, seed)


def rand_like(x: Tensor, seed, dtype):
    """Uniform on [0, 1), in the shape of x."""
    return rand_by(x.shape, x.dtype if dtype is None else dtype, seed)


def randn_like(x: Tensor, seed, dtype):
    """Standard normal, in the shape of x."""
    return randn_by(x.shape, x.dtype if dtype is None else dtype, seed)


def randint(low: int, high: int, size, seed, dtype):
    """Integers from low up to but without high."""
    if high <= low:
        raise ValueError(f"randint: range is empty: got {low} to {high}, need high above low")
    drawn = F.random_uniform((size,) if _is_int(size) else tuple(size), _d["float64"], seed)
    return F.cast(
        F.floor(F.add(F.mul(drawn, float(high - low)), float(low))), _int64 if dtype is None else dtype
    )


def randint_like(x: Tensor, low: int, high: int, seed, dtype):
    """randint in the shape of x."""
    return randint(low, high, x.shape, seed, x.dtype if dtype is None else dtype)


def randperm(n: int, seed, dtype):
    """A random order of the numbers below n."""
    return F.cast(F.argsort(F.random_uniform((n,), _d["float64"], seed or None)), dtype)


def gamma_of(shape, alpha, beta, seed):
    """Gamma distributed with shapes alpha and rates beta."""
    return F.random_gamma(tuple(_numbers(shape)), _as_tensor(alpha), _as_tensor(beta), seed)


def uniform(shape, minval, maxval, seed, dtype):
    """Uniform between bounds; integers when the dtype is one."""
    if dtype is _int32:
        return randint(int(minval), int(maxval), shape, seed, dtype)
    drawn = rand_by(shape, _float32, seed)
    return F.add(F.mul(drawn, F.sub(_as_tensor(maxval), minval)), minval)


def normal(shape, mean, stddev, seed):
    """Normal with that mean and standard deviation."""
    return F.add(F.mul(randn_by(shape, _float32, seed), stddev), mean)


def bernoulli(x: Tensor, p, seed):
    """1 with probability p, else 0."""
    drawn = F.random_uniform(x.shape, _float32, seed)
    return F.cast(F.less(drawn, p), x.dtype)


def multinomial(x: Tensor, num_samples: int, replacement, seed):
    """int32 class numbers along the last axis, drawn with the weights x (C,) or (N, C)."""
    if x.ndim not in (1, 2):
        raise ValueError(f"multinomial: wrong number of axes: got shape {x.shape}, need 1 or 2 axes")
    classes = x.shape[-1]
    if num_samples <= 0 or not replacement and num_samples > classes:
        limit = "" if replacement else f", at most {classes}"
        raise ValueError(
            f"multinomial: 'num_samples' is out of range: got {num_samples}, need more than 0{limit}"
        )
    sums = F.cumulative_weights(x)
    if not replacement:  # the largest of u ** (1 / weight), by their logarithms; Efraimidis and Spirakis 2006
        keys = F.div(F.log(F.random_uniform(x.shape, _float32, seed)), x)
        return F.cast(F.topk(keys, num_samples)[1], _int32)
    total = F.gather(sums, Tensor([classes - 1], _int64), -1)
    drawn = F.mul(F.random_uniform((*x.shape[:-1], num_samples), _d["float64"], seed), total)
    below = F.less_equal(F.expand_dims(sums, -2), F.expand_dims(drawn, -1))
    return F.cast(F.sum(F.cast(below, _int32), -1), _int32)


def dropout_by(x: Tensor, p: float, training, seed):
    """Zeros with probability p and the rest scaled, in training."""
    if not 0 <= p < 1:
        raise ValueError(f"dropout: 'p' is out of range: got {p}, need at least 0, less than 1")
    return F.dropout(x, p, seed) if training and p else x
