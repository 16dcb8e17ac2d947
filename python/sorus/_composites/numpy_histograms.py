"""Composites of rows: NumPy's histograms, its sets and what else it computes from places."""

from __future__ import annotations

import math

from .. import _core, _functions as F, _numpy as np
from .._core import Tensor
from ._common import _d, _float32, _int32, _int64, _is_int, _listed
from .numpy_creation import array_like, named_dtype


def _floats(x):
    """float64 stays, anything else is float32."""
    x = array_like(x)
    return x if x.dtype is _d["float64"] else F.cast(x, _float32)


def _check_range(what, ends):
    low, high = (float(v) for v in ends)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"{what}: 'range' is not usable: got {ends}, need finite ends")
    if high < low:
        raise ValueError(f"{what}: 'range' is not usable: got {ends}, need the larger end last")
    return low, high


def _given_edges(bins):
    edges = array_like(bins)
    if edges.ndim != 1 or edges.size < 1:
        raise ValueError(f"histogram: 'bins' does not fit: got shape {edges.shape}, need a vector of edges")
    if not isinstance(bins, Tensor) and (np.diff(np.asarray(bins)) < 0).any():
        raise ValueError(f"histogram: 'bins' does not fit: got {bins}, need edges that go up")
    return edges


def histogram_bin_edges(x, bins, ends, weights, what="histogram_bin_edges") -> Tensor:
    """Edges of equal bins between the ends or the extremes, or those that are given."""
    if isinstance(bins, str):
        raise NotImplementedError(f"{what}: unsupported 'bins': got {bins!r}, need a number or edges")
    if isinstance(bins, bool) or not isinstance(bins, (int, list, tuple, Tensor, np.ndarray)):
        raise TypeError(f"{what}: 'bins' has the wrong type: got {type(bins).__name__}, need an int or edges")
    x = _floats(x)
    if weights is not None and array_like(weights).shape != x.shape:
        raise ValueError(
            f"{what}: 'weights' does not fit: got shape {array_like(weights).shape}, need {x.shape}"
        )
    if not isinstance(bins, int) and not (isinstance(bins, Tensor) and bins.ndim == 0):
        return _given_edges(bins)
    count = int(bins)
    if count < 1:
        raise ValueError(f"{what}: 'bins' is out of range: got {count}, need 1 or more")
    if ends is not None:
        low, high = (Tensor(v, _d["float64"]) for v in _check_range(what, ends))
    elif x.size == 0:
        low, high = Tensor(0.0, _d["float64"]), Tensor(1.0, _d["float64"])
    else:
        low, high = F.cast(F.amin(x), _d["float64"]), F.cast(F.amax(x), _d["float64"])
    half = F.mul(F.cast(F.equal(low, high), _d["float64"]), 0.5)
    low, high = F.sub(low, half), F.add(high, half)
    place = F.arange(0, count + 1, 1, _int64)
    steps = F.mul(F.sub(high, low), F.div(F.cast(place, _d["float64"]), float(count)))
    edges = F.where(F.equal(place, count), high, F.add(low, steps))
    return F.cast(edges, x.dtype)


def _bins_of(x, edges):
    """For each element the number of its bin, beginning with 1; 0 and one more than there are bins stand for
    those beyond the ends. The last bin has its right edge.
    """
    x, edges = _floats(x), _floats(edges)
    common = _core.promote_types(x.dtype, edges.dtype)
    x, edges = F.cast(x, common), F.cast(edges, common)
    count = edges.shape[0] - 1
    place = F.searchsorted(edges, x, True)
    at_end = F.logical_and(F.equal(x, edges[count]), F.greater_equal(place, count + 1))
    place = F.where(at_end, count, place)
    return F.where(F.isnan(x), count + 1, place)


def _counted(place, weights, count):
    """Sums of weights, or numbers of elements, by place, from 0 to count - 1."""
    if weights is None:
        ones = F.full(place.shape, 1, _int64)
        return F.cast(F.unsorted_segment_sum(ones, place, count), _float32)
    return F.unsorted_segment_sum(F.reshape(_floats(weights), -1), place, count)


