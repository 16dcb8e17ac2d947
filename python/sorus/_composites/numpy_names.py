"""Composites of rows: what NumPy has beside the functions of tensors."""

from __future__ import annotations

from .. import _functions as F, _numpy as np
from .._core import Tensor
from ._common import _as_tensor, _d, _float32, _int32, _int64, _is_int
from .matrices import cov
from .reductions_algebra import diff


def _pairs(value, rank, what):
    """(before, after) for each axis of what is said for one, for all or for each."""
    pairs = np.asarray(value, dtype=object)
    try:
        return [tuple(pair) for pair in np.broadcast_to(pairs, (rank, 2)).tolist()]
    except ValueError:
        raise ValueError(f"pad: '{what}' does not fit: got {value}, need pairs for {rank} axes") from None


def _along(x, axis, before, after):
    """x with tensors before and after it along an axis."""
    return F.concat([part for part in (before, x, after) if part is not None and part.shape[axis]], axis)


def _spread(x, axis, count):
    shape = list(x.shape)
    shape[axis] = count
    return F.broadcast_to(x, tuple(shape))


def _ramp(edge, axis, count, end, towards_edge):
    """`count` steps between `end` and the edge."""
    steps = F.div(F.arange(0, count, 1, _int64), float(max(count, 1)))
    if not towards_edge:
        steps = F.sub(1.0, F.div(F.add(F.arange(0, count, 1, _int64), 1), float(max(count, 1))))
    steps = F.reshape(steps, (count,) + (1,) * (edge.ndim - 1 - axis))
    wide = F.add(end, F.mul(F.sub(edge, end), steps))
    return F.cast(wide if edge.dtype.is_floating_point else F.round(wide), edge.dtype)


_INDEXED = {"edge": "edge", "reflect": "reflect", "symmetric": "symmetric", "wrap": "wrap"}
_STATISTICS = {"maximum": F.amax, "minimum": F.amin, "mean": F.mean}


def numpy_pad(x: Tensor, width, mode, stat_length, constants, ends, reflect_type) -> Tensor:
    """Borders around all axes."""
    widths = _pairs(width, x.ndim, "pad_width")
    if any(not _is_int(n) or n < 0 for pair in widths for n in pair):
        raise ValueError(f"pad: 'pad_width' is out of range: got {width}, need ints of 0 or more")
    if mode not in ("constant", "empty", "linear_ramp", *_INDEXED, *_STATISTICS):
        raise ValueError(f"pad: unknown mode: got {mode!r}, need the name of one of NumPy's")
    if reflect_type not in ("even", "odd") or reflect_type == "odd" and mode in ("reflect", "symmetric"):
        raise ValueError(f"pad: unsupported 'reflect_type': got {reflect_type!r}, need 'even'")
    fills, ends = _pairs(constants, x.ndim, "constant_values"), _pairs(ends, x.ndim, "end_values")
    lengths = _pairs(stat_length, x.ndim, "stat_length")
    for axis, (before, after) in enumerate(widths):
        extent = x.shape[axis]
        if mode in _INDEXED:
            places = np.pad(np.arange(extent), (before, after), mode)
            x = F.gather(x, Tensor(places), axis)
        elif mode in ("constant", "empty"):
            values = fills[axis] if mode == "constant" else (0, 0)
            size = list(x.shape)
            parts = []
            for count, value in zip((before, after), values):
                size[axis] = count
                parts.append(F.cast(F.full(tuple(size), value, _d["float64"]), x.dtype))
            x = _along(x, axis, *parts)
        elif mode == "linear_ramp":
            first, last = F.narrow(x, axis, 0, 1), F.narrow(x, axis, extent - 1, 1)
            left = _ramp(first, axis, before, ends[axis][0], True)
            x = _along(x, axis, left, _ramp(last, axis, after, ends[axis][1], False))
        else:
            parts = []
            for count, length, at_end in zip((before, after), lengths[axis], (False, True)):
                length = extent if length is None else min(length, extent)
                part = F.narrow(x, axis, extent - length if at_end else 0, length)
                value = _STATISTICS[mode](part, (axis,), True)
                if mode == "mean" and not x.dtype.is_floating_point:
                    value = F.round(value)
                parts.append(_spread(F.cast(value, x.dtype), axis, count))
            x = _along(x, axis, *parts)
    return x


