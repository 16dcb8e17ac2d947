"""Coordinates of grids by slices: `mgrid[0:2, 0:3]`, `ogrid[0:2, 0:3]`."""

from .. import _composites, _core
from .. import _functions as F

_float32, _int32 = _core.dtypes["float32"], _core.dtypes["int32"]


class _Grid:
    """Takes slices, one for each axis of a grid, and gives the coordinates of its places."""

    _sparse = False

    def __getitem__(self, slices):
        if isinstance(slices, slice):
            return _line(slices)
        if not isinstance(slices, tuple) or not slices:
            raise TypeError(f"grid: index has the wrong type: got {slices!r}, need slices such as 0:3")
        lines = [_line(s) for s in slices]
        rank = len(lines)
        parts = [F.reshape(v, (1,) * i + (-1,) + (1,) * (rank - 1 - i)) for i, v in enumerate(lines)]
        if self._sparse:
            return parts
        shape = tuple(v.shape[0] for v in lines)
        dtype = _float32 if any(v.dtype is _float32 for v in lines) else _int32
        return F.stack([F.broadcast_to(F.cast(p, dtype), shape) for p in parts], 0)

    def __repr__(self):
        return f"<sorus.numpy.{'ogrid' if self._sparse else 'mgrid'}>"


class MGrid(_Grid):
    """The coordinates of a whole grid, from slices: `mgrid[0:2, 0:3]` has shape (2, 2, 3), first the row of
    each place, then its column. One slice gives a vector. The dtype is int32, or float32 where a slice has a
    float or an imaginary step, `0:1:5j`, which is the number of places with both ends among them. What is no
    slice with an end raises TypeError.

    >>> from sorus import numpy as mnp
    >>> mnp.mgrid[0:2, 0:2].tolist()
    [[[0, 0], [1, 1]], [[0, 1], [0, 1]]]
    >>> mnp.mgrid[0:1:3j].tolist()
    [0.0, 0.5, 1.0]
    """


class OGrid(_Grid):
    """As `mgrid`, but a list with one tensor for each axis, whose other extents are 1: they broadcast to the
    grid.

    >>> from sorus import numpy as mnp
    >>> [x.shape for x in mnp.ogrid[0:2, 0:3]]
    [(2, 1), (1, 3)]
    """

    _sparse = True


def _line(part):
    """Places from start to below stop; an imaginary step is their number, with stop among them."""
    if not isinstance(part, slice) or part.stop is None:
        raise TypeError(f"grid: index has the wrong type: got {part!r}, need a slice with an end, as 0:3")
    start = 0 if part.start is None else part.start
    step = 1 if part.step is None else part.step
    for value in (start, part.stop):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"grid: slice has the wrong type: got {value!r}, need numbers")
    if isinstance(step, complex):
        return _composites.numpy_linspace(start, part.stop, int(abs(step)), True, False, _float32, 0)
    return _composites.numpy_arange(start, part.stop, step, None)


mgrid, ogrid = MGrid(), OGrid()
