"""Composites of rows: reductions and algebra."""

from __future__ import annotations

from .. import _functions as F
from .._core import Tensor
from ._common import _d, _float32, _int32, _int64, _is_int, _numbers, _unique_places
from .elementwise import isclose


def sum_as(x: Tensor, axes, keepdims, dtype):
    """Sum, converted first when a dtype is given; integers and bools add up in int64."""
    if dtype is None and not x.dtype.is_floating_point:
        dtype = _int64
    return F.sum(F.cast_if(x, dtype), axes, keepdims)


def sum_initial(x: Tensor, axis, dtype, keepdims, initial):
    """Sum plus a starting value."""
    total = sum_as(x, axis, keepdims, dtype)
    return total if initial is None else F.add(total, initial)


def gather_batch(x: Tensor, indices, axis, batch_dims):
    """Slices by index; the first batch_dims axes of both run together."""
    axis = int(axis) if isinstance(axis, Tensor) else axis
    return F.gather(x, Tensor(indices) if isinstance(indices, int) else indices, axis, batch_dims)


def unique_pair(x: Tensor):
    """Distinct elements in order of first occurrence and the place of each element among them, int64 for
    int64 elements and int32 for others.
    """
    values, inverse, _ = F.unique(x, "first")
    return values, _unique_places(inverse, x)


def unique_runs(x: Tensor, return_inverse, return_counts, dim):
    """Distinct neighbours, with the place of each element and the lengths of runs when asked for."""
    if dim is not None and x.ndim > 1:
        values, inverse, counts = _slice_runs(x, dim % x.ndim)
    else:
        values, inverse, counts = F.unique(x, "runs")
    found = [values] + [inverse] * bool(return_inverse) + [counts] * bool(return_counts)
    return found[0] if len(found) == 1 else tuple(found)


def unique_by(x: Tensor, ordered, return_inverse, return_counts, dim):
    """Distinct elements, or slices along an axis, in order, with the place of each among them and their
    numbers when asked for.
    """
    if dim is None:
        values, inverse, counts = F.unique(x, "sorted")
    else:
        if not -max(x.ndim, 1) <= dim < max(x.ndim, 1):
            raise ValueError(f"unique: 'dim' is out of range: got {dim} for {x.shape}, need an axis of it")
        dim = dim % max(x.ndim, 1)
        rows = F.reshape(F.movedim(x, (dim,), (0,)), (x.shape[dim], -1))
        order = F.arange(0, x.shape[dim], 1, _int64)
        # By columns from the last to the first; sorting keeps equals in order.
        for column in reversed(range(rows.shape[1])):
            keys = F.gather(F.reshape(F.narrow(rows, 1, column, 1), -1), order, 0)
            order = F.gather(order, F.argsort(keys), 0)
        values, runs, counts = _slice_runs(F.gather(x, order, dim), dim)
        inverse = F.scatter_elements(F.full(order.shape, 0, _int64), order, runs, 0)
    found = [values] + [inverse] * bool(return_inverse) + [counts] * bool(return_counts)
    return found[0] if len(found) == 1 else tuple(found)


def kthvalue(x: Tensor, k: int, axis: int, keepdims) -> tuple[Tensor, Tensor]:
    """The k-th least element along an axis, counted from 1, and its place."""
    extent = x.shape[axis] if x.ndim else 1
    if not 1 <= k <= extent:
        raise ValueError(f"kthvalue: 'k' is out of range: got {k}, need 1 to {extent}")
    if x.ndim == 0:
        return x, Tensor(0, _int64)
    values, places = F.topk(x, k, axis, False)
    found = tuple(F.narrow(part, axis, k - 1, 1) for part in (values, places))
    return found if keepdims else tuple(F.squeeze(part, (axis,)) for part in found)