def multi_dot(arrays) -> Tensor:
    """The product of matrices in the order that multiplies fewest numbers; the ends may be vectors."""
    arrays = [_as_tensor(a) for a in arrays]
    if len(arrays) < 2:
        raise ValueError(f"multi_dot: too few arrays: got {len(arrays)}, need two or more")
    first, last = arrays[0].ndim == 1, arrays[-1].ndim == 1
    arrays[0] = F.reshape(arrays[0], (1, -1)) if first else arrays[0]
    arrays[-1] = F.reshape(arrays[-1], (-1, 1)) if last else arrays[-1]
    sizes = [arrays[0].shape[0], *(a.shape[1] for a in arrays)]
    n = len(arrays)
    cost = [[0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for span in range(1, n):
        for i in range(n - span):
            j = i + span
            choices = [
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            ]
            cost[i][j], cut[i][j] = min(choices)

    def product(i, j):
        return arrays[i] if i == j else F.matmul(product(i, cut[i][j]), product(cut[i][j] + 1, j))

    result = product(0, n - 1)
    if first or last:
        result = F.reshape(result, tuple(m for m, drop in zip(result.shape, (first, last)) if not drop))
    return result


def numpy_randint(low: int, high, shape, dtype):
    """Ints from low to below high, or from 0 to below low."""
    low, high = (0, low) if high is None else (low, high)
    if low >= high:
        raise ValueError(f"randint: no numbers to choose from: got {low} to {high}, need low < high")
    size = () if shape is None else (shape,) if _is_int(shape) else tuple(shape)
    drawn = F.floor(F.mul(F.random_uniform(size, _d["float64"], None), float(high - low)))
    return F.cast(F.add(F.cast(drawn, _int64), low), dtype)


def array_equal(a, b, equal_nan) -> Tensor:
    """Whether shapes and elements are the same."""
    a, b = _as_tensor(a), _as_tensor(b)
    if a.shape != b.shape:
        return Tensor(False)
    same = F.equal(a, b)
    if equal_nan and a.dtype.is_floating_point and b.dtype.is_floating_point:
        same = F.logical_or(same, F.logical_and(F.isnan(a), F.isnan(b)))
    return F.all(same)


def array_equiv(a, b) -> Tensor:
    """Whether elements are the same after broadcasting."""
    a, b = _as_tensor(a), _as_tensor(b)
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError:
        return Tensor(False)
    return F.all(F.equal(a, b))


def average(x: Tensor, axis, weights, returned) -> Tensor | tuple[Tensor, Tensor]:
    """The mean, with weights if given, and the sum of weights if asked for."""
    x = x if x.dtype.is_floating_point else F.cast(x, _float32)
    if weights is None:
        mean = F.mean(x, axis)
        total = F.full(mean.shape, x.size / max(mean.size, 1), mean.dtype)
        return (mean, total) if returned else mean
    weights = F.cast(_as_tensor(weights), x.dtype)
    if weights.shape != x.shape:
        if not _is_int(axis) or weights.ndim != 1 or weights.shape[0] != x.shape[axis]:
            raise ValueError(
                f"average: 'weights' does not fit: got shape {weights.shape} for {x.shape} along {axis}, need"
                " the same shape, or one weight for each place of one axis"
            )
        shape = [1] * x.ndim
        shape[axis] = -1
        weights = F.broadcast_to(F.reshape(weights, tuple(shape)), x.shape)
    total = F.sum(weights, axis)
    mean = F.div(F.sum(F.mul(x, weights), axis), total)
    return (mean, total) if returned else mean


def append(x, values, axis) -> Tensor:
    """x and values one after the other, flat without an axis."""
    x, values = _as_tensor(x), _as_tensor(values)
    if axis is None:
        return F.concat([F.reshape(x, -1), F.reshape(values, -1)], 0)
    return F.concat([x, values], axis)


def isin(x, elements, invert) -> Tensor:
    """Whether each element is among those given."""
    x, elements = _as_tensor(x), F.reshape(_as_tensor(elements), -1)
    found = F.any(F.equal(F.expand_dims(x, -1), elements), -1)
    return F.logical_not(found) if invert else found


def in1d(x, elements, invert) -> Tensor:
    """The same of x flattened."""
    return isin(F.reshape(_as_tensor(x), -1), elements, invert)


def broadcast_arrays(arrays) -> list:
    """Arrays in their common shape."""
    arrays = [_as_tensor(a) for a in arrays]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return [F.broadcast_to(a, shape) for a in arrays]


def triangle_indices(n: int, k: int, m, upper) -> tuple[Tensor, Tensor]:
    """Rows and columns of a triangle."""
    made = (F.triu_indices if upper else F.tril_indices)(n, n if m is None else m, k, _int64)
    return made[0], made[1]


def triangle_indices_from(x: Tensor, k: int, upper) -> tuple[Tensor, Tensor]:
    """Those of the triangle of a matrix."""
    if x.ndim != 2:
        raise ValueError(f"triangle: wrong number of axes: got shape {x.shape}, need 2 axes")
    return triangle_indices(x.shape[0], k, x.shape[1], upper)


def diag_indices(n: int, rank: int) -> tuple:
    """The index of a diagonal, for each axis."""
    return (F.arange(0, n, 1, _int64),) * rank


def tri(n: int, m, k: int, dtype) -> Tensor:
    """Ones on and below a diagonal."""
    return F.tril(F.full((n, n if m is None else m), 1, dtype), k)


def diagflat(v, k: int) -> Tensor:
    """The flat input as a diagonal."""
    return F.diag(F.reshape(_as_tensor(v), -1), k)


def _without_nan(x, fill):
    if not x.dtype.is_floating_point:
        return x, F.full(x.shape, 1, _int64)
    bad = F.isnan(x)
    return F.where(bad, Tensor(fill, x.dtype), x), F.cast(F.logical_not(bad), _int64)


def nan_statistic(x: Tensor, axis, dtype, ddof, keepdims, kind) -> Tensor:
    """Sum, mean, variance, deviation or extreme of what is no NaN."""
    fill = {"max": float("-inf"), "min": float("inf")}.get(kind, 0.0)
    x, there = _without_nan(x, fill)
    if kind in ("max", "min"):
        found = (F.amax if kind == "max" else F.amin)(x, axis, keepdims)
        if not x.dtype.is_floating_point:
            return F.cast_if(found, dtype)
        none = F.equal(F.sum(there, axis, keepdims), 0)
        return F.cast_if(F.where(none, Tensor(float("nan"), x.dtype), found), dtype)
    if kind == "sum":
        return F.sum(F.cast_if(x, dtype), axis, keepdims)
    x = F.cast_if(x if x.dtype.is_floating_point else F.cast(x, _float32), dtype)
    count = F.cast(F.sum(there, axis, True), x.dtype)
    mean = F.div(F.sum(x, axis, True), count)
    if kind == "mean":
        return mean if keepdims else _dropped(mean, axis)
    apart = F.where(F.equal(there, 1), F.sub(x, mean), Tensor(0, x.dtype))
    freedom = F.sub(count, float(ddof))
    variance = F.div(F.sum(F.square(apart), axis, True), freedom)
    variance = F.where(F.greater(freedom, 0.0), variance, Tensor(float("nan"), x.dtype))
    variance = F.sqrt(variance) if kind == "std" else variance
    return variance if keepdims else _dropped(variance, axis)


def _dropped(x, axis):
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if _is_int(axis) else tuple(axis)
    return F.squeeze(x, axes) if axes else x


def nancumsum(x: Tensor, axis, dtype) -> Tensor:
    """Running sums in which NaN counts as 0."""
    x = _without_nan(F.cast_if(x, dtype), 0.0)[0]
    return F.cumsum(F.reshape(x, -1), 0) if axis is None else F.cumsum(x, axis)


def divmod_of(x, y, dtype) -> tuple[Tensor, Tensor]:
    """Quotient rounded down and remainder."""
    return F.cast_if(F.floor_div(x, y), dtype), F.cast_if(F.mod(x, y), dtype)


def covariance(x: Tensor, y, by_rows, ddof, normalized, dtype) -> Tensor:
    """Covariances of variables, or their correlations."""
    kind = _d["float64"] if x.dtype is _d["float64"] else _float32
    parts = []
    for v in (x,) if y is None else (x, _as_tensor(y)):
        v = F.cast(v, kind)
        v = F.reshape(v, (1, -1)) if v.ndim < 2 else v
        parts.append(v if by_rows or v.shape[0] == 1 else F.swapaxes(v, 0, 1))
    x = F.concat(parts, 0)
    apart = F.sub(x, F.mean(x, 1, True))
    found = F.div(F.matmul(apart, F.swapaxes(apart, 0, 1)), float(x.shape[1] - ddof))
    if normalized:
        deviation = F.sqrt(F.diagonal(found))
        found = F.div(F.div(found, F.expand_dims(deviation, 0)), F.expand_dims(deviation, 1))
        found = F.clip(found, -1.0, 1.0)
    found = F.reshape(found, ()) if found.size == 1 else found
    return F.cast_if(found, dtype)


def numpy_cov(x: Tensor, y, by_rows, bias, ddof, fweights, aweights, dtype) -> Tensor:
    """Covariances of variables, of observations that may have weights."""
    ddof = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        return covariance(x, y, by_rows, ddof, False, dtype)
    x = x if by_rows or x.ndim < 2 else F.swapaxes(x, 0, 1)
    if y is not None:
        y = _as_tensor(y)
        y = y if by_rows or y.ndim < 2 else F.swapaxes(y, 0, 1)
        x = F.concat([F.reshape(v, (-1, v.shape[-1])) for v in (x, y)], 0)
    return F.cast_if(cov(x, ddof, fweights, aweights), dtype)


def interp(x, xp, fp, left, right) -> Tensor:
    """Values at x of the line through points, with those beyond its ends."""
    x, xp, fp = (F.cast(_as_tensor(v), _d["float64"]) for v in (x, xp, fp))
    if xp.ndim != 1 or xp.shape != fp.shape or xp.size == 0:
        raise ValueError(
            f"interp: points do not fit: got shapes {xp.shape} and {fp.shape}, need equal vectors"
        )
    place = F.clip(F.searchsorted(xp, x, True), 1, max(xp.size - 1, 1))
    below = F.sub(place, 1)
    above = F.minimum(place, xp.size - 1)
    x0, x1, f0, f1 = (F.gather(v, i, 0) for v in (xp, fp) for i in (below, above))
    span = F.sub(x1, x0)
    slope = F.div(F.sub(f1, f0), F.where(F.equal(span, 0.0), 1.0, span))
    found = F.add(f0, F.mul(slope, F.sub(x, x0)))
    ends = ((F.less, 0, left), (F.greater, xp.size - 1, right))
    for beyond, i, value in ends:
        value = fp[i] if value is None else _as_tensor(value)
        found = F.where(beyond(x, xp[i]), F.cast(value, _d["float64"]), found)
    return F.cast(found, _float32)


def digitize(x, bins, right) -> Tensor:
    """The number of the bin of each element; bins may go up or down."""
    x, bins = _as_tensor(x), _as_tensor(bins)
    if bins.size > 1 and bool(F.less(bins[-1], bins[0])):
        upside = F.flip(bins, (0,))
        return F.sub(bins.size, F.searchsorted(upside, x, bool(right) is False))
    return F.searchsorted(bins, x, not right)


def rollaxis(x: Tensor, axis: int, start: int) -> Tensor:
    """An axis moved to before another."""
    if not -x.ndim <= axis < x.ndim or not -x.ndim <= start <= x.ndim:
        raise ValueError(
            f"rollaxis: axis is out of range: got {axis} to {start} for shape {x.shape}, need axes of it"
        )
    axis, start = axis % x.ndim, start + x.ndim if start < 0 else start
    return F.movedim(x, (axis,), (start - 1 if axis < start else start,))


def select_first(conditions, choices, default) -> Tensor:
    """The choice of the first condition that holds."""
    if len(conditions) != len(choices) or not len(conditions):
        raise ValueError(
            f"select: lists do not fit: got {len(conditions)} conditions and {len(choices)} choices, need as "
            "many of both"
        )
    result = _as_tensor(default)
    for condition, choice in reversed(list(zip(conditions, choices))):
        result = F.where(_as_tensor(condition), _as_tensor(choice), result)
    return result


def signbit(x: Tensor, dtype) -> Tensor:
    """True below zero, and at -0."""
    if x.dtype.is_floating_point:
        below = F.logical_or(F.less(x, 0.0), F.less(F.reciprocal(x), 0.0))
    else:
        below = F.less(x, 0)
    return F.cast_if(below, dtype)


def numpy_vander(x: Tensor, n, increasing) -> Tensor:
    """Powers of a vector as columns."""
    n = x.size if n is None else n
    powers = F.arange(0, n, 1, _int64)
    powers = powers if increasing else F.flip(powers, (0,))
    return F.pow(F.expand_dims(x, -1), F.cast(powers, x.dtype))


def setdiff1d(x, y, assume_unique) -> Tensor:
    """Elements of x that are not in y, in order."""
    x = F.reshape(_as_tensor(x), -1)
    x = x if assume_unique else F.unique(x, "sorted")[0]
    return F.masked_select(x, isin(x, y, True))


def ravel_multi_index(index, dims, mode) -> Tensor:
    """Row-major positions of indices; those out of range wrap or are clipped."""
    if mode not in ("wrap", "clip"):
        raise ValueError(f"ravel_multi_index: unknown mode: got {mode!r}, need 'wrap' or 'clip'")
    place = None
    for part, n in zip(index, dims, strict=True):
        part = F.cast(_as_tensor(part), _int64)
        part = F.mod(part, n) if mode == "wrap" else F.clip(part, 0, n - 1)
        place = part if place is None else F.add(F.mul(place, n), part)
    return F.cast(place, _int32)


def infinite_of_sign(x: Tensor, sign) -> Tensor:
    """True at the infinity of that sign."""
    if not x.dtype.is_floating_point:
        return F.full(x.shape, False, _d["bool_"])
    return F.equal(x, Tensor(sign * float("inf"), x.dtype))


def isscalar(value) -> bool:
    """True for numbers and strings of Python."""
    return isinstance(value, (bool, int, float, complex, str))


def grid_indices(dimensions, dtype, sparse) -> tuple:
    """The index of each place, axis by axis."""
    found = []
    for axis, n in enumerate(dimensions):
        shape = [1] * len(dimensions)
        shape[axis] = n
        part = F.reshape(F.arange(0, n, 1, dtype), tuple(shape))
        found.append(part if sparse else F.broadcast_to(part, tuple(dimensions)))
    return tuple(found)


def geomspace(start, stop, num: int, endpoint, dtype) -> Tensor:
    """Numbers with equal ratios."""
    if start == 0 or stop == 0 or (start < 0) != (stop < 0):
        raise ValueError(f"geomspace: ends do not fit: got {start} and {stop}, need two of one sign, not 0")
    sign = -1.0 if start < 0 else 1.0
    low, high = (float(np.log10(abs(v))) for v in (start, stop))
    found = F.mul(F.logspace(Tensor(low), Tensor(high), num, 10.0, _d["float64"], endpoint), sign)
    return F.cast(found, _float32 if dtype is None else dtype)


def ediff1d(x, to_end, to_begin) -> Tensor:
    """Differences of neighbours of the flat input, with what is to stand around them."""
    x = F.reshape(_as_tensor(x), -1)
    parts = [to_begin, diff(x, 1, 0, None, None), to_end]
    parts = [F.cast(F.reshape(_as_tensor(p), -1), x.dtype) for p in parts if p is not None]
    return F.concat(parts, 0) if len(parts) > 1 else parts[0]


def convolve(x, v, mode, turned) -> Tensor:
    """Sums of products of two vectors at every shift."""
    what = "convolve" if turned else "correlate"
    x, v = _as_tensor(x), _as_tensor(v)
    if x.ndim != 1 or v.ndim != 1 or not x.size or not v.size:
        raise ValueError(f"{what}: operands do not fit: got shapes {x.shape} and {v.shape}, need vectors")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{what}: unknown mode: got {mode!r}, need 'full', 'same' or 'valid'")
    kind = _d["float64"] if _d["float64"] in (x.dtype, v.dtype) else _float32
    x, v = F.cast(x, kind), F.cast(v, kind)
    long, short = x.size, v.size
    v = F.flip(v, (0,)) if turned else v
    full = F.pad(x, (short - 1,), (short - 1,))
    found = F.matmul(F.unfold_axis(full, 0, short, 1), v)
    count = {"full": found.size, "same": max(long, short), "valid": abs(long - short) + 1}[mode]
    return F.narrow(found, 0, _first_of_mode(mode, long, short, turned), count)


def _first_of_mode(mode, long, short, turned):
    """Where the result of a mode begins in the full one."""
    less = min(long, short)
    if mode == "full":
        return 0
    if mode == "valid":
        return less - 1
    return less // 2 if not turned and long < short else (less - 1) // 2


def asfarray(x, dtype) -> Tensor:
    """A floating tensor."""
    return F.cast(_as_tensor(x), dtype if dtype.is_floating_point else _float32)


def polyval(p, x) -> Tensor:
    """The polynomial with the coefficients p, the highest first, at x."""
    p, x = _as_tensor(p), _as_tensor(x)
    result = F.full(x.shape, 0, x.dtype)
    for i in range(p.size):
        result = F.add(F.mul(result, x), p[i])
    return result


def poly_sum(a, b, sign) -> Tensor:
    """Coefficients of a sum or difference."""
    a, b = _as_tensor(a), _as_tensor(b)
    size = max(a.size, b.size)
    a, b = (F.pad(v, (size - v.size,), (0,)) for v in (a, b))
    return F.add(a, b) if sign > 0 else F.sub(a, b)


def poly_product(a, b) -> Tensor:
    """Coefficients of a product."""
    a, b = _as_tensor(a), _as_tensor(b)
    if not a.size or not b.size:
        raise ValueError("polymul: no coefficients: got an empty operand, need at least one")
    kind = F.mul(F.narrow(a, 0, 0, 1), F.narrow(b, 0, 0, 1)).dtype
    wide = F.cast(a, _d["float64"]), F.cast(b, _d["float64"])
    found = convolve(*wide, "full", True)
    return F.cast(found if kind.is_floating_point else F.round(found), kind)


def poly_derivative(p, m: int) -> Tensor:
    """Coefficients of a derivative."""
    p = _as_tensor(p)
    if m < 0:
        raise ValueError(f"polyder: 'm' is negative: got {m}, need 0 or more")
    for _ in range(m):
        n = p.size - 1
        if n < 1:
            return F.full((0,), 0, p.dtype)
        p = F.mul(F.narrow(p, 0, 0, n), F.cast(F.arange(n, 0, -1, _int64), p.dtype))
    return p


def numpy_gradient(x: Tensor, spacing, axis, edge_order) -> Tensor | list:
    """Central differences, one-sided at the ends, along axes."""
    if edge_order != 1:
        raise ValueError(f"gradient: unsupported 'edge_order': got {edge_order}, need 1")
    x = x if x.dtype.is_floating_point else F.cast(x, _float32)
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if _is_int(axis) else tuple(axis)
    steps = [1.0] * len(axes) if not spacing else list(spacing) * (len(axes) if len(spacing) == 1 else 1)
    if len(steps) != len(axes):
        raise ValueError(f"gradient: number of steps differs: got {len(steps)}, need 1 or {len(axes)}")
    found = []
    for a, step in zip(axes, steps):
        n = x.shape[a]
        if n < 2:
            raise ValueError(f"gradient: axis is too short: got shape {x.shape} along {a}, need 2 or more")
        first = F.sub(F.narrow(x, a, 1, 1), F.narrow(x, a, 0, 1))
        last = F.sub(F.narrow(x, a, n - 1, 1), F.narrow(x, a, n - 2, 1))
        middle = F.div(F.sub(F.narrow(x, a, 2, n - 2), F.narrow(x, a, 0, n - 2)), 2.0)
        found.append(F.div(F.concat([first, middle, last], a), step))
    return found[0] if len(found) == 1 else found


def open_mesh(arrays) -> tuple:
    """Vectors shaped so that they index a grid."""
    made = []
    for axis, v in enumerate(arrays):
        v = _as_tensor(v)
        v = F.reshape(F.nonzero(v), -1) if v.dtype is _d["bool_"] else v
        shape = [1] * len(arrays)
        shape[axis] = -1
        made.append(F.reshape(v, tuple(shape)))
    return tuple(made)