def histogram(x, bins, ends, weights, density) -> tuple[Tensor, Tensor]:
    """How many elements, or what weight, falls into each bin; with `density` divided so that the integral
    is 1.
    """
    edges = histogram_bin_edges(x, bins, ends, weights, "histogram")
    count = edges.shape[0] - 1
    place = F.reshape(_bins_of(x, edges), -1)
    found = F.narrow(_counted(place, weights, count + 2), 0, 1, count)
    if density:
        found = F.div(F.div(found, _widths(edges, found.dtype)), F.sum(found))
    return found, edges


def _widths(edges, dtype):
    count = edges.shape[0] - 1
    return F.cast(F.sub(F.narrow(edges, 0, 1, count), F.narrow(edges, 0, 0, count)), dtype)


def _columns(sample):
    """The coordinates of points: (N, D), or a list of D vectors."""
    if isinstance(sample, (list, tuple)):
        return [F.reshape(_floats(v), -1) for v in sample]
    sample = _floats(sample)
    if sample.ndim == 1:
        sample = F.reshape(sample, (-1, 1))
    if sample.ndim != 2:
        raise ValueError(f"histogramdd: 'sample' does not fit: got shape {sample.shape}, need (N, D)")
    return [sample[:, i] for i in range(sample.shape[1])]


def histogramdd(sample, bins, ends, weights, density) -> tuple[Tensor, list]:
    """The same for points in several dimensions."""
    columns = _columns(sample)
    if any(c.shape != columns[0].shape for c in columns):
        raise ValueError(f"histogramdd: coordinates differ: got {[c.size for c in columns]}, need as many")
    bins = list(bins) if isinstance(bins, (list, tuple)) else [bins] * len(columns)
    ends = [None] * len(columns) if ends is None else list(ends)
    for name, given in (("bins", bins), ("range", ends)):
        if len(given) != len(columns):
            raise ValueError(f"histogramdd: '{name}' does not fit: got {len(given)}, need {len(columns)}")
    edges = [
        histogram_bin_edges(c, b, e, None, "histogramdd") for c, b, e in zip(columns, bins, ends, strict=True)
    ]
    place, shape = None, []
    for column, edge in zip(columns, edges):
        mine = _bins_of(column, edge)
        shape.append(edge.shape[0] + 1)
        place = mine if place is None else F.add(F.mul(place, shape[-1]), mine)
    found = F.reshape(_counted(place, weights, math.prod(shape)), tuple(shape))
    for axis, extent in enumerate(shape):
        found = F.narrow(found, axis, 1, extent - 2)
    if density:
        total = F.sum(found)
        for axis, edge in enumerate(edges):
            width = F.reshape(_widths(edge, found.dtype), (-1,) + (1,) * (len(edges) - 1 - axis))
            found = F.div(found, width)
        found = F.div(found, total)
    return found, edges


def histogram2d(x, y, bins, ends, weights, density) -> tuple[Tensor, Tensor, Tensor]:
    """The same for points in the plane; one vector of edges serves both axes."""
    pair = isinstance(bins, (list, tuple)) and len(bins) == 2
    found, edges = histogramdd((x, y), bins if pair else [bins, bins], ends, weights, density)
    return found, edges[0], edges[1]


def numpy_promote(a, b):
    """The dtype that holds both as operands of an operation; uint64 beside signed ints gives float64."""
    a, b = _known_dtype(a), _known_dtype(b)
    signed = {_d["int8"], _d["int16"], _d["int32"], _d["int64"]}
    for one, other in ((a, b), (b, a)):
        if one is _d["uint64"] and other in signed:
            return _d["float64"]
    return _core.promote_types(a, b)


def _known_dtype(value):
    made = named_dtype(value)
    if made not in _d.values():
        raise TypeError(f"promote_types: not a dtype: got {value!r}, need one such as float32 or its name")
    return made


def result_type(values):
    """The dtype that holds all dtypes, tensors and numbers."""
    if not values:
        raise ValueError("result_type: nothing to combine: got no arguments, need arrays or dtypes")
    found = None
    for value in values:
        is_value = isinstance(value, (Tensor, np.ndarray, list, tuple, bool, int, float))
        mine = array_like(value).dtype if is_value else _known_dtype(value)
        found = mine if found is None else numpy_promote(found, mine)
    return found