def _slice_runs(x: Tensor, axis):
    extent = x.shape[axis]
    if extent == 0:
        return x, F.full((0,), 0, _int64), F.full((0,), 0, _int64)
    differs = F.not_equal(F.narrow(x, axis, 1, extent - 1), F.narrow(x, axis, 0, extent - 1))
    others = tuple(a for a in range(x.ndim) if a != axis)
    starts = F.concat([F.full((1,), True, _d["bool_"]), F.any(differs, others)], 0)
    places = F.reshape(F.nonzero(starts), -1)
    ends = F.concat([F.narrow(places, 0, 1, places.size - 1), F.full((1,), extent, _int64)], 0)
    inverse = F.sub(F.cumsum(F.cast(starts, _int64), 0), 1)
    return F.gather(x, places, axis), inverse, F.sub(ends, places)


def dot_nd(x: Tensor, other: Tensor):
    """Product of sums over the last axis of x and the second to last of other."""
    if x.ndim == 0 or other.ndim == 0:
        return F.mul(x, other)
    return tensor_dot(x, other, ([x.ndim - 1], [max(other.ndim - 2, 0)]))


def tensor_dot(x: Tensor, other: Tensor, axes):
    """Product of sums over pairs of axes."""
    if _is_int(axes):
        return F.tensordot(x, other, list(range(x.ndim - axes, x.ndim)), list(range(axes)))
    first, second = (_numbers(a) for a in axes)
    return F.tensordot(x, other, first, second)


def einsum(equation, operands):
    """Sums of products by Einstein's notation."""
    listed = len(operands) == 1 and isinstance(operands[0], (tuple, list))
    return F.einsum(equation, operands[0] if listed else operands)


def outer_flat(x: Tensor, other: Tensor):
    """All products of two vectors."""
    return F.outer(F.reshape(x, -1), F.reshape(other, -1))


def extreme(x, axis, keepdims, initial, where, kind) -> tuple[Tensor, Tensor]:
    """Largest ("max") or smallest element along an axis and where it is."""
    if where is not None:
        x = F.where(where, x, initial)
    found = F.max_with_index if kind == "max" else F.min_with_index
    if axis is None:
        values, places = (F.amax if kind == "max" else F.amin)(x), Tensor(0, _int64)
    else:
        values, places = found(x, axis, keepdims)
    if initial is not None:
        values = (F.maximum if kind == "max" else F.minimum)(values, initial)
    return values, places


def extreme_method(x, axis, keepdims, initial, where, return_indices, kind) -> Tensor | tuple[Tensor, Tensor]:
    """Largest or smallest element over axes, with its place when asked for."""
    if return_indices:
        return extreme(x, axis, keepdims, initial, None if where is True else where, kind)
    keepdims = keepdims and axis is not None  # as MindSpore's methods do, unlike its functions
    return extreme_over(x, axis, keepdims, initial, None if where is True else where, kind)


def extreme_over(x, axes, keepdims, initial, where, kind) -> Tensor:
    """Largest or smallest element over axes."""
    if where is not None:
        if initial is None:
            raise ValueError(f"{kind}: 'where' needs 'initial': got None, need a number")
        x = F.where(where, x, initial)
    values = (F.amax if kind == "max" else F.amin)(x, axes, keepdims)
    if initial is not None:
        values = F.cast((F.maximum if kind == "max" else F.minimum)(values, initial), x.dtype)
    return values


def extreme_pair(x, axis, keepdims, kind):
    """Index and value of the largest or smallest element, as ArgMaxWithValue gives them."""
    values, places = (F.max_with_index if kind == "max" else F.min_with_index)(x, axis, keepdims)
    return places, values


def arg_extreme(x: Tensor, axis, keepdims, kind) -> Tensor:
    """Index of the largest or smallest element along an axis, or of the flattened tensor."""
    find = F.argmax if kind == "max" else F.argmin
    return find(F.reshape(x, -1), 0) if axis is None else find(x, axis, keepdims)


def argmin_int(x: Tensor, axis, keepdims):
    """arg_extreme of the smallest, as int32."""
    return F.cast(arg_extreme(x, axis, keepdims, "min"), _int32)


