"""Composites of rows: shape."""

from __future__ import annotations

from .. import _functions as F
from .._core import Tensor
from ._common import _d, _dtype_of_number, _each, _float32, _host_number, _int64, _is_int, _numbers

_float64 = _d["float64"]


def reshape_as(x: Tensor, other: Tensor):
    """In the shape of other."""
    return F.reshape(x, other.shape)


def flatten_by(x: Tensor, order, start_dim, end_dim):
    """Row-major ("C") or column-major ("F"); a vector or scalar as a vector."""
    if order not in ("C", "F"):
        raise ValueError(f"flatten: unknown order: got {order!r}, need 'C' or 'F'")
    if x.ndim < 2:
        return F.reshape(x, -1)
    return F.flatten(x if order == "C" else F.transpose(x), start_dim, end_dim)


def squeeze_ones(x: Tensor, axes):
    """Without the axes of extent 1 among those given, or among all."""
    if axes is None or axes == ():
        return F.squeeze(x)
    axes = _numbers(axes)
    for axis in axes:
        if not -max(x.ndim, 1) <= axis < max(x.ndim, 1):
            raise ValueError(f"squeeze: axis is out of range: got {axis}, need -{x.ndim} to {x.ndim - 1}")
    chosen = [a for a in axes if x.ndim and x.shape[a] == 1]
    return F.squeeze(x, chosen) if chosen else x


def diag_of(x: Tensor):
    """The elements on the diagonal of a tensor of twice as many axes."""
    return F.reshape(F.diag(F.reshape(x, -1)), (*x.shape, *x.shape))


def bincount_of(x: Tensor, weights, minlength):
    """How often each number occurs, or sums of weights, as float32."""
    return F.cast(F.bincount(x, weights, minlength), _float32)


def transpose_method(x: Tensor, axes):
    """All axes in that order; two of a tensor of more axes are exchanged."""
    if len(axes) == 2 and x.ndim != 2 and _is_int(axes[0]):
        return F.swapaxes(x, *axes)
    return F.transpose(x, axes)


def t(x: Tensor):
    """The transpose of a matrix."""
    if x.ndim > 2:
        raise ValueError(f"t: too many axes: got shape {x.shape}, need at most 2")
    return F.transpose(x)


def expand_as(x: Tensor, other: Tensor):
    """Broadcast to the shape of other."""
    return F.broadcast_to(x, other.shape)


def atleast_each_1d(value):
    """With one axis or more."""
    return _each(value, F.atleast_1d)


def atleast_each_2d(value):
    """With two axes or more."""
    return _each(value, F.atleast_2d)


def atleast_each_3d(value):
    """With three axes or more."""
    return _each(value, F.atleast_3d)


def split_any(x: Tensor, sections, axis: int):
    """Pieces of one extent, or of the extents listed."""
    if _is_int(sections):
        if sections <= 0:
            raise ValueError(f"split: piece is out of range: got {sections}, need more than 0")
        return F.split(x, sections, axis)
    if not isinstance(sections, (tuple, list)):
        raise TypeError(
            f"split: sections have the wrong type: got {type(sections).__name__}, need an int or ints"
        )
    return F.split_sizes(x, sections, axis)


def split_evenly(x: Tensor, sections, axis: int) -> tuple[Tensor, ...]:
    """As many nearly equal pieces, or pieces between the indices listed."""
    return F.tensor_split(x, sections, axis) if _is_int(sections) else F.tensor_split_at(x, sections, axis)


def hsplit(x: Tensor, sections) -> tuple[Tensor, ...]:
    """tensor_split along the second axis, or the first of a vector."""
    return split_evenly(x, sections, 0 if x.ndim == 1 else 1)


def vsplit(x: Tensor, sections) -> tuple[Tensor, ...]:
    """tensor_split along the first axis."""
    return split_evenly(x, sections, 0)


def dsplit(x: Tensor, sections) -> tuple[Tensor, ...]:
    """tensor_split along the third axis."""
    return split_evenly(x, sections, 2)


