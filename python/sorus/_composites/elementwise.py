"""Composites of rows: elementwise."""

from __future__ import annotations

from .. import _functions as F
from .._core import Tensor
from ._common import _LARGEST, _as_tensor, _d, _is_int, _tensor


def same(x) -> Tensor:
    """The tensor itself."""
    return x


def clone(x: Tensor) -> Tensor:
    """Another tensor with the same value, through which gradients pass."""
    return F.reshape(x, x.shape)


def isneginf(x: Tensor) -> Tensor:
    """True where x is -infinity."""
    if not x.dtype.is_floating_point:
        return F.full(x.shape, False, _d["bool_"])
    return F.equal(x, Tensor(float("-inf")))


def first_of(value, _expression):
    """The first argument: order of execution is the program's order."""
    return value


def add_scaled(x, other, alpha):
    """x + alpha * other."""
    return F.add(x, other if _is_int(alpha) and alpha == 1 else F.mul(_as_tensor(other), alpha))


def sub_scaled(x, other, alpha):
    """x - alpha * other."""
    return F.sub(x, other if _is_int(alpha) and alpha == 1 else F.mul(_as_tensor(other), alpha))


def div_rounded(x, other, mode):
    """x / other, rounded to minus infinity ("floor") or zero ("trunc")."""
    if mode is None:
        return F.div(x, other)
    if mode == "floor":
        return F.floor_div(x, other)
    if mode == "trunc":
        return truncate_div(x, other)
    raise ValueError(f"div: unknown rounding_mode: got {mode!r}, need None, 'floor' or 'trunc'")


def truncate_div(x, y):
    """x / y rounded towards zero, in the common dtype."""
    common = F.add(x, y).dtype
    if common.is_floating_point:
        return F.trunc(F.div(x, y))
    remainder = F.fmod(x, y)
    return F.floor_div(F.sub(x, remainder), y)


def float_power(x, exponent):
    """x ** exponent in float64."""
    x = x.astype(_d["float64"]) if isinstance(x, Tensor) else Tensor(x, _d["float64"])
    return F.pow(x, exponent.astype(_d["float64"]) if isinstance(exponent, Tensor) else exponent)


def round_to(x: Tensor, decimals: int) -> Tensor:
    """Rounded half to even at that decimal place."""
    if decimals == 0:
        return F.round(x)
    scale = 10.0 ** abs(decimals)
    if not x.dtype.is_floating_point:
        return x if decimals > 0 else F.cast(F.mul(F.round(F.div(x, scale)), scale), x.dtype)
    return F.div(F.round(F.mul(x, scale)), scale) if decimals > 0 else F.mul(F.round(F.div(x, scale)), scale)


def where_any(condition, x, y):
    """condition ? x : y; a condition that is not bool is tested against zero."""
    if isinstance(condition, Tensor) and condition.dtype is not _d["bool_"]:
        condition = F.not_equal(condition, 0)
    return F.where(condition, x, y)


def clip_each(x, low, high):
    """Clamped, for one tensor or each of a list."""
    if isinstance(x, (tuple, list)):
        return type(x)(F.clip(t, low, high) for t in x)
    if low is None and high is None:
        raise ValueError("clamp: no bound: got neither 'min' nor 'max', need one")
    return F.clip(x, low, high)