def aminmax(x: Tensor, axis, keepdims):
    """Smallest and largest elements."""
    if axis is None:
        return F.amin(x, (), keepdims), F.amax(x, (), keepdims)
    return F.amin(x, axis, keepdims), F.amax(x, axis, keepdims)


def count_nonzero(x, axis, keepdims, dtype):
    """Number of elements that are not zero."""
    return F.sum(F.cast(F.not_equal(x, 0), _int32 if dtype is None else dtype), axis, keepdims)


def moments(x, axis, ddof: float, keepdims, kind):
    """Standard deviation or variance with n - ddof for n."""
    return (F.std if kind == "std" else F.var)(x, axis, float(ddof), keepdims)


def moments_and_mean(x: Tensor, axis, ddof: float, keepdims, kind):
    """The same and the mean."""
    return moments(x, axis, ddof, keepdims, kind), F.mean(x, axis, keepdims)


def order_of(p):
    """The order of mint.norm, whose default stands for vectors, too."""
    return None if p == "fro" else p


def norm_by(x: Tensor, order, axes, keepdims, dtype):
    """Vector norm of that order, or a matrix norm by name."""
    if isinstance(order, str) and _is_int(axes):
        raise TypeError(f"norm: order {order!r} is of matrices: got one axis {axes}, need two")
    x = F.cast_if(x, dtype)
    if isinstance(order, str) and order not in ("fro", "nuc"):
        raise ValueError(f"norm: unknown order: got {order!r}, need 'fro', 'nuc' or a number")
    if order is not None and not isinstance(order, (str, int, float)):
        raise TypeError(
            f"norm: order has the wrong type: got {type(order).__name__}, need a number or a name"
        )
    if order in (None, "fro", "nuc") and not isinstance(order, (int, float)):
        if order == "nuc":
            return matrix_norm_by(x, order, (-2, -1) if axes is None else axes, keepdims)
        return F.norm(x, 2.0, axes, keepdims)
    if axes is None:
        axes = ()
    elif not _is_int(axes) and len(axes) == 2:
        return matrix_norm_by(x, order, axes, keepdims)
    if axes == () and x.ndim == 2 and not isinstance(order, str):
        return matrix_norm_by(x, order, (-2, -1), keepdims)
    return F.norm(x, float(order), axes, keepdims)


_MATRIX_NORMS = {
    "fro": "frobenius",
    "nuc": "nuclear",
    1: "largest_column",
    -1: "smallest_column",
    2: "spectral",
    -2: "least_spectral",
    float("inf"): "largest_row",
    float("-inf"): "smallest_row",
}


def matrix_norm_by(x, order, axes, keepdims):
    """Norms of the matrices in two axes."""
    if order not in _MATRIX_NORMS:
        raise ValueError(
            f"matrix_norm: unknown order: got {order}, need 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"
        )
    return F.matrix_norm(x, _MATRIX_NORMS[order], *axes, keepdims)


def cumulative(x: Tensor, axis, dtype, kind):
    """Running sum or product."""
    x = F.cast_if(x, dtype)
    return (F.cumsum if kind == "sum" else F.cumprod)(x, axis)


def cumsum_method(x: Tensor, axis, dtype):
    """Running sum, of the flattened tensor without an axis."""
    if axis is None:
        x, axis = F.reshape(x, -1), 0
    if dtype is None and (x.dtype is _d["bool_"] or x.dtype.name in ("int8", "int16", "uint8", "uint16")):
        dtype = _int32
    return F.cumsum(F.cast_if(x, dtype), axis)


def cumulative_extreme(x, axis, kind):
    """Largest or smallest element so far and where it is."""
    return (F.cummax if kind == "max" else F.cummin)(x, axis)


def sort_pair(x: Tensor, axis, descending):
    """Elements in order and where they were."""
    values, places = F.sort(x, axis, descending)
    return values, F.cast(places, _int32)