def slice_of(x: Tensor, begin, size):
    """`size` elements from `begin` on along each axis; -1 means all that follow."""
    begin, size = tuple(_numbers(begin)), tuple(_numbers(size))
    size = tuple(x.shape[i] - b if s == -1 else s for i, (b, s) in enumerate(zip(begin, size)))
    return F.slice(x, begin, size, (1,) * len(begin))


def strided_slice_masked(
    x, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask
) -> Tensor:
    """Slices with TensorFlow's masks, one bit for each item."""
    items = []
    for i, (b, e, s) in enumerate(zip(_numbers(begin), _numbers(end), _numbers(strides))):
        bit = 1 << i
        if ellipsis_mask & bit:
            items.append(Ellipsis)
        elif new_axis_mask & bit:
            items.append(None)
        elif shrink_axis_mask & bit:
            items.append(b)
        else:
            items.append(slice(None if begin_mask & bit else b, None if end_mask & bit else e, s))
    return x[tuple(items)]


def repeat_interleave_any(x: Tensor, repeats, axis):
    """Each element repeated, the same number of times or each its own; without an axis the flattened
    tensor.
    """
    if axis is None:
        x, axis = F.reshape(x, -1), 0
    if isinstance(repeats, Tensor):
        repeats = _numbers(repeats)
    if isinstance(repeats, (tuple, list)):
        repeats = repeats * x.shape[axis] if len(repeats) == 1 else repeats
        return F.repeat_each(x, repeats, axis)
    return F.repeat_interleave(x, repeats, axis)


def _are_pairs(items):
    return all(isinstance(item, (tuple, list)) and len(item) == 2 for item in items)


def pad_last(x: Tensor, padding, mode: str, value):
    """Pairs of widths for the last axis first, as torch has them; or a pair of numbers for each axis."""
    if mode not in ("constant", "reflect", "replicate", "circular", "symmetric"):
        raise ValueError(
            f"pad: unknown mode: got {mode!r}, need 'constant', 'reflect', 'replicate' or 'circular'"
        )
    if isinstance(padding, (tuple, list)) and len(padding) == x.ndim and _are_pairs(padding):
        padding = [w for pair in reversed(padding) for w in pair]
    widths = _numbers(padding)
    if len(widths) % 2 or len(widths) > 2 * x.ndim:
        raise ValueError(
            f"pad: 'padding' has the wrong length: got {len(widths)} for {x.ndim} axes, need pairs"
        )
    free = x.ndim - len(widths) // 2
    before = [0] * free + widths[0::2][::-1]
    after = [0] * free + widths[1::2][::-1]
    return F.pad(x, before, after, mode, 0 if value is None else value)


def meshgrid_by(tensors, indexing):
    """Grids with matrix ("ij") or Cartesian ("xy") indexing."""
    if indexing not in ("ij", "xy"):
        raise ValueError(f"meshgrid: unknown indexing: got {indexing!r}, need 'xy' or 'ij'")
    return F.meshgrid(tensors, indexing == "ij")


def numpy_meshgrid(tensors, sparse, indexing) -> tuple[Tensor, ...]:
    """meshgrid_by, or with `sparse` each tensor along its own axis, the others of extent 1."""
    if not sparse:
        return meshgrid_by(tensors, indexing)
    meshgrid_by(tensors, indexing)  # refuses what is no grid
    count, made = len(tensors), []
    for i, t in enumerate(tensors):
        axis = 1 - i if indexing == "xy" and i < 2 <= count else i
        made.append(F.reshape(t, (1,) * axis + (-1,) + (1,) * (count - 1 - axis)))
    return tuple(made)


def numpy_bincount(x: Tensor, weights, minlength: int, length):
    """bincount_of, of exactly `length` numbers when it is given."""
    if length is None:
        return F.bincount(x, weights, minlength)
    counts = F.bincount(x, weights, max(minlength, length))
    return F.narrow(counts, 0, 0, length)


def extent_of(x, axis) -> int:
    """Number of elements, along an axis when one is given."""
    if not isinstance(x, Tensor):
        x = Tensor(x)
    if axis is None:
        return x.size
    if not _is_int(axis) or not -x.ndim <= axis < x.ndim:
        raise ValueError(f"size: axis is out of range: got {axis}, need {-x.ndim} to {x.ndim - 1}")
    return x.shape[axis]