def gelu_by(x: Tensor, approximate):
    """Exact ("none") or by tanh ("tanh")."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: unknown approximate: got {approximate!r}, need 'none' or 'tanh'")
    return F.gelu(x) if approximate == "none" else F.gelu_tanh(x)


def fast_gelu(x: Tensor):
    """x / (1 + exp(-1.702 abs(x))) * exp(0.851 (x - abs(x)))."""
    size = F.abs(x)
    return x / (1 + F.exp(-1.702 * size)) * F.exp(0.851 * (x - size))


def prelu_channels(x: Tensor, weight: Tensor):
    """x, or weight * x below zero, with one weight or one for each channel."""
    if weight.size > 1 and x.ndim > 2:
        weight = F.reshape(weight, (-1,) + (1,) * (x.ndim - 2))
    return F.prelu(x, weight)


def glu(x: Tensor, axis: int):
    """First half times the sigmoid of the second."""
    if x.shape[axis] % 2:
        raise ValueError(f"glu: axis has an odd extent: got {x.shape[axis]}, need an even one")
    a, b = F.chunk(x, 2, axis)
    return a * F.sigmoid(b)


def isclose(x: Tensor, other: Tensor, rtol: float, atol: float, equal_nan):
    """abs(x - other) <= atol + rtol * abs(other), infinities equal to themselves."""
    if rtol < 0 or atol < 0:
        raise ValueError(
            f"isclose: tolerance is out of range: got rtol {rtol} and atol {atol}, need 0 or more"
        )
    near = F.less_equal(F.abs(F.sub(x, other)), F.add(F.mul(F.abs(other), rtol), atol))
    near = F.logical_or(F.logical_and(near, F.isfinite(other)), F.equal(x, other))
    return F.logical_or(near, F.logical_and(F.isnan(x), F.isnan(other))) if equal_nan else near


def nan_to_num(x: Tensor, nan, posinf, neginf) -> Tensor:
    """NaN and infinities replaced; by default with zero and the largest numbers."""
    if not x.dtype.is_floating_point:
        return x
    largest = _LARGEST[x.dtype.name]
    infinite = F.isinf(x)
    x = F.where(F.logical_and(infinite, F.greater(x, 0)), largest if posinf is None else posinf, x)
    x = F.where(F.logical_and(infinite, F.less(x, 0)), -largest if neginf is None else neginf, x)
    return F.where(F.isnan(x), 0.0 if nan is None else nan, x)


def xdivy(x, y):
    """x / y, zero where x is."""
    quotient = F.div(x, y)
    return F.where(F.equal(x, 0), F.full_like(quotient, 0), quotient)


def logit(x, eps):
    """log(x / (1 - x)), x clamped to [eps, 1 - eps]."""
    if eps is not None and eps >= 0:
        x = F.clip(x, eps, 1 - eps)
    return F.log(F.div(x, F.sub(1, x)))


def sinc(x: Tensor):
    """sin(pi x) / (pi x), with the sine of what x is beyond the nearest whole number."""
    x = x if x.dtype.is_floating_point else x.float()
    whole = F.round(x)
    sines = F.sin(F.mul(F.sub(x, whole), 3.141592653589793))
    sines = F.where(F.equal(F.mod(whole, 2), 0), sines, F.neg(sines))
    scaled = F.mul(x, 3.141592653589793)
    zero = F.equal(scaled, 0)
    return F.where(zero, 1.0, F.div(sines, F.where(zero, 1.0, scaled)))


def heaviside(x, values):
    """0 below zero, `values` at it, 1 above; 0 for NaN, as MindSpore has it."""
    above = F.cast(F.greater(x, 0), F.add(x, values).dtype)
    return F.where(F.equal(x, 0), values, above)


def copysign(x: Tensor, other):
    """abs(x) with the sign of other, that of a zero included."""
    _tensor(x, "copysign")
    size = F.abs(x if x.dtype.is_floating_point else x.float())
    if not isinstance(other, Tensor):
        other = Tensor(float(other))
    # The reciprocal of minus zero is minus infinity.
    negative = F.logical_or(F.less(other, 0), F.less(F.div(1.0, other), 0))
    return F.where(negative, F.neg(size), size)


def cast_named(x: Tensor, dtype):
    """Converted; the dtype may be a name such as "float32"."""
    if isinstance(dtype, str):
        name = "bool_" if dtype == "bool" else dtype
        if name not in _d:
            raise TypeError(f"astype: unknown dtype: got '{dtype}', need one such as float32")
        dtype = _d[name]
    return F.cast(x, dtype)


def cast_like(x: Tensor, other: Tensor):
    """Converted to the dtype of other."""
    return F.cast(x, other.dtype)


def type_by(x: Tensor, dtype):
    """Converted, or the dtype when none is given."""
    return x.dtype if dtype is None else cast_named(x, dtype)