def cummin_pair(x: Tensor, axis):
    """Smallest element so far and where it is, as int32."""
    values, places = F.cummin(x, axis)
    return values, F.cast(places, _int32)


def argsort_int(x: Tensor, axis, descending):
    """Where the elements in order were."""
    return F.cast(F.argsort(x, axis, descending), _int32)


def topk_by(x: Tensor, k: int, axis, largest, _sorted):
    """The k largest or smallest elements in order and where they were."""
    values, places = F.topk(x, k, -1 if axis is None else axis, largest)
    return values, F.cast(places, _int32)


def median_by(x: Tensor, axis, keepdims):
    """Middle element and where it is; of all elements without an axis."""
    if axis is None:
        return F.median(F.reshape(x, -1), 0)[0]
    if x.ndim == 0:
        return x, Tensor(0, _int64)
    return F.median(x, axis, keepdims)


def nansum(x: Tensor, axis, keepdims, dtype):
    """Sum without NaN."""
    if x.dtype.is_floating_point:
        x = F.where(F.isnan(x), 0.0, x)
    return sum_as(x, axis, keepdims, dtype)


def prod_as(x: Tensor, axis, keepdims, dtype):
    """Product, converted first when a dtype is given; integers and bools multiply in int64."""
    if dtype is None and not x.dtype.is_floating_point:
        dtype = _int64
    return F.prod(F.cast_if(x, dtype), axis, keepdims)


def logsumexp_by(x: Tensor, axis, keepdims):
    """log(sum(exp(x)))."""
    return F.logsumexp(x, axis, keepdims)


def allclose(x: Tensor, other: Tensor, rtol, atol, equal_nan):
    """True when all elements are close."""
    return bool(F.all(isclose(x, other, rtol, atol, equal_nan)))


def ptp(x: Tensor, axis, keepdims):
    """Largest minus smallest element."""
    return F.sub(F.amax(x, axis, keepdims), F.amin(x, axis, keepdims))


def trace_by(x: Tensor, offset, axis1, axis2, dtype):
    """Sum of a diagonal."""
    return F.sum(F.cast_if(F.diagonal(x, offset, axis1, axis2), dtype), -1)


def diff(x, n: int, axis: int, prepend, append):
    """Differences of neighbours, n times."""
    parts = [t for t in (prepend, x, append) if t is not None]
    x = F.concat(parts, axis) if len(parts) > 1 else x
    for _ in range(n):
        extent = x.shape[axis]
        x = F.sub(F.narrow(x, axis, 1, extent - 1), F.narrow(x, axis, 0, extent - 1))
    return x


def recompute_norms(x: Tensor, p: float, axis: int, maxnorm):
    """Slices along an axis scaled down to a largest norm."""
    axis %= x.ndim
    others = tuple(a for a in range(x.ndim) if a != axis)
    sizes = F.norm(x, float(p), others, True)
    return F.where(F.greater(sizes, maxnorm), F.mul(x, F.div(maxnorm, F.add(sizes, 1e-7))), x)


def clip_by_norm(x, max_norm, norm_type: float, error_if_nonfinite):
    """Scaled down so that the norm of all tensors together is at most max_norm."""
    single = isinstance(x, Tensor)
    tensors = [x] if single else list(x)
    total = F.norm(F.stack([F.norm(F.reshape(t, -1), float(norm_type)) for t in tensors]), float(norm_type))
    if error_if_nonfinite and not bool(F.isfinite(total)):
        raise RuntimeError("clip_by_norm: norm is not finite: got nan or inf, need a finite one")
    factor = F.clip(F.div(max_norm, F.add(total, 1e-6)), None, 1.0)
    made = [F.mul(t, F.cast(factor, t.dtype)) for t in tensors]
    return made[0] if single else type(x)(made)


def cross_by(x: Tensor, other: Tensor, axis):
    """Cross product along an axis, the first of extent 3 by default."""
    if axis is None:
        axis = next((i for i, extent in enumerate(x.shape) if extent == 3), -1)
    return F.cross(x, other, axis)