def choose(index, choices, mode) -> Tensor:
    """For each element the choice that an index names; choices broadcast with the index."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"choose: unknown mode: got {mode!r}, need 'raise', 'wrap' or 'clip'")
    index = array_like(index)
    if isinstance(choices, (list, tuple)):
        choices = [array_like(c) for c in choices]
    else:
        choices = list(F.unstack(array_like(choices), 0))
    shape = np.broadcast_shapes(index.shape, *(c.shape for c in choices))
    count = len(choices)
    if mode == "raise":
        beyond = F.logical_or(F.less(index, 0), F.greater_equal(index, count))
        if bool(F.any(beyond)):
            raise ValueError(f"choose: index is out of range: got {index.tolist()}, need 0 to {count - 1}")
    index = F.mod(index, count) if mode == "wrap" else F.clip(index, 0, count - 1)
    result = F.broadcast_to(choices[0], shape)
    for i, choice in enumerate(choices[1:], 1):
        result = F.where(F.equal(index, i), choice, result)
    return result


def intersect1d(x, y, assume_unique, return_indices) -> Tensor | tuple:
    """Elements that both have, in order, and where they stand first, as int32, when asked for."""
    x, y = (F.reshape(array_like(v), -1) for v in (x, y))
    common = _core.promote_types(x.dtype, y.dtype)
    x, y = F.cast(x, common), F.cast(y, common)
    values = x if assume_unique else F.unique(x, "sorted")[0]
    there = F.any(F.equal(F.expand_dims(values, -1), y), -1)
    found = F.masked_select(values, there)
    found = F.sort(found, 0)[0] if assume_unique else found
    if not return_indices:
        return found
    return (found, *(_first_places(found, v) for v in (x, y)))


def _first_places(values, among):
    if not values.size:
        return F.full((0,), 0, _int32)
    return F.cast(F.argmax(F.cast(F.equal(F.expand_dims(values, -1), among), _int32), 1), _int32)


def polyint(p, m: int, constants) -> Tensor:
    """Coefficients of an integral, the highest power first, with constants of integration."""
    if m < 0:
        raise ValueError(f"polyint: 'm' is negative: got {m}, need 0 or more")
    p = _floats(p)
    given = [0] if constants is None else constants.tolist() if isinstance(constants, Tensor) else constants
    given = list(_listed(given))
    given = given * m if len(given) == 1 else given
    if len(given) < m:
        raise ValueError(f"polyint: 'k' is too short: got {len(given)}, need 1 or {m}")
    for i in range(m):
        powers = F.cast(F.arange(p.size, 0, -1, _int64), p.dtype)
        p = F.concat([F.div(p, powers), F.full((1,), given[i], p.dtype)], 0)
    return p


def numpy_unravel_index(indices, shape, order) -> tuple | Tensor:
    """The place along each axis of flat indices, clipped into the shape, as int32."""
    if order not in ("C", "F"):
        raise ValueError(f"unravel_index: unknown order: got {order!r}, need 'C' or 'F'")
    shape = (shape,) if _is_int(shape) else tuple(shape)
    total = math.prod(shape)
    place = F.cast(array_like(indices), _int64)
    place = F.where(F.less(place, 0), F.add(place, total), place)
    place = F.clip(place, 0, total - 1)
    found = []
    for extent in reversed(shape) if order == "C" else shape:
        found.append(F.cast(F.mod(place, extent), _int32))
        place = F.floor_div(place, extent)
    return tuple(reversed(found)) if order == "C" else tuple(found)


def unwrap(p, discontinuity: float, axis: int) -> Tensor:
    """Jumps of more than `discontinuity` between neighbours become their complement to 2 pi."""
    p = _floats(p)
    n = p.shape[axis]
    if n < 2:
        return p
    step = F.sub(F.narrow(p, axis, 1, n - 1), F.narrow(p, axis, 0, n - 1))
    turned = F.sub(F.mod(F.add(step, math.pi), 2 * math.pi), math.pi)
    turned = F.where(F.logical_and(F.equal(turned, -math.pi), F.greater(step, 0.0)), math.pi, turned)
    correction = F.where(F.less(F.abs(step), max(discontinuity, math.pi)), 0.0, F.sub(turned, step))
    rest = F.add(F.narrow(p, axis, 1, n - 1), F.cumsum(correction, axis))
    return F.concat([F.narrow(p, axis, 0, 1), rest], axis)


def array_str(a) -> str:
    """The elements as NumPy shows them."""
    return np.array_str(array_like(a).asnumpy())
