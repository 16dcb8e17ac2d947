"""Functions that take functions: apply_along_axis, apply_over_axes, piecewise."""

import itertools

from .. import _composites
from .. import _functions as F
from .._core import Tensor


def _axis_of(axis, rank, what):
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"{what}: 'axis' has the wrong type: got {type(axis).__name__}, need an int")
    if not -rank <= axis < rank:
        raise ValueError(f"{what}: 'axis' is out of range: got {axis}, need {-rank} to {rank - 1}")
    return axis % rank


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    """`func1d(vector, *args, **kwargs)` for every vector of `arr` along an axis.

    The axes of the results stand where the axis was; all have one shape. Raises TypeError when `arr` is no
    Tensor or `axis` no int, ValueError when the axis is out of range or `arr` has no vectors.

    >>> from sorus import Tensor, numpy as mnp
    >>> mnp.apply_along_axis(mnp.sum, 1, Tensor([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [3.0, 7.0]
    """
    if not isinstance(arr, Tensor):
        raise TypeError(
            f"apply_along_axis: 'arr' has the wrong type: got {type(arr).__name__}, need a Tensor"
        )
    axis = _axis_of(axis, arr.ndim, "apply_along_axis")
    moved = F.movedim(arr, (axis,), (arr.ndim - 1,))
    if not moved.size:
        raise ValueError(f"apply_along_axis: 'arr' has no vectors: got shape {arr.shape}, need elements")
    outer = moved.shape[:-1]
    made = [func1d(moved[place], *args, **kwargs) for place in itertools.product(*map(range, outer))]
    made = [_composites.array_like(m) for m in made]
    inner = made[0].shape
    whole = F.reshape(F.stack(made, 0), outer + inner)
    count, rank = len(outer), len(inner)
    return F.movedim(whole, tuple(range(count, count + rank)), tuple(range(axis, axis + rank)))


def apply_over_axes(func, a, axes):
    """`func(a, axis)` for one axis after the other; where a result has lost the axis, it is put back with one
    place, so that the rank stays.

    Raises ValueError when `func` gives another rank, or an axis is out of range.

    >>> from sorus import Tensor, numpy as mnp
    >>> mnp.apply_over_axes(mnp.sum, Tensor([[1.0, 2.0], [3.0, 4.0]]), (0, 1)).tolist()
    [[10.0]]
    """
    a = _composites.array_like(a)
    for axis in axes if isinstance(axes, (tuple, list)) else (axes,):
        axis = _axis_of(axis, a.ndim, "apply_over_axes")
        found = _composites.array_like(func(a, axis))
        if found.ndim == a.ndim - 1:
            found = F.expand_dims(found, axis)
        if found.ndim != a.ndim:
            raise ValueError(
                f"apply_over_axes: function changes the rank: got {found.ndim} axes, need {a.ndim} or 1 less"
            )
        a = found
    return a


def piecewise(x, condlist, funclist, *args, **kw):
    """For each element the value of the function, or the number, whose condition holds there, the last one's
    if several do; one more function than conditions is for all other elements, which are 0 without it.

    Functions get the whole tensor and `args` and `kw`. The dtype is that of `x`. Raises ValueError when the
    lists do not fit.

    >>> from sorus import Tensor, numpy as mnp
    >>> x = Tensor([-2.0, 1.0])
    >>> mnp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, 5]).tolist()
    [2.0, 5.0]
    """
    x = _composites.array_like(x)
    conditions = condlist if isinstance(condlist, (tuple, list)) else [condlist]
    if conditions and not isinstance(conditions[0], (Tensor, list, tuple)) and x.ndim:
        conditions = [conditions]
    conditions = [_composites.array_like(c) for c in conditions]
    functions = list(funclist) if isinstance(funclist, (tuple, list)) else [funclist]
    more = len(functions) - len(conditions)
    if more not in (0, 1):
        raise ValueError(
            f"piecewise: lists do not fit: got {len(conditions)} conditions and {len(functions)} functions, "
            "need as many, or one function more"
        )

    def value(function):
        made = function(x, *args, **kw) if callable(function) else function
        return F.cast(_composites.array_like(made), x.dtype)

    result = F.broadcast_to(value(functions[-1]) if more else value(0), x.shape)
    for condition, function in zip(conditions, functions):
        result = F.where(condition, value(function), result)
    return result