def like_of(x: Tensor, value, dtype, size):
    """Filled, in the shape of x or another one."""
    if size is None:
        return F.full_like(x, value, dtype)
    return full_any(size, value, x.dtype if dtype is None else dtype)


def shifted_eye(n: int, m: int, k: int, dtype):
    """Ones on the k-th diagonal of n rows and m columns."""
    m = n if m is None else m
    rows, columns = F.expand_dims(F.arange(0, n, 1, _int64), -1), F.arange(0, m, 1, _int64)
    return F.cast(F.equal(F.add(rows, k), columns), dtype)


_EXACT = 2**53  # integers up to it are exact in float64


def full_any(size, value, dtype):
    """Filled with a number of any kind."""
    if isinstance(value, str):
        raise TypeError(f"full: 'fill_value' has the wrong type: got {value!r}, need a number")
    dtype = _dtype_of_number(value) if dtype is None else dtype
    if isinstance(value, int) and abs(value) > _EXACT:
        return F.broadcast_to(Tensor(value, dtype), (size,) if _is_int(size) else tuple(size))
    return F.full(size, float(value), dtype)


def zeros_of(size, dtype):
    """Zeros."""
    return F.full(size, 0, dtype)


def ones_of(size, dtype):
    """Ones."""
    return F.full(size, 1, dtype)


def new_full(x: Tensor, size, value, dtype):
    """Filled with a number, of x's dtype unless another is given."""
    return F.full(size, value, x.dtype if dtype is None else dtype)


def eye_of(n, m, dtype):
    """Ones on the diagonal of an n by m matrix."""
    return F.eye(n, n if m is None else m, dtype)


def arange_any(start, end, step, dtype):
    """start, start + step ... below end; one number alone is the end."""
    start, end, step = _host_number(start), _host_number(end), _host_number(step)
    if end is None:
        start, end = 0, start
    if step == 0:
        raise ValueError("arange: 'step' is out of range: got 0, need another number")
    if dtype is None:
        dtype = _float32 if any(isinstance(v, float) for v in (start, end, step)) else _int64
    return F.arange(start, end, step, dtype)


def range_of(start, end, step):
    """arange of the tensors' dtype."""
    dtype = next((v.dtype for v in (start, end, step) if isinstance(v, Tensor)), None)
    return arange_any(start, end, step, dtype)


def _precise(value):
    """A number as float64, so that it keeps its digits until the result is rounded."""
    return value if isinstance(value, Tensor) else Tensor(value, _float64)


def _check_steps(op, steps):
    if not _is_int(steps):
        raise TypeError(f"{op}: 'steps' has the wrong type: got {type(steps).__name__}, need an int")


def linspace_by(start, end, steps, dtype):
    """`steps` numbers from start to end, evenly."""
    _check_steps("linspace", steps)
    if steps < 1:
        raise ValueError(f"linspace: 'steps' is out of range: got {steps}, need 1 or more")
    return F.linspace(_precise(start), _precise(end), steps, _float32 if dtype is None else dtype)


def logspace_by(start, end, steps, base, dtype):
    """base ** linspace(start, end, steps)."""
    _check_steps("logspace", steps)
    dtype = _float32 if dtype is None else dtype
    return F.logspace(_precise(start), _precise(end), steps, float(base), dtype)


def numpy_linspace(start, stop, num, endpoint, retstep, dtype, axis):
    """linspace along an axis of choice, with or without the end, and the step when asked for."""
    _check_steps("linspace", num)
    first, last = _precise(start), _precise(stop)
    values = F.linspace(first, last, num, _float32 if dtype is None else dtype, endpoint)
    values = F.movedim(values, 0, axis) if values.ndim > 1 else values
    if not retstep:
        return values
    return values, F.div(F.sub(last, first), float(max(num - bool(endpoint), 1)))


def numpy_logspace(start, stop, num, endpoint, base, dtype, axis):
    """base ** linspace(start, stop, num)."""
    _check_steps("logspace", num)
    dtype = _float32 if dtype is None else dtype
    values = F.logspace(_precise(start), _precise(stop), num, float(base), dtype, endpoint)
    return F.movedim(values, 0, axis) if values.ndim > 1 else values