def cross_axes(x: Tensor, other: Tensor, axis_x: int, axis_other: int, axis_made: int, axis):
    """Cross products of vectors of 2 or 3 numbers along an axis of each; of 2 numbers both, the third one."""
    if axis is not None:
        axis_x = axis_other = axis_made = axis
    parts = []
    for t, at in ((x, axis_x), (other, axis_other)):
        t = F.movedim(t, at, -1)
        if t.shape[-1] not in (2, 3):
            raise ValueError(f"cross: extent does not fit: got {t.shape[-1]} along axis {at}, need 2 or 3")
        parts.append([F.squeeze(F.narrow(t, -1, i, 1), -1) for i in range(t.shape[-1])])
    a, b = parts
    third = F.sub(F.mul(a[0], b[1]), F.mul(a[1], b[0]))
    if len(a) == 2 and len(b) == 2:
        return third
    zeros = F.full_like(third, 0)
    a, b = ([*part, zeros] if len(part) == 2 else part for part in parts)
    made = (F.sub(F.mul(a[1], b[2]), F.mul(a[2], b[1])), F.sub(F.mul(a[2], b[0]), F.mul(a[0], b[2])), third)
    return F.movedim(F.stack(made, -1), -1, axis_made)


def addn(tensors) -> Tensor:
    """The sum of a list of tensors."""
    if isinstance(tensors, Tensor):
        return tensors
    total = tensors[0]
    for t in tensors[1:]:
        total = F.add(total, t)
    return total


def nanmedian(x: Tensor, axis, keepdims) -> tuple[Tensor, Tensor]:
    """Middle element of those that are not NaN, the lower of two, and where it is."""
    if x.ndim == 0 or not x.dtype.is_floating_point:
        return median_by(x, axis, keepdims)
    if axis is None:
        x, axis = F.reshape(x, -1), 0
    values, places = F.sort(x, axis)
    count = F.sum(F.cast(F.logical_not(F.isnan(x)), _int64), axis, True)
    middle = F.floor_div(F.maximum(F.sub(count, 1), 0), 2)
    found = F.gather_elements(values, middle, axis), F.gather_elements(places, middle, axis)
    return found if keepdims else tuple(F.squeeze(t, axis) for t in found)


def logcumsumexp(x: Tensor, axis: int):
    """log(cumsum(exp(x))), by sums over twice as many elements each time."""
    if x.ndim == 0:
        return x
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"logcumsumexp: axis is out of range: got {axis}, need -{x.ndim} to {x.ndim - 1}")
    extent, step = x.shape[axis], 1
    while step < extent:
        later, earlier = F.narrow(x, axis, step, extent - step), F.narrow(x, axis, 0, extent - step)
        x = F.concat([F.narrow(x, axis, 0, step), F.logaddexp(later, earlier)], axis)
        step *= 2
    return x


def histc(x: Tensor, bins: int, low: float, high: float):
    """Number of elements in each of equal intervals from low to high, or over all when both are equal."""
    if bins < 1:
        raise ValueError(f"histc: 'bins' is out of range: got {bins}, need 1 or more")
    if low > high:
        raise ValueError(f"histc: 'min' is above 'max': got {low} and {high}, need min at most max")
    x = F.reshape(x, -1)
    if x.size == 0:
        return F.full((bins,), 0, x.dtype)
    low, high = (F.amin(x), F.amax(x)) if low == high else (Tensor(low, _float32), Tensor(high, _float32))
    inside = F.logical_and(F.greater_equal(x, low), F.less_equal(x, high))
    width = F.sub(high, low)
    place = F.div(F.mul(F.sub(x, low), bins), F.where(F.equal(width, 0), 1, width))
    place = F.cast(F.clip(F.floor(place), 0, bins - 1), _int64)
    counts = F.bincount(F.where(inside, place, bins), None, bins + 1)
    return F.cast(F.narrow(counts, 0, 0, bins), x.dtype)
